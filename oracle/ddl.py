"""Runs ddl.cql against a node and records each statement's timestamp and the schema version after it.

Usage: ddl.py ADDRESS FILE OUTPUT.
"""
import struct
import sys
import uuid

import client

NEWEST = ["SELECT max(writetime(durable_writes)) FROM system_schema.keyspaces", "SELECT max(writetime(crc_check_chance)) FROM system_schema.tables",
          "SELECT max(writetime(kind)) FROM system_schema.columns", "SELECT max(writetime(field_names)) FROM system_schema.types",
          "SELECT max(writetime(kind)) FROM system_schema.dropped_columns"]


def newest(connection):
    found = [connection.query(q).rows[0][0] for q in NEWEST]
    return max(struct.unpack(">q", v)[0] for v in found if v)


def main():
    address, source, output = sys.argv[1:4]
    connection = client.Client(address, 5)
    before, lines = newest(connection), []
    with open(source, encoding="utf-8") as f:
        for statement in f.read().splitlines():
            answer = connection.query(statement)
            if answer.kind != "schema_change":
                raise SystemExit("%s: %s" % (statement, getattr(answer, "message", answer.kind)))
            after = newest(connection)
            version = connection.query("SELECT schema_version FROM system.local").rows[0][0]
            lines.append("ddl | %s | %s | %s | %s" % (after if after > before else "none", uuid.UUID(bytes=version), " ".join(answer.change), statement))
            before = after
    with open(output, "w", encoding="utf-8") as f:
        f.write("# recorded from Apache Cassandra 5.0.9\n"
                "# ddl | timestamp of what the statement wrote ('none': it left nothing new to read) | schema_version after it | schema change event | statement\n"
                "# the resulting rows, cell for cell: schema_digest_user.txt; before the first statement: schema_digest_empty.txt\n")
        f.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
