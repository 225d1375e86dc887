"""What a SELECT selects: columns, elements, functions, casts, arithmetic, literals, aggregates."""
from . import kinds
from .kinds import NUMBERS

MATH = ("abs", "round", "exp", "log", "log10")
CASTS = ("tinyint", "smallint", "int", "bigint", "varint", "float", "double", "decimal", "text", "ascii", "date", "timestamp", "boolean")
TIMES = ("to_date", "to_timestamp", "to_unix_timestamp", "min_timeuuid", "max_timeuuid", "toDate", "dateof", "unixtimestampof")
AGGREGATES = ("count", "min", "max", "sum", "avg")
OVER_COLLECTIONS = ("collection_count", "collection_min", "collection_max", "collection_sum", "collection_avg", "map_keys", "map_values")
SIMILAR = ("similarity_cosine", "similarity_euclidean", "similarity_dot_product")
MASKS = ("mask_null(%s)", "mask_default(%s)", "mask_inner(%s, 1, null)", "mask_outer(%s, 1, 1, '#')", "mask_hash(%s)", "mask_replace(%s, null)")


def clause(w, req, table):
    """The text between SELECT and FROM."""
    rng, roll = w.rng, w.rng.random()
    if roll < 0.35:
        return "*"
    if roll < 0.6:
        return ", ".join(c.name for c in rng.sample(table.columns, rng.randrange(1, min(4, len(table.columns)) + 1)))
    if roll < 0.68:
        return rng.choice(("count(*)", "count(1)", "COUNT(*) AS n"))
    if roll < 0.78:
        return ", ".join(aggregate(w, req, table) for _ in range(rng.choice((1, 1, 2, 3))))
    out = [alias(rng, selector(w, req, table, 2)) for _ in range(rng.choice((1, 1, 2, 3)))]
    if rng.random() < 0.1:
        out.append(aggregate(w, req, table))
    return ", ".join(out)


def alias(rng, text):
    return text + rng.choice((" AS n", ' AS "An alias"')) if rng.random() < 0.1 else text


def aggregate(w, req, table):
    inner = selector(w, req, table, 1) if w.rng.random() < 0.3 else w.rng.choice(table.columns).name
    return "%s(%s)" % (w.rng.choice(AGGREGATES), inner)


def selector(w, req, table, depth):
    """One selector, made for the type of some column."""
    rng, column = w.rng, w.rng.choice(table.columns)
    name, kind = column.name, column.kind
    roll = rng.random()
    if depth == 0 or roll < 0.2:
        return name
    if roll < 0.3 and column.role in ("static", "regular"):
        return times(w, req, table, column)
    if roll < 0.38:
        return "CAST(%s AS %s)" % (selector(w, req, table, depth - 1), rng.choice(CASTS))
    if roll < 0.44:
        return literal(w, req, table, depth)
    if roll < 0.5 and kind.family == "native":
        return blob(rng, name, kind)
    if roll < 0.53:
        return "token(%s)" % ", ".join(c.name for c in table.partition)
    if roll < 0.55 and "json" in w.features:
        return "to_json(%s)" % name
    if roll < 0.58 and "masks" in w.features:
        return rng.choice(MASKS) % name
    return of_kind(w, req, table, name, kind, depth)


def blob(rng, name, kind):
    inner = "%s_as_blob(%s)" % (kind.name, name)
    return inner if rng.random() < 0.4 else "blob_as_%s(%s)" % (kind.name if rng.random() < 0.6 else rng.choice(list(kinds.POOLS)), inner)


def times(w, req, table, column):
    """WRITETIME and TTL; write times only where every write had one of ours."""
    function = "ttl" if table.conditional or table.counter or table.served else w.rng.choice(("ttl", "writetime", "maxwritetime"))
    inner, kind = column.name, column.kind
    if kind.multicell and w.rng.random() < 0.4:
        inner = part(w, req, inner, kind)
    return "%s(%s)" % (function, inner)


def part(w, req, name, kind):
    """An element, a slice or a field of a value."""
    rng = w.rng
    if kind.family == "udt":
        return "%s.%s" % (name, rng.choice(kind.fields)[0])
    if kind.family not in ("map", "set"):
        return "%s[%s]" % (name, "0")
    key = kind.parts[0]
    if rng.random() < 0.5:
        return "%s[%s]" % (name, req.term(key.value(rng)))
    ends = [req.term(key.value(rng)) if rng.random() < 0.75 else "" for _ in range(2)]
    return "%s[%s..%s]" % (name, ends[0], ends[1])


def of_kind(w, req, table, name, kind, depth):
    rng = w.rng
    if kind.family in ("list", "set", "map", "udt"):
        if rng.random() < 0.6 or kind.family == "udt":
            return part(w, req, name, kind)
        return "%s(%s)" % (rng.choice(OVER_COLLECTIONS), name)
    if kind.family == "vector":
        return "%s(%s, %s)" % (rng.choice(SIMILAR), name, req.term(kind.value(rng)))
    if kind.has("timestamp") or kind.has("date") or kind.has("timeuuid"):
        roll = rng.random()
        if roll < 0.2 and "floor" in w.features:
            return "floor(%s, %s)" % (name, rng.choice(("1d", "2h", "1mo", "7ns")))
        if roll < 0.7 or kind.has("timeuuid"):
            return "%s(%s)" % (rng.choice(TIMES), name)
        return "%s %s %s" % (name, rng.choice("+-"), rng.choice(("1mo2d", "3h", "-1d", "1h30m")))
    if kind.family == "native" and kind.name in NUMBERS:
        if rng.random() < 0.4:
            return "%s(%s)" % (rng.choice(MATH), name)
        return arithmetic(w, req, table, name, depth)
    return "%s(%s)" % (rng.choice(MATH + TIMES + OVER_COLLECTIONS), name) if rng.random() < 0.3 else name


def arithmetic(w, req, table, name, depth):
    rng, out = w.rng, name
    numbers = [c.name for c in table.columns if c.kind.family == "native" and c.kind.name in NUMBERS]
    for _ in range(rng.choice((1, 1, 2))):
        right = rng.choice(numbers) if rng.random() < 0.6 else rng.choice(("1", "2", "-1", "0", "1.5", "(int)3", "(bigint)7", "(decimal)1.25"))
        out = "%s %s %s" % (out, rng.choice("+-*/%"), right)
    return "-" + out if rng.random() < 0.1 else out


def literal(w, req, table, depth):
    """Constants, with a type hint mostly, and collections and tuples made of selectors."""
    rng, kind = w.rng, kinds.random_kind(w.rng, w.schema.udts, 1)
    roll = rng.random()
    if roll < 0.4:
        return "(%s)%s" % (kind, req.term(kind.value(rng), 0.4))
    if roll < 0.55:
        return req.term(kind.value(rng), 0.2)
    inner = [selector(w, req, table, depth - 1) for _ in range(rng.choice((1, 2)))]
    shape = rng.choice(("[%s]", "(%s)", "{%s}"))
    return shape % ", ".join(inner)
