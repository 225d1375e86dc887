"""Changes of the schema in the middle of a seed; the belief in tables.py follows them."""
from . import kinds, tables


def change(w, table):
    """The lines of one change."""
    return ["cql: " + w.rng.choices((add, drop, readd, truncate, rename, alter_type, describe, options, recreate), (4, 4, 3, 2, 1, 2, 2, 1, 1))[0](w, table)]


def add(w, table):
    free = [n for n in tables.NAMES if n not in [c.name for c in table.columns] + [d.name for d in table.dropped]]
    if not free:
        return truncate(w, table)
    role = "static" if table.clustering and w.rng.random() < 0.2 else "regular"
    frozen = w.rng.random() < (0.9 if table.compact else 0.3)
    kind = kinds.Counter() if table.counter else kinds.random_kind(w.rng, w.schema.udts, 2, frozen)
    column = tables.Column(w.rng.choice(free), kind, role)
    if not table.compact or not table.clustering and not kind.multicell:
        table.columns.append(column)
    return "ALTER TABLE %s ADD %s" % (table.name, declared(column))


def declared(column):
    return "%s %s%s" % (column.name, column.kind.cql(), " static" if column.role == "static" else "")


def drop(w, table):
    if not table.values or w.rng.random() < 0.05:
        return "ALTER TABLE %s DROP %s" % (table.name, w.rng.choice(table.columns + [tables.Column("nope", None, "")]).name) \
            if not table.values else "ALTER TABLE %s DROP %s" % (table.name, w.rng.choice(table.keys).name)
    column = w.rng.choice(table.values)
    table.columns.remove(column)
    table.dropped.append(column)
    at = ""
    if w.rng.random() < 0.7 and not table.conditional:
        w.epoch += 1000  # later than every write: Cassandra's reads fail on cells of a dropped column that are newer
        at = " USING TIMESTAMP %d" % w.epoch
    return "ALTER TABLE %s DROP %s%s" % (table.name, column.name, at)


def readd(w, table):
    if not table.dropped:
        return add(w, table)
    column = w.rng.choice(table.dropped)
    if w.rng.random() < 0.1:
        other = tables.Column(column.name, kinds.random_kind(w.rng, w.schema.udts, 1), column.role)
        return "ALTER TABLE %s ADD %s" % (table.name, declared(other)) if not compatible(other, column) else truncate(w, table)
    table.dropped.remove(column)
    table.columns.append(column)
    return "ALTER TABLE %s ADD %s" % (table.name, declared(column))


def compatible(one, other):
    return True if one.kind.multicell == other.kind.multicell else False


def truncate(w, table):
    return "TRUNCATE %s%s" % (w.rng.choice(("", "TABLE ")), table.name)


def rename(w, table):
    columns = table.keys if w.rng.random() < 0.85 else table.columns
    column, new = w.rng.choice(columns), w.rng.choice(tables.NAMES + ["renamed"])
    text = "ALTER TABLE %s RENAME %s TO %s" % (table.name, column.name, new)
    if column in table.keys and new not in [c.name for c in table.columns]:
        column.name = new
    return text


def alter_type(w, table):
    if not w.schema.udts:
        return describe(w, table)
    udt = w.rng.choice(w.schema.udts)
    used = [c.kind for t in w.schema.tables for c in t.columns + t.dropped if c.kind] + [f[1] for u in w.schema.udts for f in u.fields]
    if any(kind.in_vector(udt.name) for kind in used):
        return describe(w, table)  # Cassandra's vectors keep the fields that the type had until a restart (COMPAT.md)
    names = [f[0] for f in udt.fields]
    if w.rng.random() < 0.3:
        old, new = w.rng.choice(names), w.rng.choice(("x", "q", "r"))
        if new not in names:
            next(f for f in udt.fields if f[0] == old)[0] = new
        return "ALTER TYPE %s RENAME %s TO %s" % (udt.name, old, new)
    name, kind = w.rng.choice(("q", "r", "s", "x")), kinds.random_kind(w.rng, (), 1)
    if name not in names:
        udt.fields.append([name, kind])
    return "ALTER TYPE %s ADD %s %s" % (udt.name, name, kind.inner())


def describe(w, table):
    if w.schema.udts and w.rng.random() < 0.2:
        return "DESCRIBE TYPE %s" % w.rng.choice(w.schema.udts).name
    return w.rng.choice(("DESCRIBE TABLE %s" % table.name, "DESC %s" % table.name, "DESCRIBE TABLES", "DESCRIBE TYPES",
                         "SELECT column_name, kind, position, type, clustering_order FROM system_schema.columns WHERE keyspace_name = '%s'"
                         % w.schema.keyspace))


def options(w, table):
    return "ALTER TABLE %s WITH %s" % (table.name, w.rng.choice((
        "default_time_to_live = 1000", "default_time_to_live = 0", "gc_grace_seconds = 0", "comment = 'x'", "default_time_to_live = -1",
        "nope = 1", "comment = 1")))


def recreate(w, table):
    """Drops the table; the next change for a dropped table is its creation."""
    if w.rng.random() < 0.5:
        return "CREATE TABLE %s%s (k int PRIMARY KEY)" % ("IF NOT EXISTS " if w.rng.random() < 0.5 else "", table.name)
    return "DROP TABLE IF EXISTS nope"
