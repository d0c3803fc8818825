"""Writes SCIP indices by hand: protobuf as bytes, no library."""


def varint(n):
    out = b""
    while True:
        n, low = n >> 7, n & 0x7F
        if not n:
            return out + bytes([low])
        out += bytes([low | 0x80])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def numbers(values):
    return b"".join(map(varint, values))


def message(values):
    return b"".join(field(place, n) for place, n in enumerate(values, 1))


def occurrence(symbol, *, roles=0, at=None, packed=True, single=None, multi=None, extent=None, multi_extent=None):
    parts = []
    if at is not None:
        parts += [field(1, numbers(at))] if packed else [field(1, n) for n in at]
    parts.append(field(2, symbol))
    parts += [field(3, roles)] if roles else []
    forms = ((7, extent, numbers), (8, single, message), (9, multi, message), (11, multi_extent, message))
    for number, value, write in forms:
        parts += [field(number, write(value))] if value is not None else []
    return b"".join(parts)


def document(path, *occurrences, encoding=None, text=None):
    parts = [field(1, path), *(field(2, o) for o in occurrences)]
    parts += [field(5, text)] if text is not None else []
    parts += [field(6, encoding)] if encoding is not None else []
    return b"".join(parts)


def index(*documents, tool=("hand", "1")):
    info = field(1, tool[0]) + field(2, tool[1])
    return field(1, field(2, info)) + b"".join(field(2, d) for d in documents)
