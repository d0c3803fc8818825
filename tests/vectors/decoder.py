"""A small decoder in ONNX as such are exported: positions and past as inputs, a token sees those before it."""

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

HIDDEN = 16


def weights(vocabulary: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(7)
    return {
        "words": rng.normal(size=(vocabulary, HIDDEN)).astype(np.float32),
        "positions": rng.normal(size=(64, HIDDEN)).astype(np.float32),
    }


def states(table: dict[str, np.ndarray], ids: list[int]) -> np.ndarray:
    """The sums of what was seen so far, written out; float64, shape (len(ids), HIDDEN)."""
    rows = table["words"][ids].astype(np.float64) + table["positions"][: len(ids)]
    return np.array([rows[: at + 1].sum(axis=0) for at in range(len(ids))])


def export(table: dict[str, np.ndarray], path: Path) -> None:
    extra = {"axis": np.array(1, np.int64), "last": np.array([2], np.int64)}
    nodes = [
        helper.make_node("Gather", ["words", "input_ids"], ["w"]),
        helper.make_node("Gather", ["positions", "position_ids"], ["p"]),
        helper.make_node("Add", ["w", "p"], ["x"]),
        helper.make_node("Cast", ["attention_mask"], ["m"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["m", "last"], ["m3"]),
        helper.make_node("Mul", ["x", "m3"], ["seen"]),
        helper.make_node("CumSum", ["seen", "axis"], ["last_hidden_state"]),
        helper.make_node("Identity", ["past_key_values.0.key"], ["present.0.key"]),
    ]
    whole = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["n", "length"])
        for name in ("input_ids", "attention_mask", "position_ids")
    ]
    past = helper.make_tensor_value_info("past_key_values.0.key", TensorProto.FLOAT, ["n", 2, "past", 8])
    outputs = [
        helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, ["n", "length", HIDDEN]),
        helper.make_tensor_value_info("present.0.key", TensorProto.FLOAT, ["n", 2, "all", 8]),
    ]
    tensors = [numpy_helper.from_array(array, name) for name, array in {**table, **extra}.items()]
    graph = helper.make_graph(nodes, "decoder", [*whole, past], outputs, tensors)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.checker.check_model(model)
    path.parent.mkdir(parents=True, exist_ok=True)
    onnx.save(model, str(path))
