"""Runs ../features.txt through the Python driver: each part of the data language once.

The node's address comes from BASALT_HOST and BASALT_PORT. With --record the answers in the file are
rewritten with what the node said; that node has to be Apache Cassandra.
"""

import ast
import os
import re
import sys
import unittest
from decimal import Decimal

from cassandra import DriverException
from cassandra.cluster import EXEC_PROFILE_DEFAULT, Cluster, ExecutionProfile
from cassandra.encoder import Encoder
from cassandra.policies import WhiteListRoundRobinPolicy
from cassandra.protocol import ErrorMessage
from cassandra.query import UNSET_VALUE, SimpleStatement, tuple_factory

HOST, PORT = os.environ["BASALT_HOST"], int(os.environ["BASALT_PORT"])
FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "features.txt")
KEYSPACE = "drv_features"
ANSWERS = ("row: ", "warning: ", "error: ")
WORDS = {"null": None, "unset": UNSET_VALUE}


def value(literal):
    """The Python value of a CQL literal; what they write alike is all that the file uses."""
    return WORDS[literal] if literal in WORDS else ast.literal_eval(literal)


class Show(Encoder):
    """Values as CQL literals, as the Java driver's codecs write them."""

    def all(self, v):
        if isinstance(v, tuple) and hasattr(v, "_fields"):
            return "{" + ",".join(f"{n}:{self.all(f)}" for n, f in zip(v._fields, v)) + "}"
        if isinstance(v, tuple):
            return "(" + ",".join(map(self.all, v)) + ")"
        if isinstance(v, (bool, Decimal)):
            return str(v).lower()
        return re.sub(r"(?<=[,:]) ", "", self.cql_encode_all_types(v))


SHOW = Show()


class Session:
    """One keyspace, made anew; answers are lines of the file."""

    def __init__(self):
        profile = ExecutionProfile(load_balancing_policy=WhiteListRoundRobinPolicy([HOST]), request_timeout=60,
                                   row_factory=tuple_factory)
        self.cluster = Cluster([HOST], port=PORT, execution_profiles={EXEC_PROFILE_DEFAULT: profile})
        self.session = self.cluster.connect()
        self.session.execute(f"DROP KEYSPACE IF EXISTS {KEYSPACE}")
        self.session.execute(f"CREATE KEYSPACE {KEYSPACE} WITH replication = "
                             "{'class': 'SimpleStrategy', 'replication_factor': 1}")
        self.session.set_keyspace(KEYSPACE)

    def close(self):
        self.session.execute(f"DROP KEYSPACE {KEYSPACE}")
        self.cluster.shutdown()

    def answer(self, cql, options):
        try:
            if "values" in options:
                statement = self.session.prepare(cql).bind([value(v) for v in options["values"].split(" | ")])
            else:
                statement = SimpleStatement(cql)
            statement.fetch_size = int(options.get("page_size", 5000)) or None
            result = self.session.execute(statement)
            warnings = ["warning: " + w for w in result.response_future.warnings or []]
            return warnings + ["row: " + " | ".join(map(SHOW.all, row)) for row in result]
        except (DriverException, ErrorMessage) as e:
            text = re.search(r'message="(.*)"', str(e), re.S)
            if text is None:
                raise
            return ["error: " + text.group(1)]


def blocks(lines):
    """(lines of a statement and its directives, its recorded answer), and (other lines, None) between them."""
    asked, recorded = [], []
    for line in lines + [""]:
        if line.startswith(ANSWERS):
            recorded.append(line)
            continue
        if asked and asked[-1].startswith("cql: "):
            yield asked, recorded
            asked, recorded = [], []
        if line.startswith(("@", "cql: ")):
            asked.append(line)
        else:
            yield [line], None


def ask(session, asked):
    options = dict(line[1:].split(" ", 1) for line in asked if line.startswith("@"))
    return session.answer(asked[-1].removeprefix("cql: "), options)


class FeaturesTest(unittest.TestCase):
    def test_features(self):
        with open(FILE, encoding="utf-8") as file:
            lines = file.read().splitlines()
        session, feature, asked_for = Session(), None, 0
        try:
            for asked, recorded in blocks(lines):
                if recorded is None:
                    feature = asked[0].removeprefix("feature: ") if asked[0].startswith("feature: ") else feature
                    continue
                asked_for += 1
                with self.subTest(feature=feature, cql=asked):
                    self.assertEqual(ask(session, asked), recorded)
        finally:
            session.close()
        self.assertGreater(asked_for, 100)


def record():
    with open(FILE, encoding="utf-8") as file:
        lines = file.read().splitlines()
    session, out = Session(), []
    for asked, recorded in blocks(lines):
        out += asked + (ask(session, asked) if recorded is not None else [])
    session.close()
    with open(FILE, "w", encoding="utf-8") as file:
        file.write("\n".join(out).rstrip("\n") + "\n")


if __name__ == "__main__":
    if sys.argv[1:] == ["--record"]:
        record()
    else:
        unittest.main()
