"""The IF clauses of lightweight transactions."""
from . import kinds


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
    return " IF " + " AND ".join(condition(w, req, rng.choice(columns)) for _ in range(rng.choice((1, 1, 1, 2, 3))))


def condition(w, req, column):
    rng, kind, left = w.rng, column.kind, column.name
    if kind.family in ("list", "map") and rng.random() < 0.4:
        index = kinds.Native("int") if kind.family == "list" else kind.parts[0]
        left += "[%s]" % req.term((str(n), n.to_bytes(4, "big")) if (n := rng.choice((0, 1))) is not None and kind.family == "list"
                                  else index.value(rng))
        kind = kind.parts[-1]
    elif kind.family == "udt" and rng.random() < 0.5:
        field, kind = rng.choice(kind.fields)
        left += "." + field
    elif kind.family in ("list", "set", "map") and rng.random() < 0.15:
        if kind.family == "map" and rng.random() < 0.5:
            return "%s CONTAINS KEY %s" % (left, req.term(kind.parts[0].value(rng)))
        return "%s CONTAINS %s" % (left, req.term(kind.parts[-1].value(rng)))
    return "%s %s" % (left, comparison(w, req, kind))


def comparison(w, req, kind):
    rng = w.rng

    def term():
        if rng.random() < 0.15:
            return req.term(kinds.NULL)
        if req.binds and rng.random() < 0.03:
            return req.bind("unset")
        return req.term(kind.value(rng))
    if rng.random() < 0.15:
        if req.binds and rng.random() < 0.3:
            many = kinds.Collection("list", (kind,), True)
            return "IN " + req.bind(many.build([kind.value(rng) for _ in range(2)])[1])
        return "IN (%s)" % ", ".join(term() for _ in range(rng.choice((0, 1, 2, 2))))
    return "%s %s" % (rng.choice(("=", "=", "=", "!=", "<", "<=", ">", ">=")), term())
