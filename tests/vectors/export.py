"""A standard ONNX file from BERT safetensors, without torch: inputs and outputs as optimum exports them."""

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def export_bert(weights: dict[str, np.ndarray], config: dict, path: Path) -> None:
    """Write `path` (opset 17, no fused operators) and check it with onnx.checker."""
    heads, d, layers = config["num_attention_heads"], config["hidden_size"], config["num_hidden_layers"]
    nodes, extra = (
        [],
        {
            "heads": np.array([0, 0, heads, d // heads], np.int64),
            "flat": np.array([0, 0, d], np.int64),
            "root": np.array((d // heads) ** -0.5, np.float32),
            "half": np.array(0.5, np.float32),
            "one": np.array(1.0, np.float32),
            "two_root": np.array(2**-0.5, np.float32),
            "far": np.array(-1e9, np.float32),
            "axes": np.array([1, 2], np.int64),
            "start": np.array([0], np.int64),
            "axis": np.array([1], np.int64),
            "axis0": np.array([0], np.int64),
        },
    )

    def op(kind, *inputs, **attributes):
        name = f"{kind}_{len(nodes)}"
        nodes.append(helper.make_node(kind, list(inputs), [name], **attributes))
        return name

    def dense(x, name):
        return op("Add", op("MatMul", x, op("Transpose", f"{name}.weight", perm=[1, 0])), f"{name}.bias")

    def norm(x, name):
        return op("LayerNormalization", x, f"{name}.weight", f"{name}.bias", axis=-1, epsilon=config["layer_norm_eps"])

    length = op("Slice", op("Shape", "input_ids"), "axis", op("Add", "axis", "axis"), "axis0")
    places = op("Slice", "embeddings.position_embeddings.weight", "start", length, "axis0")
    x = op("Add", op("Gather", "embeddings.word_embeddings.weight", "input_ids"), places)
    x = op("Add", x, op("Gather", "embeddings.token_type_embeddings.weight", "token_type_ids"))
    x = norm(x, "embeddings.LayerNorm")
    masked = op("Sub", "one", op("Cast", op("Unsqueeze", "attention_mask", "axes"), to=TensorProto.FLOAT))
    bias = op("Mul", masked, "far")
    for i in range(layers):
        at = f"encoder.layer.{i}."
        q, k, v = (op("Reshape", dense(x, f"{at}attention.self.{n}"), "heads") for n in ("query", "key", "value"))
        q, v = op("Transpose", q, perm=[0, 2, 1, 3]), op("Transpose", v, perm=[0, 2, 1, 3])
        scores = op("Mul", op("MatMul", q, op("Transpose", k, perm=[0, 2, 3, 1])), "root")
        mixed = op("MatMul", op("Softmax", op("Add", scores, bias), axis=-1), v)
        mixed = op("Reshape", op("Transpose", mixed, perm=[0, 2, 1, 3]), "flat")
        x = norm(op("Add", dense(mixed, f"{at}attention.output.dense"), x), f"{at}attention.output.LayerNorm")
        wide = dense(x, f"{at}intermediate.dense")
        gelu = op("Mul", op("Mul", wide, "half"), op("Add", op("Erf", op("Mul", wide, "two_root")), "one"))
        x = norm(op("Add", dense(gelu, f"{at}output.dense"), x), f"{at}output.LayerNorm")
    nodes.append(helper.make_node("Identity", [x], ["last_hidden_state"]))
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "sequence"])
        for name in ("input_ids", "attention_mask", "token_type_ids")
    ]
    output = helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, ["batch", "sequence", d])
    used = {name for node in nodes for name in node.input}
    tensors = [numpy_helper.from_array(a, n) for n, a in {**weights, **extra}.items() if n in used]
    graph = helper.make_graph(nodes, "bert", inputs, [output], tensors)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.checker.check_model(model)
    path.parent.mkdir(parents=True, exist_ok=True)
    onnx.save(model, str(path))
