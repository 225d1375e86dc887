"""The Python driver (cassandra-driver) against a node: every protocol version it speaks.

The node's address comes from BASALT_HOST and BASALT_PORT, and BASALT_RESTART is the command that
restarts it. Run against Apache Cassandra, everything but the restart passes as well.
"""

import datetime
import decimal
import os
import subprocess
import threading
import unittest
import uuid

from cassandra import ConsistencyLevel, InvalidRequest, Unavailable
from cassandra.cluster import EXEC_PROFILE_DEFAULT, Cluster, ExecutionProfile
from cassandra.policies import FallthroughRetryPolicy, WhiteListRoundRobinPolicy
from cassandra.query import (UNSET_VALUE, BatchStatement, BatchType, SimpleStatement, dict_factory,
                             tuple_factory)
from cassandra.util import Date, Duration, OrderedMapSerializedKey, SortedSet, Time

HOST, PORT = os.environ["BASALT_HOST"], int(os.environ["BASALT_PORT"])
VERSIONS = (3, 4, 5)

TIMEUUID = uuid.UUID("137157a0-c395-11f0-8000-000000000000")

# One column a type: CQL type, the value written, the value read.
SCALARS = [
    ("ascii", "plain"),
    ("bigint", -(2 ** 63)),
    ("blob", bytes(range(256))),
    ("boolean", True),
    ("date", Date("2017-03-11")),
    ("decimal", decimal.Decimal("-12345678901234567890.0987654321")),
    ("double", 0.1),
    ("duration", Duration(14, 3, 4_000_000_005)),
    ("float", 1.5),
    ("inet", "2001:db8::1"),
    ("int", 2 ** 31 - 1),
    ("smallint", -32768),
    ("text", "é漢😀"),
    ("time", Time("08:12:54.123456789")),
    ("timestamp", datetime.datetime(2011, 2, 3, 4, 5, 6, 789000)),
    ("timeuuid", TIMEUUID),
    ("tinyint", -128),
    ("uuid", uuid.UUID("550e8400-e29b-41d4-a716-446655440000")),
    ("varint", 2 ** 200 + 1),
]
COLLECTIONS = [
    ("list<int>", [3, 1, 3]),
    ("frozen<list<text>>", ["b", "a"]),
    ("set<text>", SortedSet(["a", "b"])),
    ("frozen<set<int>>", SortedSet([1, 2])),
    ("map<text, int>", {"a": 1, "b": 2}),
    ("frozen<map<int, frozen<list<int>>>>", {1: [1, 2]}),
    ("tuple<int, text, boolean>", (1, None, True)),
    ("vector<float, 3>", [1.0, 2.5, -3.0]),
]


def connect(version, **options):
    profile = ExecutionProfile(load_balancing_policy=WhiteListRoundRobinPolicy([HOST]),
                               retry_policy=FallthroughRetryPolicy(), request_timeout=60)
    return Cluster([HOST], port=PORT, protocol_version=version,
                   execution_profiles={EXEC_PROFILE_DEFAULT: profile}, **options)


