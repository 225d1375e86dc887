"""Values as what they are equal to, for servers that keep different spellings of equal clusterings.

A canonical value is nested Python data. Knows types as answers tell them (client.Answer: `map<int, udt<ks.t, x text>>`).
"""
import struct


def split(text):
    """The parts of a list of types, at its outer commas."""
    parts, depth, start = [], 0, 0
    for at, letter in enumerate(text):
        depth += (letter in "<(") - (letter in ">)")
        if letter == "," and not depth:
            parts.append(text[start:at].strip())
            start = at + 1
    return parts + [text[start:].strip()]


def chunks(data, count=None):
    """Parts with a 4-byte length each; `None` for null."""
    out, at = [], 0
    while at < len(data) and (count is None or len(out) < count):
        (length,) = struct.unpack_from(">i", data, at)
        if length > len(data) - at - 4:
            raise ValueError("cut off")
        out.append(None if length < 0 else data[at + 4:at + 4 + length])
        at += 4 + max(length, 0)
    if at != len(data):
        raise ValueError("bytes behind")
    return out


def without_end(parts):
    """A tuple without the nulls at its end."""
    while parts and parts[-1] is None:
        parts = parts[:-1]
    return parts


def canonical(kind, data):
    """The value; raw bytes where they are none of the type."""
    try:
        return data if not data else typed(kind, data)
    except (ValueError, struct.error):
        return data


def typed(kind, data):
    family, _, inner = kind.partition("<")
    parts = split(inner[:-1]) if inner else []
    if family == "udt":
        parts = [part.partition(" ")[2] for part in parts[1:]]
    if family in ("udt", "tuple"):
        return "tuple", without_end([canonical(k, v) for k, v in zip(parts, chunks(data))])
    if family in ("list", "set", "map"):
        (count,) = struct.unpack_from(">i", data)
        flat = chunks(data[4:], count * len(parts))
        return family, [canonical(parts[i % len(parts)], v) for i, v in enumerate(flat)]
    if family == "decimal":
        (scale,), unscaled = struct.unpack_from(">i", data), int.from_bytes(data[4:], "big", signed=True)
        while unscaled and unscaled % 10 == 0:
            scale, unscaled = scale - 1, unscaled // 10
        return ("decimal", scale, unscaled) if unscaled else ("decimal", 0, 0)
    if family == "varint":
        return int.from_bytes(data, "big", signed=True)
    if family == "boolean":
        return data != b"\0"
    return data


def vint(data, at):
    """An unsigned vint and where it ends."""
    extra = 0
    while extra < 8 and data[at] & 0x80 >> extra:
        extra += 1
    first = data[at] & (0xFF >> extra + 1 if extra < 8 else 0)
    return first << 8 * extra | int.from_bytes(data[at + 1:at + 1 + extra], "big"), at + 1 + extra


def mark(state):
    """A paging state of protocol 4 or 5: the row's values, and all around them."""
    length, at = vint(state, 0)
    key, at = state[at:at + length], at + length
    length, at = vint(state, at)
    end, values = at + length, []
    if length:
        header, at = vint(state, at)
    while at < end:
        length, at = vint(state, at)
        values.append(state[at:at + length])
        at += length
    return key, values, state[end:]


def alike(one, other):
    """Whether paging states name one row, but for nulls at the end of its tuples and how its numbers are written."""
    if not one or not other:
        return one == other
    try:
        (key, values, rest), (other_key, other_values, other_rest) = mark(one), mark(other)
    except IndexError:
        return False
    def may_equal(a, b):
        short, long = sorted((a, b), key=len)
        return any(canonical(kind, a) == canonical(kind, b) for kind in ("decimal", "varint")) or long == short + b"\xff" * (len(long) - len(short))
    return key == other_key and rest == other_rest and len(values) == len(other_values) and all(map(may_equal, values, other_values))
