"""SELECT: every kind of restriction, order, grouping, limit and page size."""
from . import kinds, selectors, wrong
from .request import Request
from .writes import key_term, number, slice_relations, where


def relation_term(w, req, kind):
    roll = w.rng.random()
    if roll < 0.01:
        return wrong.term(w, req, kind)
    if roll < 0.02:
        return req.term(kinds.NULL)
    if roll < 0.03 and req.binds:
        return req.bind("unset")
    return req.term(kind.value(w.rng))


def equal(w, req, column, many=0.12):
    if w.rng.random() > many:
        return "%s = %s" % (column.name, key_term(w, req, column.kind))
    size = w.rng.choice((0, 1, 2, 2, 3))
    if req.binds and w.rng.random() < 0.3:
        values = kinds.Collection("list", (column.kind,), True).build([column.kind.value(w.rng) for _ in range(size)])
        return "%s IN %s" % (column.name, req.bind(values[1]))
    return "%s IN (%s)" % (column.name, ", ".join(key_term(w, req, column.kind) for _ in range(size)))


def tuples(w, req, table):
    """Relations over several clustering columns at once."""
    rng, columns = w.rng, table.clustering
    start = 0 if rng.random() < 0.85 else rng.randrange(len(columns))
    chosen = columns[start:rng.randrange(start + 1, len(columns) + 1)]
    out = [equal(w, req, c, 0) for c in columns[:start]]
    names = "(%s)" % ", ".join(c.name for c in chosen)

    def one():
        if req.binds and rng.random() < 0.15:
            return req.bind(kinds.Tuple([c.kind for c in chosen]).fresh(rng)[1])
        return "(%s)" % ", ".join(key_term(w, req, c.kind) for c in chosen)
    if rng.random() < 0.35:
        return out + ["%s IN (%s)" % (names, ", ".join(one() for _ in range(rng.choice((0, 1, 2, 3)))))]
    if rng.random() < 0.15:
        return out + ["%s = %s" % (names, one())]
    return out + ["%s %s %s" % (names, op, one()) for op in rng.choice(((">",), ("<=",), (">", "<"), (">=", "<="), ("<", ">")))]


def clustering(w, req, table):
    """Restrictions of the clustering within a partition."""
    rng, columns = w.rng, table.clustering
    roll = rng.random()
    if not columns or roll < 0.25:
        return []
    if roll < 0.45:
        return [equal(w, req, c) for c in columns[:rng.randrange(1, len(columns) + 1)]]
    if roll < 0.7:
        return slice_relations(w, table, req)
    return tuples(w, req, table)


def token(w, req, table):
    rng, names = w.rng, ", ".join(c.name for c in table.partition)

    def end():
        if rng.random() < 0.4:
            n = rng.choice((0, -2**63, 2**63 - 1, -4069959284402364209, 3 * 2**60))
            return number(w, req, n, 8)
        return "token(%s)" % ", ".join(key_term(w, req, c.kind) for c in table.partition)
    shapes = ((">",), (">=",), ("<",), ("<=",), (">", "<="), (">=", "<"), ("=",))
    return ["token(%s) %s %s" % (names, op, end()) for op in rng.choice(shapes)]


def filter_on(w, req, column):
    """A relation over any column by its type."""
    rng, kind, name = w.rng, column.kind, column.name
    roll = rng.random()
    if kind.family in ("list", "set", "map") and roll < 0.6:
        if kind.family == "map" and roll < 0.2:
            return "%s[%s] = %s" % (name, relation_term(w, req, kind.parts[0]), relation_term(w, req, kind.parts[1]))
        if kind.family == "map" and roll < 0.35:
            return "%s CONTAINS KEY %s" % (name, relation_term(w, req, kind.parts[0]))
        return "%s CONTAINS %s" % (name, relation_term(w, req, kind.parts[-1]))
    if roll > 0.9:
        return "%s IN (%s)" % (name, ", ".join(relation_term(w, req, kind) for _ in range(2)))
    return "%s %s %s" % (name, rng.choice(("=", "=", "=", "<", "<=", ">", ">=")), relation_term(w, req, kind))


