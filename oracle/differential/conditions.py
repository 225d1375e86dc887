"""The IF clauses of lightweight transactions."""
from . import kinds

LIST_INDEXES = [("0", bytes(4)), ("1", b"\0\0\0\1")]


def clause(w, table, req, only_static=False):
    """Nothing for tables that take no conditions; otherwise often one."""
    rng = w.rng
    if not table.conditional or rng.random() < 0.35:
        if not table.conditional and rng.random() < 0.002:
            return " IF EXISTS"
        return ""
    columns = table.statics if only_static else table.values
    if rng.random() < 0.25 or not columns:
        return " IF EXISTS"
    if rng.random() < 0.03:
        columns = table.columns
    chosen = rng.sample(columns, min(len(columns), rng.choice((1, 1, 1, 2, 3))))
    # Cassandra asks several in the order of hashes: none of them may be an error (COMPAT.md, lightweight transactions).
    return " IF " + " AND ".join(condition(w, req, c, len(chosen) == 1) for c in chosen)


def condition(w, req, column, alone):
    """One condition; only one that stands alone may turn out to be an error when it is asked."""
    rng, kind, left = w.rng, column.kind, column.name
    if kind.family in ("list", "map") and rng.random() < 0.4:
        left += "[%s]" % req.term(rng.choice(LIST_INDEXES) if kind.family == "list" else kind.parts[0].value(rng))
        kind = kind.parts[-1]
    elif kind.family == "udt" and rng.random() < 0.5:
        field, kind = rng.choice(kind.fields)
        left += "." + field
    elif kind.family in ("list", "set", "map") and rng.random() < 0.15:
        if kind.family == "map" and rng.random() < 0.5:
            return "%s CONTAINS KEY %s" % (left, req.term(kind.parts[0].value(rng)))
        return "%s CONTAINS %s" % (left, req.term(kind.parts[-1].value(rng)))
    return "%s %s" % (left, comparison(w, req, kind, alone))


def comparison(w, req, kind, alone):
    rng, operator = w.rng, w.rng.choice(("=", "=", "=", "!=", "<", "<=", ">", ">="))

    def term():
        if rng.random() < 0.15 and (alone or operator in ("=", "!=")):
            return req.term(kinds.NULL)
        if req.binds and rng.random() < 0.03 and alone:
            return req.bind("unset")
        value = kind.value(rng)
        while not alone and kind.multicell and operator not in ("=", "!=") and value[1] == bytes(4):
            value = kind.fresh(rng)
        return req.term(value)
    if rng.random() < 0.15:
        if req.binds and rng.random() < 0.3:
            many = kinds.Collection("list", (kind,), True)
            return "IN " + req.bind(many.build([kind.value(rng) for _ in range(2)])[1])
        return "IN (%s)" % ", ".join(term() for _ in range(rng.choice((0, 1, 2, 2))))
    return "%s %s" % (operator, term())
