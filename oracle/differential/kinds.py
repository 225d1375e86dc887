"""CQL types and small pools of their values.

A value is a pair: its literal as CQL text, and its serialized bytes (None for null). Pools are small so that
statements meet each other's rows. Nothing here knows tables or statements.
"""
import struct


def big(fmt, *numbers):
    return [(str(n), struct.pack(fmt, n)) for n in numbers]


def varint(n):
    return n.to_bytes(n.bit_length() // 8 + 1, "big", signed=True)


def decimal(text):
    """Scale, then the unscaled number: BigDecimal's parts."""
    digits, _, power = text.partition("E")
    whole, _, fraction = digits.partition(".")
    return text, struct.pack(">i", len(fraction) - int(power or 0)) + varint(int(whole + fraction))


def quoted(text):
    return "'" + text.replace("'", "''") + "'"


def texts(*words):
    return [(quoted(w), w.encode()) for w in words]


def uuids(*words):
    return [(w, bytes.fromhex(w.replace("-", ""))) for w in words]


def vint(n):
    """A signed vint of the protocol: zig-zag, then unsigned."""
    return unsigned_vint((n << 1) ^ (n >> 63))


def unsigned_vint(n):
    for extra in range(8):
        if n < 1 << (7 * (extra + 1)):
            return (n | ((0xFF << (8 - extra)) & 0xFF) << (8 * extra)).to_bytes(extra + 1, "big")
    return b"\xff" + n.to_bytes(8, "big")


def duration(text, months, days, nanos):
    return text, vint(months) + vint(days) + vint(nanos)


def times(fmt, *pairs):
    return [(literal, struct.pack(fmt, n)) for literal, n in pairs]


POOLS = {
    "ascii": texts("", "a", "b", "ab", "A", "it's"),
    "text": texts("", "a", "b", "aa", "\u00e9", "\U0001d11e", "it's"),
    "varchar": texts("a", "z"),
    "bigint": big(">q", 0, 1, -1, 2, 2**63 - 1, -2**63),
    "int": big(">i", 0, 1, 2, 3, -1, 2**31 - 1, -2**31),
    "smallint": big(">h", 0, 1, -1, 32767, -32768),
    "tinyint": big(">b", 0, 1, -1, 127, -128),
    "varint": [(str(n), varint(n)) for n in (0, 1, -1, 127, 128, -129, 10**20)],
    "decimal": [decimal(t) for t in ("0", "1.0", "1.00", "-1.5", "1E2", "12345678901234567890.5", "1E-3")],
    "double": [("0.0", struct.pack(">d", 0.0)), ("-0.0", struct.pack(">d", -0.0)), ("1.5", struct.pack(">d", 1.5)),
               ("-1E10", struct.pack(">d", -1e10)), ("NaN", bytes.fromhex("7ff8000000000000")),
               ("Infinity", struct.pack(">d", float("inf"))), ("-Infinity", struct.pack(">d", float("-inf")))],
    "float": [("0.0", struct.pack(">f", 0.0)), ("-0.0", struct.pack(">f", -0.0)), ("1.5", struct.pack(">f", 1.5)), ("2", struct.pack(">f", 2)),
              ("NaN", bytes.fromhex("7fc00000")), ("-Infinity", struct.pack(">f", float("-inf")))],
    "boolean": [("true", b"\1"), ("false", b"\0")],
    "blob": [("0x", b""), ("0x00", b"\0"), ("0xff", b"\xff"), ("0x0001", b"\0\1"), ("0xCAFE", b"\xca\xfe")],
    "uuid": uuids("00000000-0000-0000-0000-000000000000", "123e4567-e89b-42d3-a456-426614174000",
                  "123e4567-e89b-12d3-a456-426614174000", "ffffffff-ffff-4fff-bfff-ffffffffffff", "223e4567-e89b-12d3-8456-426614174000"),
    "timeuuid": uuids("123e4567-e89b-12d3-a456-426614174000", "123e4567-e89b-12d3-8000-000000000000",
                      "00000001-e89b-12d4-a456-426614174000", "ffffffff-0000-1000-bfff-ffffffffffff"),
    "inet": [("'127.0.0.1'", bytes([127, 0, 0, 1])), ("'255.0.0.1'", bytes([255, 0, 0, 1])), ("'::1'", bytes(15) + b"\1"),
             ("'2001:db8::ff'", bytes.fromhex("20010db80000000000000000000000ff"))],
    "date": times(">I", ("'1970-01-01'", 2**31), ("'2024-02-29'", 2**31 + 19782), ("'1969-12-31'", 2**31 - 1), ("0", 0), ("'-0001-01-01'", 2**31 - 719893)),
    "time": times(">q", ("'00:00:00'", 0), ("'12:34:56.789'", 45296789000000), ("'23:59:59.999999999'", 86399999999999), ("1", 1)),
    "timestamp": times(">q", ("0", 0), ("'2024-02-29T12:00:00.123+0000'", 1709208000123), ("-1", -1), ("'1969-01-01 00:00:00Z'", -31536000000),
                       ("1709208000123", 1709208000123)),
    "duration": [duration("0s", 0, 0, 0), duration("1mo2d", 1, 2, 0), duration("-3h", 0, 0, -3 * 3600 * 10**9), duration("P1Y", 12, 0, 0),
                 duration("1w1ns", 0, 7, 1), duration("24h", 0, 0, 24 * 3600 * 10**9)],
}
FIXED = {"boolean": 1, "int": 4, "float": 4, "bigint": 8, "double": 8, "timestamp": 8, "uuid": 16, "timeuuid": 16}
# Types of which two different byte strings may be one clustering; one of each stays where it is a key (COMPAT.md, Types).
TWINS = {"decimal": {"1.00"}}
NUMBERS = ("tinyint", "smallint", "int", "bigint", "varint", "float", "double", "decimal")


class Kind:
    """A type. `frozen` says whether its text needs the word; natives, tuples and vectors never do."""
    multicell = False
    family = "native"
    parts = ()

    def cql(self):
        """The type as a column of a table is declared with it."""
        raise NotImplementedError

    def inner(self):
        """The type as part of another."""
        return self.cql()

    def fresh(self, rng):
        raise NotImplementedError

    def value(self, rng):
        """One of a few values, made on first use from the generator that asks first."""
        if not hasattr(self, "pool"):
            self.pool = [self.fresh(rng) for _ in range(4)]
        return rng.choice(self.pool) if rng.random() < 0.9 else self.fresh(rng)

    def has(self, name):
        """Whether a native type of this name is anywhere inside."""
        return any(p.has(name) for p in self.parts)

    def in_vector(self, udt, inside=False):
        """Whether a user type of this name is inside of a vector in it."""
        return any(p.in_vector(udt, inside or self.family == "vector") for p in self.parts)

    def sorts(self):
        """Whether there are sets or maps in it, of which other texts make the same value."""
        return self.family in ("set", "map") or any(p.sorts() for p in self.parts)

    def fixed(self):
        return None

    def __str__(self):
        return self.inner()


class Native(Kind):
    def __init__(self, name, key=False):
        self.name = name
        self.pool = [v for v in POOLS[name] if not (key and v[0] in TWINS.get(name, ()))]

    def cql(self):
        return self.name

    def fresh(self, rng):
        return rng.choice(self.pool)

    def has(self, name):
        return self.name == name

    def fixed(self):
        return FIXED.get(self.name)


def chunk(data):
    return struct.pack(">i", -1) if data is None else struct.pack(">i", len(data)) + data


class Collection(Kind):
    """list, set or map."""

    def __init__(self, family, parts, frozen):
        self.family, self.parts, self.multicell = family, parts, not frozen

    def bare(self):
        return "%s<%s>" % (self.family, ", ".join(p.inner() for p in self.parts))

    def cql(self):
        return self.bare() if self.multicell else "frozen<%s>" % self.bare()

    def inner(self):
        return "frozen<%s>" % self.bare()

    def build(self, members):
        """The value with these members: values of the element type, or (key, value) pairs of a map."""
        flat = [m for pair in members for m in pair] if self.family == "map" else members
        data = struct.pack(">i", len(members)) + b"".join(chunk(m[1]) for m in flat)
        if self.family == "map":
            # Of equal keys in a literal Cassandra takes any; of bound ones the last. Sets with other texts may be equal.
            once = {None if self.parts[0].sorts() else k[1]: (k[0], v[0]) for k, v in members}
            return "{" + ", ".join("%s: %s" % entry for entry in once.values()) + "}", data
        return ("[%s]" if self.family == "list" else "{%s}") % ", ".join(m[0] for m in members), data

    def member(self, rng):
        values = tuple(p.value(rng) for p in self.parts)
        return values if self.family == "map" else values[0]

    def fresh(self, rng):
        members = [self.member(rng) for _ in range(rng.choice((0, 1, 1, 2, 2, 3)))]
        return self.build(members)


class Tuple(Kind):
    family = "tuple"

    def __init__(self, parts):
        self.parts = parts

    def cql(self):
        return "tuple<%s>" % ", ".join(p.inner() for p in self.parts)

    def fresh(self, rng):
        values = [NULL if rng.random() < 0.15 else p.value(rng) for p in self.parts]
        if rng.random() < 0.1:
            values = values[:rng.randrange(1, len(values) + 1)]
        return "(%s)" % ", ".join(v[0] for v in values), b"".join(chunk(v[1]) for v in values)


class Udt(Kind):
    """A user type; `fields` is [name, kind] and grows and changes with ALTER TYPE. Frozen and not share it."""
    family = "udt"

    def __init__(self, name, fields, frozen):
        self.name, self.fields, self.multicell = name, fields, not frozen

    @property
    def parts(self):
        return [f[1] for f in self.fields]

    def in_vector(self, udt, inside=False):
        return inside and self.name == udt or super().in_vector(udt, inside)

    def cql(self):
        return self.name if self.multicell else "frozen<%s>" % self.name

    def inner(self):
        return "frozen<%s>" % self.name

    def fresh(self, rng):
        chosen = [(n, NULL if rng.random() < 0.15 else k.value(rng)) for n, k in self.fields if rng.random() < 0.85]
        # Like its literal, to the last field, where it may be in a key: there the spelling would show (COMPAT.md, Types).
        last = max([i for i, f in enumerate(self.fields) if f[0] in dict(chosen)], default=-1) if self.multicell else len(self.fields)
        data = b"".join(chunk(dict(chosen).get(n, NULL)[1]) for n, _ in self.fields[:last + 1])
        return "{" + ", ".join("%s: %s" % (n, v[0]) for n, v in chosen) + "}", data


class Vector(Kind):
    family = "vector"

    def __init__(self, part, size):
        self.parts, self.size = (part,), size

    def cql(self):
        return "vector<%s, %d>" % (self.parts[0].inner(), self.size)

    def fixed(self):
        one = self.parts[0].fixed()
        return one and one * self.size

    def fresh(self, rng):
        values = [self.parts[0].value(rng) for _ in range(self.size)]
        sized = self.parts[0].fixed() is None
        return "[%s]" % ", ".join(v[0] for v in values), b"".join((unsigned_vint(len(v[1])) if sized else b"") + v[1] for v in values)


class Counter(Kind):
    family = "counter"

    def cql(self):
        return "counter"

    def fresh(self, rng):
        return rng.choice(POOLS["bigint"][:4])


NULL = ("null", None)


def random_kind(rng, udts=(), depth=2, frozen=True, key=False):
    """A random type; `key`: fit for a primary key."""
    roll = rng.random()
    if depth == 0 or roll < 0.6:
        names = [n for n in POOLS if not (key and n == "duration")]
        return Native(rng.choice(names), key)

    def part():
        return random_kind(rng, udts, depth - 1, True, key)
    if roll < 0.7:
        return Collection("list", (part(),), frozen)
    if roll < 0.78:
        return Collection("set", (random_kind(rng, udts, depth - 1, True, True),), frozen)
    if roll < 0.86:
        return Collection("map", (random_kind(rng, udts, depth - 1, True, True), part()), frozen)
    if roll < 0.91:
        return Tuple([part() for _ in range(rng.randrange(1, 4))])
    if roll < 0.95:
        return Vector(part() if rng.random() < 0.4 else Native("float", key), rng.randrange(1, 4))
    fit = [u for u in udts if not (key and (u.has("duration") or u.has("decimal")))]
    if not fit:
        return Native("int")
    udt = rng.choice(fit)
    return Udt(udt.name, udt.fields, frozen)