def restrictions(w, req, table):
    """The relations of a WHERE, and whether ALLOW FILTERING is likely to be needed."""
    rng, roll = w.rng, w.rng.random()
    if roll < 0.2:
        return [], False
    if roll < 0.7:
        out = [equal(w, req, c) for c in table.partition] + clustering(w, req, table)
        if rng.random() < 0.15 and table.values:
            return out + [filter_on(w, req, rng.choice(table.values))], True
        return out, False
    if roll < 0.8:
        out = token(w, req, table)
        return out + (clustering(w, req, table) if rng.random() < 0.1 else []), rng.random() < 0.2
    out = [filter_on(w, req, rng.choice(table.columns)) for _ in range(rng.choice((1, 1, 2, 3)))]
    return out, True


def order(w, table):
    rng = w.rng
    if rng.random() < 0.03:
        return " ORDER BY %s %s" % (rng.choice(table.columns).name, rng.choice(("ASC", "DESC")))
    columns = table.clustering[:rng.randrange(1, len(table.clustering) + 1)] if table.clustering else []
    if not columns:
        return ""
    turn = rng.random() < 0.6
    ways = ["DESC" if c.descending ^ turn ^ (rng.random() < 0.03) else "ASC" for c in columns]
    return " ORDER BY " + ", ".join("%s %s" % (c.name, way) if way == "DESC" or rng.random() < 0.5 else c.name for c, way in zip(columns, ways))


def limit(w, req, word):
    n = w.rng.choice((1, 1, 2, 2, 3, 5, 10))
    if w.rng.random() < 0.03:
        n = w.rng.choice((0, -1))
    if req.binds and w.rng.random() < 0.03:
        return " %s %s" % (word, req.bind(w.rng.choice((None, "unset", b"", b"\1"))))
    return " %s %s" % (word, number(w, req, n, 4))


def read(w, table):
    """The lines of one SELECT."""
    rng, req = w.rng, Request(w.rng)
    grouped = "group" in w.features and rng.random() < 0.1
    head = "JSON " if "json" in w.features and rng.random() < 0.04 else ""
    if rng.random() < 0.05:
        columns = table.partition + (table.statics if rng.random() < 0.5 else [])
        chosen = head + "DISTINCT " + ", ".join(c.name for c in columns)
    else:
        chosen = head + selectors.clause(w, req, table)
    relations, filtering = restrictions(w, req, table)
    text = "SELECT %s FROM %s%s" % (chosen, table.name, where(relations))
    if grouped:
        keys = table.keys[:rng.randrange(1, len(table.keys) + 1)]
        text += " GROUP BY " + ", ".join(c.name for c in keys)
    if rng.random() < 0.25:
        text += order(w, table)
    if rng.random() < 0.12:
        text += limit(w, req, "PER PARTITION LIMIT")
    if rng.random() < 0.2:
        text += limit(w, req, "LIMIT")
    if rng.random() < (0.85 if filtering else 0.1):
        text += " ALLOW FILTERING"
    if rng.random() < 0.5:
        req.say("page_size", rng.choice((1, 2, 3, 5, 10, 100)))
    if rng.random() < 0.04:
        req.say("consistency", rng.choice(("QUORUM", "LOCAL_ONE", "SERIAL", "TWO", "ALL", "ANY", "EACH_QUORUM")))
    req.say("now", w.now())
    return req.lines(text)


def whole(w, table):
    """Everything a table holds: what writes before it have come to."""
    req = Request(w.rng, "literal")
    req.say("now", w.now())
    if w.rng.random() < 0.5:
        req.say("page_size", w.rng.choice((1, 2, 3, 7)))
    return req.lines("SELECT * FROM %s" % table.name)
