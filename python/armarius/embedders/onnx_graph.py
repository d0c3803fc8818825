"""Write an ONNX model as bytes, with no dependency: the few protobuf messages a forward pass needs.

Weights are not copied into the bytes. Each initializer is declared external and handed to onnxruntime
beside the model (`SessionOptions.add_external_initializers`), or embedded when a file is wanted.
Field numbers are those of onnx.proto (IR version 10).
"""

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

__all__ = ["FLOAT", "INT32", "INT64", "Graph", "Value"]

FLOAT, INT32, INT64 = 1, 6, 7
_ELEMENT_TYPES = {"float32": FLOAT, "int32": INT32, "int64": INT64}
_EXTERNAL = 1
_IR_VERSION = 10
_CONTRIB = "com.microsoft"

Attribute = int | float | str


@dataclass(frozen=True, slots=True)
class Value:
    """A named input or output; a dimension is a number or the name of a free one."""

    name: str
    element_type: int
    shape: tuple[int | str, ...]


@dataclass(slots=True)
class Graph:
    """Nodes in execution order, built up by `node`, turned into bytes by `to_bytes`."""

    name: str
    inputs: Sequence[Value]
    opset: int = 17
    nodes: list[bytes] = field(default_factory=list)
    domains: set[str] = field(default_factory=set)

    def node(self, op: str, inputs: Sequence[str], *outputs: str, domain: str = "", **attributes: Attribute) -> str:
        """Append one node and return the name of its first output; "" in `inputs` is an absent optional input."""
        body = b"".join(_text(1, name) for name in inputs) + b"".join(_text(2, name) for name in outputs)
        body += _text(3, outputs[0]) + _text(4, op)
        body += b"".join(_bytes(5, _attribute(key, value)) for key, value in attributes.items())
        if domain:
            body += _text(7, domain)
            self.domains.add(domain)
        self.nodes.append(body)
        return outputs[0]

    def contrib(self, op: str, inputs: Sequence[str], *outputs: str, **attributes: Attribute) -> str:
        """Append one node of onnxruntime's own operator set."""
        return self.node(op, inputs, *outputs, domain=_CONTRIB, **attributes)

    def to_bytes(
        self, outputs: Sequence[Value], weights: Mapping[str, NDArray[np.generic]], *, embed_weights: bool = False
    ) -> bytes:
        """The serialised ModelProto.

        Args:
            outputs: The graph's outputs.
            weights: C-contiguous float32, int32 or int64 arrays by initializer name.
            embed_weights: True stores the data in the bytes (a file that stands alone, below 2 GB).
        """
        graph = b"".join(_bytes(1, node) for node in self.nodes) + _text(2, self.name)
        graph += b"".join(_bytes(5, _tensor(name, array, embed_weights)) for name, array in weights.items())
        graph += b"".join(_bytes(11, _value(value)) for value in self.inputs)
        graph += b"".join(_bytes(12, _value(value)) for value in outputs)
        model = _number(1, _IR_VERSION) + _text(2, "armarius") + _bytes(7, graph)
        model += _bytes(8, _text(1, "") + _number(2, self.opset))
        return model + b"".join(_bytes(8, _text(1, domain) + _number(2, 1)) for domain in sorted(self.domains))


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def _number(tag: int, number: int) -> bytes:
    return _varint(tag << 3) + _varint(number)


def _bytes(tag: int, payload: bytes) -> bytes:
    return _varint(tag << 3 | 2) + _varint(len(payload)) + payload


def _text(tag: int, text: str) -> bytes:
    return _bytes(tag, text.encode())


def _attribute(name: str, value: Attribute) -> bytes:
    if isinstance(value, float):
        return _text(1, name) + _varint(2 << 3 | 5) + struct.pack("<f", value) + _number(20, 1)
    if isinstance(value, int):
        return _text(1, name) + _number(3, value & (1 << 64) - 1) + _number(20, 2)
    return _text(1, name) + _text(4, value) + _number(20, 3)


def _tensor(name: str, array: NDArray[np.generic], embed: bool) -> bytes:
    body = b"".join(_number(1, size) for size in array.shape)
    body += _number(2, _ELEMENT_TYPES[array.dtype.name]) + _text(8, name)
    if embed:
        return body + _bytes(9, array.tobytes())
    entries = {"location": "in-memory", "offset": "0", "length": str(array.nbytes)}
    body += b"".join(_bytes(13, _text(1, key) + _text(2, value)) for key, value in entries.items())
    return body + _number(14, _EXTERNAL)


def _value(value: Value) -> bytes:
    dims = b"".join(_bytes(1, _text(2, d) if isinstance(d, str) else _number(1, d)) for d in value.shape)
    return _text(1, value.name) + _bytes(2, _bytes(1, _number(1, value.element_type) + _bytes(2, dims)))
