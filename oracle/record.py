"""Runs .cqltest files against a stock node and rewrites them with what it answered. The format: tests/cql/README.md.

Usage: record.py ADDRESS FILE... Every user keyspace of the node is dropped before each file.
"""
import re
import sys

import client
import values

HEAD = "# recorded from Apache Cassandra 5.0.9 by oracle/record.sh; format: README.md"


def escape(text):
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")


def comment(text):
    """Text for people: control characters by number, so that the file stays text to every tool."""
    return re.sub(r"[\x00-\x08\x0b-\x1f\x7f]", lambda m: "\\x%02x" % ord(m.group()), escape(text))


def settled(message):
    """Sorts what Cassandra lists in the order of identity hashes (signatures, columns), so that recordings repeat."""
    def ordered(m):
        return m.group(1) + ", ".join(sorted(re.split(r", (?=\S+ : \()", m.group(2)))) + ")"
    def columns(m):
        return m.group(1) + " ,".join(sorted(m.group(2).split(" ,")))
    message = re.sub(r"(restriction was found for the (?:start|end) bound on )(.* ,.*)$", columns, message)
    message = re.sub(r"(^|Column \")(\w+(?: ,\w+)+)(?=\"? cannot be restricted by )", columns, message)
    message = re.sub(r"(known type signatures: )(.*)\)$", ordered, message)
    return re.sub(r"(matched by following signatures: )(.*)\)(?=: use type casts)", ordered, message)


def unescape(text):
    out, i = [], 0
    while i < len(text):
        if text[i] == "\\":
            i += 1
            out.append({"n": "\n", "r": "\r", "t": "\t", "\\": "\\"}[text[i]])
        else:
            out.append(text[i])
        i += 1
    return "".join(out)


def parse_value(token):
    if token in ("null", "unset"):
        return None if token == "null" else client.UNSET
    parts = (part.partition("*") for part in token.replace("-", "").split("+"))
    return b"".join(bytes.fromhex(piece) * int(count or 1) for piece, _, count in parts)


def show(value):
    return "null" if value is None else value.hex() or "-"


class Case:
    """One block of a file: comments, directives, statements with their values."""

    def __init__(self, lines):
        self.kept, self.options, self.statements, pending = [], {}, [], []
        for line in lines:
            if line.startswith("#"):
                self.kept.append(line)
            elif line.startswith("@"):
                self.kept.append(line)
                name, _, rest = line[1:].partition(" ")
                if name == "values":
                    pending = [parse_value(t) for t in rest.split()]
                else:
                    self.options[name] = rest
            elif line.startswith("cql: "):
                self.kept.append(line)
                self.statements.append((unescape(line[5:]), pending))
                pending = []

    def common(self):
        o, out = self.options, {}
        if "consistency" in o:
            out["consistency"] = o["consistency"]
        if "serial" in o:
            out["serial"] = o["serial"]
        if "timestamp" in o:
            out["timestamp"] = int(o["timestamp"])
        if "keyspace" in o:
            out["keyspace"] = o["keyspace"]
        if "now" in o:
            out["now"] = int(o["now"])
        return out


class Runner:
    def __init__(self, address, port=9042):
        self.address, self.port, self.connections = address, port, {}

    def connection(self, version):
        if version not in self.connections:
            self.connections[version] = client.Client(self.address, version, self.port)
        return self.connections[version]

    def run(self, case):
        """Executes one case, returns the answer's lines."""
        connection = self.connection(int(case.options.get("protocol", "5")))
        options = case.common()
        if "batch" in case.options:
            return self.lines(connection.batch(case.options["batch"], case.statements, **options))
        text, bound = case.statements[0]
        if "names" in case.options:
            options["names"] = case.options["names"].split()
        options["values"] = bound
        options["page_size"] = int(case.options["page_size"]) if "page_size" in case.options else None
        options["paging_state"] = parse_value(case.options["paging"]) if "paging" in case.options else None
        out, prepared = [], None
        if "prepare" in case.options:
            prepared = connection.prepare(text, options.get("keyspace"))
            out += self.lines(prepared)
            if prepared.kind == "error" or case.options["prepare"] == "only":
                return out
            options.pop("keyspace", None)
        answer = connection.execute(prepared, **options) if prepared else connection.query(text, **options)
        out += self.lines(answer)
        while answer.kind == "rows" and answer.paging_state is not None:
            options["paging_state"] = answer.paging_state
            answer = connection.execute(prepared, **options) if prepared else connection.query(text, **options)
            out += self.lines(answer, first=False)
        return out

    def lines(self, answer, first=True):
        out = ["warning: " + escape(w) for w in answer.warnings]
        if answer.kind == "error":
            return out + ["error: 0x%04x %s" % (answer.code, escape(settled(answer.message)))] + ["field: %s %s" % f for f in answer.fields]
        if answer.kind == "prepared":
            out.append("prepared: id %s metadata %s" % (answer.id.hex(), answer.metadata_id.hex() if answer.metadata_id else "none"))
            out.append("pk: " + (" ".join(map(str, answer.pk_indexes)) or "none"))
            out += ["bind: %s %s %s %s" % (c[0], c[1], escape(c[2]).replace(" ", "\\s"), c[3]) for c in answer.binds]
            return out + ["result: %s %s %s %s" % (c[0], c[1], escape(c[2]).replace(" ", "\\s"), c[3]) for c in answer.columns]
        if answer.kind == "set_keyspace":
            return out + ["set_keyspace: " + answer.name]
        if answer.kind == "schema_change":
            return out + ["schema_change: " + " ".join(answer.change)]
        if answer.kind == "void":
            return out + ["void"]
        if first:
            out += ["column: %s %s %s %s" % (c[0], c[1], escape(c[2]).replace(" ", "\\s"), c[3]) for c in answer.columns]
        out.append("rows: %d" % len(answer.rows))
        for row in answer.rows:
            text = " | ".join(values.readable(c[3], v) for c, v in zip(answer.columns, row))
            out.append(("row: %s # %s" % (" ".join(show(v) for v in row), comment(text))) if row else "row:")
        if answer.paging_state is not None:
            out.append("page: " + answer.paging_state.hex())
        return out


def clean(address):
    connection = client.Client(address, 5)
    for (name,) in connection.query("SELECT keyspace_name FROM system_schema.keyspaces").rows:
        if not name.startswith(b"system"):
            connection.query('DROP KEYSPACE "%s"' % name.decode())


def record(address, path):
    with open(path, encoding="utf-8") as f:
        lines = [line for line in f.read().split("\n") if line != HEAD]
    blocks, block = [], []
    for line in lines + [""]:
        if line:
            block.append(line)
        elif block:
            blocks.append(block)
            block = []
    clean(address)
    runner, out, count = Runner(address), [HEAD], 0
    for block in blocks:
        case = Case(block)
        out += [""] + case.kept
        if case.statements:
            count += 1
            try:
                out += runner.run(case)
            except Exception as e:
                raise SystemExit("%s: %s: %r" % (path, case.statements[0][0], e)) from e
    with open(path, "w", encoding="utf-8") as f:
        f.write("\n".join(out) + "\n")
    print("%s: %d cases" % (path, count))


if __name__ == "__main__":
    import interned  # which needs this module

    interned.settle(sys.argv[1])
    for name in sys.argv[2:]:
        record(sys.argv[1], name)
    clean(sys.argv[1])
