"""BERT written out in plain NumPy float64, one text at a time: slow, obvious, independent."""

import math

import numpy as np

_ERF = np.vectorize(math.erf, otypes=[np.float64])


def tiny_config(vocabulary: int, *, hidden: int = 32, layers: int = 2, heads: int = 4, positions: int = 160) -> dict:
    """text2vec-base-chinese's config.json with small numbers."""
    return {
        "architectures": ["BertModel"],
        "model_type": "bert",
        "hidden_act": "gelu",
        "hidden_size": hidden,
        "intermediate_size": hidden * 4,
        "layer_norm_eps": 1e-12,
        "max_position_embeddings": positions,
        "num_attention_heads": heads,
        "num_hidden_layers": layers,
        "position_embedding_type": "absolute",
        "type_vocab_size": 2,
        "vocab_size": vocabulary,
    }


def random_weights(config: dict, seed: int = 0) -> dict[str, np.ndarray]:
    """All tensors of a BERT encoder under their published names."""
    rng = np.random.default_rng(seed)
    d, wide = config["hidden_size"], config["intermediate_size"]
    shapes = {
        "embeddings.word_embeddings.weight": (config["vocab_size"], d),
        "embeddings.position_embeddings.weight": (config["max_position_embeddings"], d),
        "embeddings.token_type_embeddings.weight": (2, d),
        "embeddings.LayerNorm.weight": (d,),
        "embeddings.LayerNorm.bias": (d,),
    }
    for i in range(config["num_hidden_layers"]):
        at = f"encoder.layer.{i}."
        for name, rows, columns in (
            ("attention.self.query", d, d),
            ("attention.self.key", d, d),
            ("attention.self.value", d, d),
            ("attention.output.dense", d, d),
            ("intermediate.dense", wide, d),
            ("output.dense", d, wide),
        ):
            shapes[f"{at}{name}.weight"] = (rows, columns)
            shapes[f"{at}{name}.bias"] = (rows,)
        for name in ("attention.output.LayerNorm", "output.LayerNorm"):
            shapes[f"{at}{name}.weight"] = (d,)
            shapes[f"{at}{name}.bias"] = (d,)
    return {
        name: ((1.0 if name.endswith("LayerNorm.weight") else 0.0) + rng.normal(0, 0.2, shape)).astype(np.float32)
        for name, shape in shapes.items()
    }


def hidden_states(weights: dict[str, np.ndarray], config: dict, ids: list[int]) -> np.ndarray:
    """Token vectors of one text, float64, shape (len(ids), hidden)."""
    heads, d = config["num_attention_heads"], config["hidden_size"]

    def dense(x, name):
        return x @ weights[f"{name}.weight"].astype(np.float64).T + weights[f"{name}.bias"]

    def norm(x, name):
        centred = x - x.mean(-1, keepdims=True)
        scale = np.sqrt((centred**2).mean(-1, keepdims=True) + config["layer_norm_eps"])
        return centred / scale * weights[f"{name}.weight"] + weights[f"{name}.bias"]

    x = weights["embeddings.word_embeddings.weight"][ids].astype(np.float64)
    x = x + weights["embeddings.position_embeddings.weight"][: len(ids)]
    x = norm(x + weights["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
    for i in range(config["num_hidden_layers"]):
        at = f"encoder.layer.{i}."
        q, k, v = (
            dense(x, f"{at}attention.self.{name}").reshape(len(ids), heads, d // heads).transpose(1, 0, 2)
            for name in ("query", "key", "value")
        )
        scores = q @ k.transpose(0, 2, 1) / math.sqrt(d // heads)
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        mixed = (scores / scores.sum(-1, keepdims=True) @ v).transpose(1, 0, 2).reshape(len(ids), d)
        x = norm(dense(mixed, f"{at}attention.output.dense") + x, f"{at}attention.output.LayerNorm")
        wide = dense(x, f"{at}intermediate.dense")
        wide = wide * 0.5 * (1 + _ERF(wide / math.sqrt(2)))
        x = norm(dense(wide, f"{at}output.dense") + x, f"{at}output.LayerNorm")
    return x
