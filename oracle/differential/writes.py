"""INSERT, UPDATE, DELETE and BATCH in all their forms.

Each function returns the statement's text and leaves bound values in the request, in the order of the text.
"""
from . import conditions, kinds, wrong
from .request import Request

TTLS = (0, 10, 60, 100000, 100000, 630720000)


def term(w, req, kind, rare=0.02):
    """A value for a column that may be null; at times unset, empty or of another type."""
    roll = w.rng.random()
    if roll < 0.06:
        return req.term(kinds.NULL)
    if roll < 0.09 and req.binds:
        return req.bind("unset")
    if roll < 0.09 + rare and req.binds:
        return req.bind(b"")
    if roll < 0.09 + 2 * rare:
        return wrong.term(w, req, kind)
    return req.term(kind.value(w.rng))


def key_term(w, req, kind):
    roll = w.rng.random()
    if roll < 0.004:
        return req.term(kinds.NULL)
    if roll < 0.008 and req.binds:
        return req.bind("unset")
    if roll < 0.012 and req.binds:
        return req.bind(b"")
    if roll < 0.018:
        return wrong.term(w, req, kind)
    return req.term(kind.value(w.rng))


def using(w, table, req, timed, ttl=True):
    """A USING clause, or nothing."""
    parts = []
    if timed and w.rng.random() < 0.6:
        parts.append("TIMESTAMP " + number(w, req, w.time(), 8))
        req.timed = True
    if ttl and w.rng.random() < 0.2:
        seconds = w.rng.choice(TTLS)
        parts.append("TTL " + (req.term(kinds.NULL) if w.rng.random() < 0.03 else number(w, req, seconds, 4)))
    w.rng.shuffle(parts) if not req.binds else None
    return " USING " + " AND ".join(parts) if parts else ""


def number(w, req, n, width):
    return req.term((str(n), n.to_bytes(width, "big", signed=True)), 0.5)


def insert(w, table, req, timed):
    rng = w.rng
    only_static = table.statics and rng.random() < 0.12
    columns = list(table.partition if only_static else table.keys)
    if rng.random() < 0.015:
        columns.pop(rng.randrange(len(columns)))
    rest = table.statics if only_static else table.values
    columns += [c for c in rest if rng.random() < 0.6]
    if rng.random() < 0.2:
        rng.shuffle(columns)
    terms = [key_term(w, req, c.kind) if c in table.keys else term(w, req, c.kind) for c in columns]
    text = "INSERT INTO %s (%s) VALUES (%s)" % (table.name, ", ".join(c.name for c in columns), ", ".join(terms))
    if table.conditional and rng.random() < 0.3:
        text += " IF NOT EXISTS"
    return text + using(w, table, req, timed)


def key_relations(w, table, req, columns):
    """`=` for each column, at times IN; at times one is missing."""
    out = []
    for column in columns:
        roll = w.rng.random()
        if roll < 0.012:
            continue
        if roll < 0.05 and not table.conditional:
            size = w.rng.choice((0, 1, 2, 2, 3))
            if req.binds and w.rng.random() < 0.3:
                many = kinds.Collection("list", (column.kind,), True)
                out.append("%s IN %s" % (column.name, req.bind(many.build([column.kind.value(w.rng) for _ in range(size)])[1])))
            else:
                out.append("%s IN (%s)" % (column.name, ", ".join(key_term(w, req, column.kind) for _ in range(size))))
        else:
            out.append("%s = %s" % (column.name, key_term(w, req, column.kind)))
    return out


def slice_relations(w, table, req):
    """A prefix of the clustering with a slice after it: what a range deletion takes."""
    rng, columns = w.rng, table.clustering
    prefix = rng.randrange(len(columns))
    out = key_relations(w, table, req, columns[:prefix])
    rest = columns[prefix:]
    if len(rest) > 1 and rng.random() < 0.3:
        names = rest[:rng.randrange(1, len(rest) + 1)]
        for op in rng.choice(((">",), ("<=",), (">=", "<"))):
            out.append("(%s) %s (%s)" % (", ".join(c.name for c in names), op, ", ".join(key_term(w, req, c.kind) for c in names)))
        return out
    for op in rng.choice((("<",), (">",), ("<=",), (">=",), (">", "<="), (">=", "<"), (">", "<"), ())):
        out.append("%s %s %s" % (rest[0].name, op, key_term(w, req, rest[0].kind)))
    return out