class DriverTest(unittest.TestCase):
    """Runs its tests once for each protocol version."""

    version = None

    @classmethod
    def setUpClass(cls):
        if cls.version is None:
            raise unittest.SkipTest("run by its subclasses")
        cls.cluster = connect(cls.version)
        cls.session = cls.cluster.connect()
        cls.keyspace = f"drv_python_v{cls.version}"
        cls.session.execute(f"DROP KEYSPACE IF EXISTS {cls.keyspace}")
        cls.session.execute(f"CREATE KEYSPACE {cls.keyspace} WITH replication = "
                            "{'class': 'SimpleStrategy', 'replication_factor': 1}")
        cls.session.set_keyspace(cls.keyspace)

    @classmethod
    def tearDownClass(cls):
        if cls.version is not None:
            cls.session.execute(f"DROP KEYSPACE {cls.keyspace}")
            cls.cluster.shutdown()

    def test_speaks_the_version_asked_for(self):
        self.assertEqual(self.cluster.protocol_version, self.version)
        row = self.session.execute("SELECT * FROM system.local WHERE key = 'local'").one()
        self.assertTrue(row.release_version.startswith("5.0."))
        self.assertEqual(row.bootstrapped, "COMPLETED")

    def test_every_type_round_trips_prepared_and_simple(self):
        columns = SCALARS + COLLECTIONS
        names = [f"c{i}" for i in range(len(columns))]
        definitions = ", ".join(f"{n} {t}" for n, (t, _) in zip(names, columns))
        self.session.execute(f"CREATE TABLE all_types (k int PRIMARY KEY, {definitions})")
        insert = self.session.prepare(
            f"INSERT INTO all_types (k, {', '.join(names)}) VALUES ({', '.join('?' * (len(names) + 1))})")
        self.session.execute(insert, [1] + [value for _, value in columns])
        select = self.session.prepare(f"SELECT {', '.join(names)} FROM all_types WHERE k = ?")
        self.assert_values(columns, self.session.execute(select, [1]).one())
        self.assert_values(columns, self.session.execute(
            f"SELECT {', '.join(names)} FROM all_types WHERE k = 1").one())
        self.session.execute(insert, [2] + [None] * len(names))
        self.assertEqual(set(self.session.execute(select, [2]).one()), {None})

    def assert_values(self, columns, row):
        for (cql_type, written), read in zip(columns, row):
            if isinstance(read, OrderedMapSerializedKey):
                read = dict(read.items())
            self.assertEqual(read, written, cql_type)

    def test_udt(self):
        self.session.execute("CREATE TYPE address (street text, zip int, phones frozen<set<text>>)")
        self.session.execute("CREATE TABLE people (k int PRIMARY KEY, home address, work frozen<address>)")
        insert = self.session.prepare("INSERT INTO people (k, home, work) VALUES (?, ?, ?)")
        self.session.execute(insert, [1, ("Main St", 1, {"1", "2"}), ("Side St", None, None)])
        row = self.session.execute("SELECT home, work FROM people WHERE k = 1").one()
        self.assertEqual((row.home.street, row.home.zip, set(row.home.phones)), ("Main St", 1, {"1", "2"}))
        self.assertEqual((row.work.street, row.work.zip, row.work.phones), ("Side St", None, None))
        self.session.execute("UPDATE people SET home.zip = 7 WHERE k = 1")
        self.assertEqual(self.session.execute("SELECT home.zip FROM people WHERE k = 1").one()[0], 7)

    def test_unset_values_leave_columns_alone(self):
        self.session.execute("CREATE TABLE unset_test (k int PRIMARY KEY, a int, b int)")
        insert = self.session.prepare("INSERT INTO unset_test (k, a, b) VALUES (?, ?, ?)")
        self.session.execute(insert, [1, 1, 1])
        if self.version == 3:
            self.assertRaises(ValueError, self.session.execute, insert, [1, UNSET_VALUE, 2])
            return
        self.session.execute(insert, [1, UNSET_VALUE, 2])
        self.assertEqual(self.session.execute("SELECT a, b FROM unset_test WHERE k = 1").one(), (1, 2))

    def test_batches(self):
        self.session.execute("CREATE TABLE batches (k int, c int, v text, PRIMARY KEY (k, c))")
        insert = self.session.prepare("INSERT INTO batches (k, c, v) VALUES (?, ?, ?)")
        for kind in (BatchType.LOGGED, BatchType.UNLOGGED):
            batch = BatchStatement(kind)
            for c in range(5):
                batch.add(insert, (kind.value, c, "prepared"))
            batch.add(SimpleStatement("INSERT INTO batches (k, c, v) VALUES (%s, %s, %s)"), (kind.value, 9, "simple"))
            self.session.execute(batch)
            rows = list(self.session.execute("SELECT c FROM batches WHERE k = %s", [kind.value]))
            self.assertEqual([row.c for row in rows], [0, 1, 2, 3, 4, 9])
        self.session.execute("BEGIN BATCH DELETE FROM batches WHERE k = 0 AND c = 0; "
                             "UPDATE batches SET v = 'x' WHERE k = 0 AND c = 1; APPLY BATCH")
        rows = list(self.session.execute("SELECT c, v FROM batches WHERE k = 0 LIMIT 1"))
        self.assertEqual(rows, [(1, "x")])

    def test_paging_returns_every_row_once(self):
        self.session.execute("CREATE TABLE pages (k int, c int, PRIMARY KEY (k, c)) WITH CLUSTERING ORDER BY (c DESC)")
        insert = self.session.prepare("INSERT INTO pages (k, c) VALUES (?, ?)")
        expected = {(k, c) for k in range(7) for c in range(50)}
        for key in expected:
            self.session.execute(insert, key)
        for page_size in (1, 7, 50, 349, 350, 1000):
            seen = [tuple(row) for row in self.session.execute(
                SimpleStatement("SELECT k, c FROM pages", fetch_size=page_size))]
            self.assertEqual(len(seen), len(expected), page_size)
            self.assertEqual(set(seen), expected, page_size)
        ascending = self.session.execute(
            SimpleStatement("SELECT c FROM pages WHERE k = 3 ORDER BY c ASC LIMIT 20", fetch_size=6))
        self.assertEqual([row.c for row in ascending], list(range(20)))
        first = self.session.execute(SimpleStatement("SELECT c FROM pages WHERE k = 3", fetch_size=10))
        resumed = self.session.execute(SimpleStatement("SELECT c FROM pages WHERE k = 3", fetch_size=40),
                                       paging_state=first.paging_state)
        self.assertEqual([row.c for row in resumed], list(range(39, -1, -1)))

    def test_conditional_writes(self):
        self.session.execute("CREATE TABLE lwt (k int PRIMARY KEY, v int)")
        self.assertTrue(self.session.execute("INSERT INTO lwt (k, v) VALUES (1, 1) IF NOT EXISTS").was_applied)
        again = self.session.execute("INSERT INTO lwt (k, v) VALUES (1, 2) IF NOT EXISTS")
        self.assertFalse(again.was_applied)
        prepared = self.session.prepare("UPDATE lwt SET v = ? WHERE k = 1 IF v = ?")
        self.assertFalse(self.session.execute(prepared, [3, 2]).was_applied)
        self.assertTrue(self.session.execute(prepared, [3, 1]).was_applied)

    def test_errors_have_cassandras_codes(self):
        with self.assertRaises(InvalidRequest):
            self.session.execute("SELECT * FROM no_such_table")
        with self.assertRaises(InvalidRequest):
            self.session.execute("SELECT * FROM system.scylla_nothing")
        self.session.execute("CREATE KEYSPACE IF NOT EXISTS drv_rf3 WITH replication = "
                             "{'class': 'SimpleStrategy', 'replication_factor': 3}")
        self.session.execute("CREATE TABLE IF NOT EXISTS drv_rf3.t (k int PRIMARY KEY)")
        quorum = SimpleStatement("SELECT * FROM drv_rf3.t WHERE k = 1", consistency_level=ConsistencyLevel.QUORUM)
        with self.assertRaises(Unavailable) as caught:
            self.session.execute(quorum)
        self.assertEqual((caught.exception.required_replicas, caught.exception.alive_replicas), (2, 1))
        self.session.execute("DROP KEYSPACE drv_rf3")

    def test_compression(self):
        for algorithm in ("lz4", "snappy"):
            if algorithm == "snappy" and self.version == 5:
                continue  # v5 has LZ4 alone
            cluster = connect(self.version, compression=algorithm)
            try:
                session = cluster.connect(self.keyspace)
                session.execute(f"CREATE TABLE {algorithm}_test (k int PRIMARY KEY, v text)")
                text = "compressible " * 5000
                session.execute(f"INSERT INTO {algorithm}_test (k, v) VALUES (1, %s)", [text])
                self.assertEqual(session.execute(f"SELECT v FROM {algorithm}_test").one().v, text)
            finally:
                cluster.shutdown()

    def test_metadata_follows_schema_changes(self):
        other = connect(self.version)
        try:
            session = other.connect(self.keyspace)
            session.execute("CREATE TABLE events_test (k int, c text, s int static, v int, PRIMARY KEY (k, c)) "
                            "WITH CLUSTERING ORDER BY (c DESC) AND comment = 'one'")
            session.execute("ALTER TABLE events_test ADD w map<text, int>")
            session.execute("DROP TABLE IF EXISTS events_gone")
        finally:
            other.shutdown()
        done = threading.Event()
        for _ in range(100):
            table = self.cluster.metadata.keyspaces[self.keyspace].tables.get("events_test")
            if table and "w" in table.columns:
                break
            done.wait(0.1)
        self.assertIn("w", table.columns)
        self.assertEqual([column.name for column in table.primary_key], ["k", "c"])
        self.assertTrue(table.columns["s"].is_static)
        self.assertIn("CLUSTERING ORDER BY (c DESC)", table.export_as_string())
        self.cluster.refresh_schema_metadata()
        self.assertTrue(self.cluster.control_connection.wait_for_schema_agreement())

    def test_named_values_and_row_factories(self):
        self.session.execute("CREATE TABLE named (k int PRIMARY KEY, v text)")
        insert = self.session.prepare("INSERT INTO named (k, v) VALUES (:key, :val)")
        self.session.execute(insert, {"key": 1, "val": "x"})
        profile = self.session.execution_profile_clone_update(EXEC_PROFILE_DEFAULT, row_factory=dict_factory)
        row = self.session.execute("SELECT k, v AS value FROM named", execution_profile=profile).one()
        self.assertEqual(row, {"k": 1, "value": "x"})
        profile = self.session.execution_profile_clone_update(EXEC_PROFILE_DEFAULT, row_factory=tuple_factory)
        self.assertEqual(self.session.execute("SELECT count(*) FROM named", execution_profile=profile).one(), (1,))

    def test_warnings_reach_the_client(self):
        if self.version == 3:
            return  # warnings came with v4
        self.session.execute("CREATE TABLE warned (k int PRIMARY KEY, v text)")
        insert = self.session.prepare("INSERT INTO warned (k, v) VALUES (?, ?)")
        batch = BatchStatement(BatchType.UNLOGGED)
        for k in range(20):
            batch.add(insert, (k, "x" * 500))
        future = self.session.execute_async(batch)
        future.result()
        self.assertTrue(any("exceeding specified threshold" in warning for warning in future.warnings), future.warnings)

    @unittest.skipUnless(os.environ.get("BASALT_RESTART"), "no command to restart the node")
    def test_statements_are_prepared_again_after_a_restart(self):
        self.session.execute("CREATE TABLE restarted (k int PRIMARY KEY, v text)")
        insert = self.session.prepare("INSERT INTO restarted (k, v) VALUES (?, ?)")
        self.session.execute(insert, [1, "before"])
        subprocess.run(os.environ["BASALT_RESTART"].split(), check=True, timeout=60)
        self.execute_when_back(insert, [2, "after"])
        rows = {row.k: row.v for row in self.session.execute("SELECT k, v FROM restarted")}
        self.assertEqual(rows, {1: "before", 2: "after"})

    def execute_when_back(self, statement, values):
        """The driver reconnects in its own time; an insert may be sent again."""
        back = threading.Event()
        for attempt in range(120):
            try:
                return self.session.execute(statement, values)
            except Exception:  # pylint: disable=broad-except  # whatever a lost connection raises
                if attempt == 119:
                    raise
                back.wait(0.25)


for _version in VERSIONS:
    _name = f"DriverV{_version}Test"
    globals()[_name] = type(_name, (DriverTest,), {"version": _version})


class NegotiationTest(unittest.TestCase):
    """A driver that names no version steps down to the best both speak."""

    def test_steps_down(self):
        cluster = Cluster([HOST], port=PORT)
        try:
            self.assertEqual(cluster.connect().execute("SELECT key FROM system.local").one().key, "local")
            self.assertEqual(cluster.protocol_version, 5)
        finally:
            cluster.shutdown()


if __name__ == "__main__":
    unittest.main(verbosity=2)
