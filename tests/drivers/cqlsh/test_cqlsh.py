"""cqlsh of Cassandra 5.0 against a node: DESCRIBE, COPY both ways, paging, errors.

BASALT_CQLSH is the program; the node's address comes from BASALT_HOST and BASALT_PORT. Run against
Apache Cassandra it passes as well.
"""

import csv
import os
import subprocess
import tempfile
import unittest

HOST, PORT, CQLSH = os.environ["BASALT_HOST"], os.environ["BASALT_PORT"], os.environ["BASALT_CQLSH"]
KEYSPACE = "drv_cqlsh"


def cqlsh(text, expect_failure=False):
    done = subprocess.run([CQLSH, HOST, PORT], input=text, capture_output=True, text=True, timeout=120,
                          env={**os.environ, "PYTHONWARNINGS": "ignore"})
    if not expect_failure and (done.returncode != 0 or done.stderr):
        raise AssertionError(f"cqlsh ended with {done.returncode}\n{done.stdout}\n{done.stderr}")
    lines = done.stdout.splitlines(keepends=True)
    # cqlsh compares the patch version of the server with the one it was built for.
    text = "".join(line for line in lines if not line.startswith("WARNING: cqlsh was built against"))
    return text + (done.stderr if expect_failure else "")


class CqlshTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cqlsh(f"""
            DROP KEYSPACE IF EXISTS {KEYSPACE};
            CREATE KEYSPACE {KEYSPACE} WITH replication = {{'class': 'SimpleStrategy', 'replication_factor': 1}};
            CREATE TYPE {KEYSPACE}.address (street text, zip int);
            CREATE TABLE {KEYSPACE}.people (
                id uuid, born date, name text, tags set<text>, home frozen<address>, town text static,
                PRIMARY KEY (id, born)) WITH CLUSTERING ORDER BY (born DESC) AND comment = 'those we know';
            CREATE TABLE {KEYSPACE}.numbers (k int PRIMARY KEY, v text);
        """)

    @classmethod
    def tearDownClass(cls):
        cqlsh(f"DROP KEYSPACE {KEYSPACE};")

    def test_banner_and_versions(self):
        text = cqlsh("SHOW VERSION; SHOW HOST;")
        self.assertIn("Cassandra 5.0.", text)
        self.assertIn("CQL spec 3.4.7", text)

    def test_describe(self):
        table = cqlsh(f"DESCRIBE TABLE {KEYSPACE}.people;")
        for line in (f"CREATE TABLE {KEYSPACE}.people (", "    id uuid,", "    town text static,",
                     "    PRIMARY KEY (id, born)", ") WITH CLUSTERING ORDER BY (born DESC)",
                     "    AND comment = 'those we know'", "    AND gc_grace_seconds = 864000"):
            self.assertIn(line, table)
        keyspace = cqlsh(f"DESCRIBE KEYSPACE {KEYSPACE};")
        self.assertIn(f"CREATE TYPE {KEYSPACE}.address (", keyspace)
        self.assertLess(keyspace.index("CREATE TYPE"), keyspace.index("CREATE TABLE"))
        self.assertIn("people", cqlsh(f"USE {KEYSPACE}; DESCRIBE TABLES;"))
        self.assertIn(KEYSPACE, cqlsh("DESCRIBE KEYSPACES;"))
        self.assertIn("address", cqlsh(f"USE {KEYSPACE}; DESC TYPES;"))
        self.assertIn("Murmur3Partitioner", cqlsh("DESCRIBE CLUSTER;"))
        self.assertIn("CREATE KEYSPACE system_auth", cqlsh("DESCRIBE FULL SCHEMA;"))
        self.assertIn("VIRTUAL TABLE system_views.settings", cqlsh("DESCRIBE TABLE system_views.settings;"))
        self.assertIn("not found", cqlsh(f"DESCRIBE TABLE {KEYSPACE}.nothing;", expect_failure=True))

    def test_described_schema_can_be_created_again(self):
        text = cqlsh(f"DESCRIBE KEYSPACE {KEYSPACE};").replace(f"{KEYSPACE}", f"{KEYSPACE}_copy")
        cqlsh(text)
        again = cqlsh(f"DESCRIBE KEYSPACE {KEYSPACE}_copy;")
        cqlsh(f"DROP KEYSPACE {KEYSPACE}_copy;")
        self.assertEqual(again, text)

    def test_rows_are_shown(self):
        text = cqlsh(f"""
            INSERT INTO {KEYSPACE}.people (id, born, name, tags, home, town) VALUES
                (550e8400-e29b-41d4-a716-446655440000, '1970-01-02', 'Ada', {{'b', 'a'}}, {{street: 'Main', zip: 1}}, 'X');
            SELECT * FROM {KEYSPACE}.people;
            EXPAND ON; SELECT name FROM {KEYSPACE}.people;
        """)
        self.assertIn("{street: 'Main', zip: 1}", text)
        self.assertIn("{'a', 'b'}", text)
        self.assertIn("1970-01-02", text)
        self.assertIn("(1 rows)", text)

    def test_paging(self):
        inserts = "\n".join(f"INSERT INTO {KEYSPACE}.pages (k) VALUES ({k});" for k in range(250))
        text = cqlsh(f"CREATE TABLE {KEYSPACE}.pages (k int PRIMARY KEY);\n" + inserts +
                     f"\nPAGING 20; SELECT k FROM {KEYSPACE}.pages; DROP TABLE {KEYSPACE}.pages;")
        self.assertIn("(250 rows)", text)

    def test_copy_both_ways(self):
        cqlsh(f"TRUNCATE {KEYSPACE}.numbers;")
        with tempfile.TemporaryDirectory() as folder:
            source, target = os.path.join(folder, "in.csv"), os.path.join(folder, "out.csv")
            rows = [[str(k), f"value, \"{k}\""] for k in range(1000)]
            with open(source, "w", newline="", encoding="utf-8") as file:
                csv.writer(file, escapechar="\\", doublequote=False).writerows(rows)
            text = cqlsh(f"COPY {KEYSPACE}.numbers (k, v) FROM '{source}' WITH NUMPROCESSES = 2;")
            self.assertIn("1000 rows imported from 1 files", text)
            text = cqlsh(f"COPY {KEYSPACE}.numbers (k, v) TO '{target}' WITH NUMPROCESSES = 2;")
            self.assertIn("1000 rows exported to 1 files", text)
            with open(target, newline="", encoding="utf-8") as file:
                read = list(csv.reader(file, escapechar="\\", doublequote=False))
            self.assertEqual(sorted(read, key=lambda row: int(row[0])), rows)

    def test_errors(self):
        self.assertIn("SyntaxException", cqlsh("SELEC 1;", expect_failure=True))
        self.assertIn("unconfigured table", cqlsh(f"SELECT * FROM {KEYSPACE}.none;", expect_failure=True)
                      .replace("does not exist", "unconfigured table"))
        text = cqlsh(f"SELECT * FROM {KEYSPACE}.people WHERE name = 'x';", expect_failure=True)
        self.assertIn("ALLOW FILTERING", text)

    def test_consistency_and_serial(self):
        text = cqlsh("CONSISTENCY QUORUM; SERIAL CONSISTENCY LOCAL_SERIAL; CONSISTENCY; "
                     f"SELECT count(*) FROM {KEYSPACE}.people;")
        self.assertIn("Consistency level set to QUORUM.", text)


if __name__ == "__main__":
    unittest.main(verbosity=2)
