"""What a seed is: a list of blocks, each the lines of one request as in a .cqltest file.

The list follows from the number alone; no answer has a part in it. RESTART stands for a kill of Basalt and a new start.
"""
import random

from . import ddl, reads, tables, writes, wrong

RESTART = ["# Basalt is killed and started again"]
# Language that can be left out by name (--without), for a server that lacks it.
FEATURES = ("counters", "compact", "json", "group", "masks", "floor", "alter")
NOW = 1_900_000_000  # ahead of every real clock, so that nothing written with it is purged in earnest


class World:
    """What generators share: the random numbers, the schema, the switches."""

    def __init__(self, rng, schema, features):
        self.rng, self.schema, self.features, self.epoch, self.progress = rng, schema, features, 0, 0.0

    def now(self):
        return NOW + self.rng.choice((0, 0, 1, 30, 30, 90, 1000))

    def time(self):
        """Timestamps of writes: few, so that ties are usual. Later ones follow each column that is dropped at a time of ours."""
        return self.epoch + self.rng.choice((1, 2, 3, 3, 4, 5, 6, 7, 100) if self.rng.random() < 0.98 else (0, -1, -5))


def keyspace(number):
    return "fuzz_%d" % number


def blocks(number, features):
    """All requests of a seed."""
    rng = random.Random(number)
    schema = tables.random_schema(rng, keyspace(number), features)
    w = World(rng, schema, features)
    out = [["cql: CREATE KEYSPACE %s WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}" % schema.keyspace],
           ["cql: USE " + schema.keyspace]]
    out += [["cql: CREATE TYPE %s (%s)" % (u.name, ", ".join("%s %s" % (f[0], f[1].inner()) for f in u.fields))] for u in schema.udts]
    out += [["cql: " + t.create()] for t in schema.tables]
    count = rng.randrange(100, 300)
    restarts = {rng.randrange(count)} if rng.random() < 0.04 else ()
    for at in range(count):
        if at in restarts:
            out.append(RESTART)
        table = rng.choice(schema.tables)
        w.progress = at / count
        lines = block(w, table)
        if rng.random() < 0.01:
            lines = wrong.broken(w, lines)
        out.append(lines)
    return out + [reads.whole(w, t) for t in schema.tables]


def block(w, table):
    """One request; the first are mostly writes."""
    roll = w.rng.random()
    if roll < 0.02 and "alter" in w.features:
        return ddl.change(w, table)
    if roll < (0.65 if w.progress < 0.3 else 0.4):
        return writes.batch(w, table) if w.rng.random() < 0.12 else writes.write(w, table)
    return reads.whole(w, table) if roll > 0.97 else reads.read(w, table)
