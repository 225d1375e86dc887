"""Records a fresh node's own tables: schema rows, descriptions, settings, options, refusals of protocol versions.

Usage: schema.py ADDRESS DIRECTORY DATA_PATH. Writes one file per subject into DIRECTORY (documented in its README.md).
DATA_PATH is replaced by /var/lib/cassandra wherever it stands in an answer, its parent by /var/log/cassandra.
"""
import os
import sys

import client

HEAD = "# recorded from Apache Cassandra 5.0.9\n"
KEYSPACES = ["system", "system_schema", "system_auth", "system_traces", "system_distributed", "system_views", "system_virtual_schema"]
DUMPS = (["system_schema." + t for t in ("keyspaces", "tables", "columns", "column_masks", "dropped_columns", "triggers", "types", "functions",
                                         "aggregates", "indexes", "views")]
         + ["system_virtual_schema." + t for t in ("keyspaces", "tables", "columns")]
         + ["system.local", "system.peers", "system.peers_v2", "system_views.settings"])
DESCRIBES = ["DESCRIBE KEYSPACES", "DESCRIBE TABLES", "DESCRIBE TYPES", "DESCRIBE FUNCTIONS", "DESCRIBE AGGREGATES", "DESCRIBE CLUSTER", "DESCRIBE SCHEMA", "DESCRIBE FULL SCHEMA",
             "DESCRIBE TABLE system.local", "DESCRIBE TABLE system_virtual_schema.tables"] + ["DESCRIBE KEYSPACE " + k for k in KEYSPACES]


def escape(text):
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t").replace("|", "\\p")


def rows(connection, query):
    state, result = None, []
    while True:
        answer = connection.query(query, page_size=1000, paging_state=state)
        if answer.kind != "rows":
            raise SystemExit("%s: %s" % (query, answer.message))
        result += answer.rows
        state = answer.paging_state
        if state is None:
            return answer.columns, result


class Recorder:
    def __init__(self, address, directory, data_path):
        self.connection = client.Client(address, 5)
        self.address, self.directory, self.data_path = address, directory, data_path

    def write(self, name, text):
        path = os.path.join(self.directory, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text.replace(self.data_path, "/var/lib/cassandra").replace(os.path.dirname(self.data_path), "/var/log/cassandra"))

    def dumps(self):
        for table in DUMPS:
            _, found = rows(self.connection, "SELECT JSON * FROM " + table)
            self.write(table + ".jsonl", "".join(r[0].decode() + "\n" for r in found))

    def metadata(self):
        """Every system table's columns in the order and with the types of SELECT *."""
        lines = [HEAD + "# keyspace.table | name type | name type ...   in the order of SELECT *; type as the protocol says it\n"]
        for kind, keyspaces in (("system_schema", KEYSPACES[:5]), ("system_virtual_schema", KEYSPACES[5:])):
            _, found = rows(self.connection, "SELECT keyspace_name, table_name FROM %s.tables" % kind)
            for keyspace, table in sorted((a.decode(), b.decode()) for a, b in found):
                if keyspace in keyspaces:
                    answer = self.connection.query('SELECT * FROM %s."%s" LIMIT 1' % (keyspace, table))
                    what = ["%s %s" % c[2:] for c in answer.columns] if answer.kind == "rows" else ["error " + answer.message]
                    lines.append(" | ".join([keyspace + "." + table] + what) + "\n")
        self.write("metadata.txt", "".join(lines))

    def describes(self):
        lines = [HEAD + "# describe | statement, then its columns (name type), then one line per row: fields escaped (\\\\ \\n \\r \\t \\p = |)\n"]
        for statement in DESCRIBES:
            columns, found = rows(self.connection, statement)
            lines.append("describe | %s\ncolumns | %s\n" % (statement, " | ".join("%s.%s.%s %s" % c for c in columns)))
            for row in found:
                lines.append("row | " + " | ".join("null" if v is None else escape(v.decode("utf-8", "backslashreplace")) for v in row) + "\n")
        self.write("describe.txt", "".join(lines))

    def handshake(self):
        lines = [HEAD + "# supported | protocol version | option | values\n"
                 "# refused | protocol version asked for | request | answer's version byte | flags | opcode | body (hex)\n"]
        for version in (3, 4, 5):
            connection = client.Client(self.address, version)
            for option, values in sorted(connection.send("OPTIONS", b"").options):
                lines.append("supported | %d | %s | %s\n" % (version, option, ",".join(values)))
        for version in (1, 2, 6, 7, 66, 0):
            for request in ("OPTIONS", "STARTUP"):
                connection = client.Client(self.address, version, startup=False)
                connection.socket.settimeout(2)
                try:
                    v, flags, opcode, body = connection.raw(client.OPCODES[request], b"\0\1" + client.Client.s("CQL_VERSION") + client.Client.s("3.0.0") if request == "STARTUP" else b"")
                    lines.append("refused | %d | %s | %02x | %02x | %02x | %s\n" % (version, request, v, flags, opcode, body.hex()))
                except (EOFError, OSError) as e:
                    lines.append("refused | %d | %s | closed %s\n" % (version, request, type(e).__name__))
        self.write("handshake.txt", "".join(lines))


def main():
    recorder = Recorder(*sys.argv[1:4])
    recorder.dumps()
    recorder.metadata()
    recorder.describes()
    recorder.handshake()


if __name__ == "__main__":
    main()
