"""Serialized values to readable CQL text, for the comments beside recorded rows. Replays read only the hex."""
import struct
import uuid


def split(text):
    """Splits type arguments at top-level commas."""
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c in "<(") - (c in ">)") # a custom class has its own arguments in parentheses
        if c == "," and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    return parts + [text[start:].strip()]


def framed(data, count):
    at, out = 0, []
    while at < len(data) and len(out) < count:
        n = struct.unpack(">i", data[at:at + 4])[0]
        out.append(None if n < 0 else data[at + 4:at + 4 + n])
        at += 4 + max(n, 0)
    return out


FIXED = {"int": ">i", "bigint": ">q", "counter": ">q", "smallint": ">h", "tinyint": ">b", "double": ">d", "float": ">f", "timestamp": ">q", "time": ">q", "date": ">I"}


def scalar(kind, data):
    if kind in FIXED and len(data) == struct.calcsize(FIXED[kind]):
        return str(struct.unpack(FIXED[kind], data)[0])
    if kind in ("text", "ascii"):
        return "'" + data.decode(errors='replace').replace("\n", "\\n") + "'"
    if kind == "boolean" and len(data) == 1:
        return "true" if data[0] else "false"
    if kind in ("uuid", "timeuuid") and len(data) == 16:
        return str(uuid.UUID(bytes=data))
    if kind == "varint" and data:
        return str(int.from_bytes(data, "big", signed=True))
    if kind == "decimal" and len(data) > 4:
        return "%dE%d" % (int.from_bytes(data[4:], "big", signed=True), -struct.unpack(">i", data[:4])[0])
    if kind == "inet" and len(data) == 4:
        return ".".join(map(str, data))
    return "0x" + data.hex()


def readable(kind, data):
    """Elements of a list of selectors may be of any type: what is not of the one told is shown as bytes, and so are integers of more
    digits than Python writes (4,300)."""
    try:
        return read(kind, data)
    except (struct.error, IndexError, ValueError):
        return "0x" + data.hex()


def read(kind, data):
    if data is None:
        return "null"
    if "<" not in kind:
        return scalar(kind, data)
    head, args = kind[:kind.index("<")], split(kind[kind.index("<") + 1:-1])
    if head in ("list", "set", "map") and len(data) >= 4:
        n = struct.unpack(">i", data[:4])[0]
        items = framed(data[4:], n * len(args))
        if head == "map":
            return "{" + ", ".join(readable(args[0], items[i]) + ": " + readable(args[1], items[i + 1]) for i in range(0, len(items), 2)) + "}"
        return ("[%s]" if head == "list" else "{%s}") % ", ".join(readable(args[0], v) for v in items)
    if head == "tuple":
        return "(" + ", ".join(readable(t, v) for t, v in zip(args, framed(data, len(args)))) + ")"
    if head == "udt":
        fields = [a.split(" ", 1) for a in args[1:]]
        return "{" + ", ".join(n + ": " + readable(t, v) for (n, t), v in zip(fields, framed(data, len(fields)))) + "}"
    return "0x" + data.hex()
