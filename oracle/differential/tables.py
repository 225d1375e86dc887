"""Random user types and tables, and what the generator believes of them after each change.

The belief may be wrong (a change may have been refused): statements made from it then fail on both servers alike.
"""
from dataclasses import dataclass, field

from . import kinds

NAMES = ["a", "b", "c", "d", "e", "f", "g", "h", '"Up"', '"a b"', "value", '"select"', "ttl"]


@dataclass
class Column:
    name: str
    kind: kinds.Kind
    role: str  # partition, clustering, static, regular
    descending: bool = False


@dataclass
class Table:
    name: str
    columns: list
    options: list = field(default_factory=list)
    conditional: bool = False  # takes conditions, so no timestamps of ours: LWT has the server's
    counter: bool = False
    compact: bool = False
    dropped: list = field(default_factory=list)
    served: bool = False  # has had a write with the server's time: WRITETIME cannot be compared

    def role(self, role):
        return [c for c in self.columns if c.role == role]

    @property
    def partition(self):
        return self.role("partition")

    @property
    def clustering(self):
        return self.role("clustering")

    @property
    def statics(self):
        return self.role("static")

    @property
    def regulars(self):
        return self.role("regular")

    @property
    def values(self):
        return [c for c in self.columns if c.role in ("static", "regular")]

    @property
    def keys(self):
        return self.partition + self.clustering

    def create(self):
        out = []
        for c in self.columns:
            out.append("%s %s%s" % (c.name, c.kind.cql(), " static" if c.role == "static" else ""))
        partition = ", ".join(c.name for c in self.partition)
        partition = "(%s)" % partition if len(self.partition) > 1 else partition
        out.append("PRIMARY KEY (%s)" % ", ".join([partition] + [c.name for c in self.clustering]))
        text = "CREATE TABLE %s (%s)" % (self.name, ", ".join(out))
        options = list(self.options)
        if any(c.descending for c in self.clustering):
            options.insert(0, "CLUSTERING ORDER BY (%s)" % ", ".join(
                "%s %s" % (c.name, "DESC" if c.descending else "ASC") for c in self.clustering))
        if self.compact:
            options.insert(0, "COMPACT STORAGE")
        return text + (" WITH " + " AND ".join(options) if options else "")


@dataclass
class Schema:
    keyspace: str
    udts: list
    tables: list


def random_udts(rng):
    udts = []
    for i in range(rng.choice((0, 1, 1, 2))):
        fields = [[n, kinds.random_kind(rng, udts, depth=1)] for n in ("x", "y", '"Z"', "w")[:rng.randrange(1, 5)]]
        udts.append(kinds.Udt("u%d" % i, fields, True))
    return udts


def key_kind(rng, udts):
    """Mostly plain types, so that keys collide and slices are meaningful."""
    roll = rng.random()
    if roll < 0.35:
        return kinds.Native("int")
    if roll < 0.5:
        return kinds.Native("text")
    return kinds.random_kind(rng, udts, 1, True, True)


def hot(rng, column, alike):
    """Leaves a key column few values, the fewer the more columns there are, so that statements meet."""
    kind = column.kind
    kind.value(rng)
    kind.pool = rng.sample(kind.pool, min(len(kind.pool), (3 if alike == 1 else 2) + (column.role == "clustering")))


def random_table(rng, name, udts, features):
    names = list(NAMES)
    rng.shuffle(names)
    if rng.random() < 0.6:
        names.sort(key=lambda n: (n[0] == '"', n))
    columns = [Column(names.pop(0), key_kind(rng, udts), "partition") for _ in range(rng.choice((1, 1, 1, 2, 3)))]
    counter = "counters" in features and rng.random() < 0.1
    compact = "compact" in features and rng.random() < 0.1
    for _ in range(rng.choice((0, 1, 1, 2, 2, 3))):
        columns.append(Column(names.pop(0), key_kind(rng, udts), "clustering", rng.random() < 0.35))
    clustered = any(c.role == "clustering" for c in columns)
    conditional = not counter and rng.random() < 0.2

    def value_kind():
        if counter:
            return kinds.Counter()
        return kinds.random_kind(rng, udts, 2, frozen=compact or rng.random() < 0.3)
    if clustered and not compact and rng.random() < 0.45:
        columns += [Column(names.pop(0), value_kind(), "static") for _ in range(rng.choice((1, 1, 2)))]
    # A compact table without clustering is static; with it, it is dense and has one value or none.
    plain = rng.choice((1, 1, 2)) if counter else rng.choice((0, 1, 1, 2, 3)) if compact else rng.choice((0, 1, 2, 3, 3, 4, 5))
    columns += [Column(names.pop(0), value_kind(), "regular") for _ in range(min(plain, len(names)))]
    if compact and clustered:
        columns = [c for c in columns if c.role != "regular"] + [c for c in columns if c.role == "regular"][:1]
    keys = [c for c in columns if c.role in ("partition", "clustering")]
    for c in keys:
        hot(rng, c, sum(k.role == c.role for k in keys))
    rest = [c for c in columns if c not in keys]
    if rng.random() < 0.3:
        rng.shuffle(rest)
    options = []
    if not counter and rng.random() < 0.12:
        options.append("default_time_to_live = %d" % rng.choice((1, 100, 100000)))
    if rng.random() < 0.1:
        options.append("gc_grace_seconds = %d" % rng.choice((0, 100)))
    if rng.random() < 0.05:
        options.append("comment = 'it''s'")
    return Table(name, keys + rest, options, conditional, counter, compact)


def random_schema(rng, keyspace, features):
    udts = random_udts(rng)
    tables = [random_table(rng, "t%d" % i, udts, features) for i in range(rng.choice((1, 1, 2, 3)))]
    return Schema(keyspace, udts, tables)
