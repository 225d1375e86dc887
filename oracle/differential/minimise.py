"""Shrinks a failing seed to the few blocks that make one difference, and writes them as a recorded .cqltest file.

Blocks are left out by delta debugging, each attempt in a keyspace of its own; then words of the last statement. An
attempt counts when its last block differs with the same signature; what differs before it is not looked at.
"""
import collections
import itertools
import pathlib

import record

from . import seeds

CASES = pathlib.Path(__file__).parents[2] / "tests/cql"
WORDS_TRIED_MAX = 300


class Shrink:
    """One difference of one seed."""

    attempts = itertools.count(1)

    def __init__(self, run, number, blocks, signature):
        self.run, self.number, self.signature, self.name = run, number, signature, "found_%d_%d" % (number, len(blocks))
        self.head, self.middle, self.last = blocks[:2], [b for b in blocks[2:-1]], blocks[-1]

    def renamed(self, blocks, name):
        """The blocks in a keyspace of another name."""
        return [[line.replace(seeds.keyspace(self.number), name) if line.startswith("cql: ") else line for line in b] for b in blocks]

    def attempt(self, middle, last):
        """Whether these blocks still end in the difference."""
        name = "%s_%d" % (seeds.keyspace(self.number), next(self.attempts))
        try:
            for block in self.renamed(self.head + middle, name):
                if block == seeds.RESTART:
                    self.run.restart()
                    block = self.renamed(self.head, name)[1]
                self.run.one(record.Case(block), collections.Counter())
            return self.differs(self.renamed([last], name)[0])
        finally:
            self.run.left.append(name)
            self.run.drop()

    def differs(self, block):
        verdict, _ = self.run.one(record.Case(block), collections.Counter())
        return verdict.different and verdict.signature == self.signature

    def blocks(self):
        """Leaves out parts of the middle, halves first, until no single block can go."""
        size = max(1, len(self.middle) // 2)
        while True:
            at, shrunk = 0, False
            while at < len(self.middle):
                rest = self.middle[:at] + self.middle[at + size:]
                if self.attempt(rest, self.last):
                    self.middle, shrunk = rest, True
                else:
                    at += size
            if size == 1 and not shrunk:
                return
            size = max(1, size // 2)

    def words(self):
        """Leaves words out of a last SELECT, in one keyspace, as reads change nothing."""
        if not self.last[-1].startswith("cql: SELECT"):
            return
        name = seeds.keyspace(self.number) + "_w"
        for block in self.renamed(self.head + [b for b in self.middle if b != seeds.RESTART], name):
            self.run.one(record.Case(block), collections.Counter())
        tries, size = 0, 8
        while size:
            at, words = 0, self.last[-1][5:].split(" ")
            while at < len(words) and tries < WORDS_TRIED_MAX:
                tries += 1
                rest = words[:at] + words[at + size:]
                shorter = self.last[:-1] + ["cql: " + " ".join(rest)]
                if self.differs(self.renamed([shorter], name)[0]):
                    words, self.last = rest, shorter
                else:
                    at += 1
            size //= 2
        self.run.left.append(name)
        self.run.drop()

    def write(self):
        """Writes the case; the recorder fills in what Cassandra answers."""
        path = CASES / (self.name + ".cqltest")
        blocks = self.renamed(self.head + self.middle + [self.last], self.name)
        blocks = [b if b != seeds.RESTART else ["# (here the seed had a restart)"] for b in blocks]
        blocks[-1] = ["# " + self.signature] + blocks[-1]
        path.write_text("\n\n".join("\n".join(b) for b in blocks) + "\n")
        record.record(self.run.cassandra[0], str(path))


def seed(run, number):
    """Shrinks and writes the differences of a seed."""
    blocks = seeds.blocks(number, run.features)
    _, differences = run.blocks(blocks, seeds.keyspace(number))
    for index, verdict in differences:
        shrink = Shrink(run, number, blocks[:index + 1], verdict.signature)
        if not shrink.attempt(shrink.middle, shrink.last):
            print("seed %d, block %d: the difference did not come again" % (number, index))
            continue
        shrink.blocks()
        shrink.words()
        shrink.write()