def assignment(w, req, column):
    """One column operation of SET."""
    rng, kind, name = w.rng, column.kind, column.name
    if kind.family == "counter":
        shape = rng.choice(("%s = %s + %s", "%s = %s - %s", "%s += %s", "%s -= %s"))
        return shape % ((name,) * (shape.count("%") - 1) + (term(w, req, kind),))
    if not kind.multicell and rng.random() < 0.98 or rng.random() < 0.4:
        return "%s = %s" % (name, term(w, req, kind))
    if kind.family == "udt":
        field, part = rng.choice(kind.fields)
        return "%s.%s = %s" % (name, field, term(w, req, part))
    roll = rng.random()
    if kind.family in ("list", "map") and roll < 0.35:
        index, part = (kinds.Native("int"), kind.parts[0]) if kind.family == "list" else kind.parts
        return "%s[%s] = %s" % (name, term(w, req, index, 0.01) if kind.family == "map" else
                                number(w, req, rng.choice((0, 0, 1, 2, -1)), 4), term(w, req, part))
    if kind.family == "list" and roll < 0.5:
        return "%s = %s + %s" % (name, term(w, req, kind), name)
    operator = "-" if rng.random() < 0.35 else "+"
    operand = kinds.Collection("set", kind.parts[:1], True) if operator == "-" and kind.family == "map" else kind
    return ("%s = %s %s %s" % (name, name, operator, term(w, req, operand)) if rng.random() < 0.5
            else "%s %s= %s" % (name, operator, term(w, req, operand)))


def update(w, table, req, timed):
    rng = w.rng
    only_static = table.statics and rng.random() < 0.2
    columns = table.statics if only_static else table.values
    chosen = [c for c in columns if rng.random() < 0.5] or rng.sample(columns, min(1, len(columns)))
    text = "UPDATE %s%s SET " % (table.name, using(w, table, req, timed))
    text += ", ".join(assignment(w, req, c) for c in chosen) if chosen else "%s = %s" % wrong.unknown(w, req)
    keys = table.partition if only_static and rng.random() < 0.95 else table.keys
    return text + where(key_relations(w, table, req, keys)) + conditions.clause(w, table, req, only_static)


def where(relations):
    return " WHERE " + " AND ".join(relations) if relations else ""


def target(w, req, column):
    """What DELETE names: a column, an element, a field."""
    kind, name = column.kind, column.name
    if kind.multicell and w.rng.random() < 0.6:
        if kind.family == "udt":
            return "%s.%s" % (name, w.rng.choice(kind.fields)[0])
        if kind.family == "list":
            return "%s[%s]" % (name, number(w, req, w.rng.choice((0, 0, 1, -1)), 4))
        return "%s[%s]" % (name, term(w, req, kind.parts[0], 0.01))
    return name


def delete(w, table, req, timed):
    rng, roll = w.rng, w.rng.random()
    columns, keys = [], table.keys
    if roll < 0.4:
        columns = [c for c in table.regulars if rng.random() < 0.4] or table.regulars[:1]
    elif roll < 0.5 and table.statics:
        columns, keys = table.statics[:1], table.partition
    text = "DELETE %sFROM %s%s" % ("".join(", ".join(target(w, req, c) for c in columns) + " " if columns else ""), table.name,
                                   using(w, table, req, timed, ttl=False))
    if columns or roll < 0.7 or not table.clustering:
        relations = key_relations(w, table, req, keys)
    elif roll < 0.78:
        relations = key_relations(w, table, req, table.partition)
    else:
        relations = key_relations(w, table, req, table.partition) + slice_relations(w, table, req)
    return text + where(relations) + conditions.clause(w, table, req, keys is table.partition and table.clustering)


def one(w, table, req, timed):
    if table.counter:
        form = update if w.progress < 0.85 else delete # what a counter is after both is not defined (COMPAT.md, Consistency)
    else:
        form = w.rng.choice((insert, insert, insert, update, update, delete))
    return form(w, table, req, timed)


def stamp(w, table, req):
    """Gives the request a timestamp of ours, unless its statement has one; conditions take the server's."""
    req.say("now", w.now())
    if table.conditional or table.counter:
        return
    if not getattr(req, "timed", False) or w.rng.random() < 0.1:
        req.say("timestamp", w.time())


def write(w, table):
    """The lines of one modification."""
    req = Request(w.rng)
    text = one(w, table, req, timed=not table.conditional and not table.counter)
    stamp(w, table, req)
    return req.lines(text)


def batch(w, table):
    """A batch as text or as a message, over one table or several."""
    rng = w.rng
    alike = [t for t in w.schema.tables if t.conditional == table.conditional and t.counter == table.counter]
    tables = [table if table.conditional or rng.random() < 0.7 else rng.choice(alike) for _ in range(rng.choice((1, 2, 2, 3, 4)))]
    timed = not table.conditional and not table.counter
    kind = "COUNTER" if table.counter else rng.choice(("LOGGED", "LOGGED", "UNLOGGED"))
    if rng.random() < 0.5:
        req = Request(rng)
        whole = timed and rng.random() < 0.4
        opening = "BEGIN %sBATCH" % ("" if kind == "LOGGED" else kind + " ")
        if whole:
            opening += " USING TIMESTAMP " + number(w, req, w.time(), 8)
        inner = [one(w, t, req, timed and (not whole or rng.random() < 0.03)) for t in tables]
        req.timed = whole
        stamp(w, table, req)
        return req.lines("%s %s APPLY BATCH" % (opening, " ".join(text + ";" * rng.randrange(1, 2) for text in inner)))
    whole, lines = Request(rng, "literal"), []
    for t in tables:
        req = Request(rng, rng.choice(("literal", "bound")))
        lines += req.statement(one(w, t, req, timed))
    whole.say("batch", kind)
    stamp(w, table, whole)
    return whole.directives + lines
