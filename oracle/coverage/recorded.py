"""Reads what tests/cql recorded: statements, errors, warnings, names of columns. It judges nothing."""
import glob
import os
import re


def unescape(text):
    return re.sub(r"\\([nrt\\])", lambda m: {"n": "\n", "r": "\r", "t": "\t", "\\": "\\"}[m.group(1)], text)


class Recorded:
    """All recorded cases: `statements`, `errors`, `warnings`, names of `columns`, (name, type) of `results`; how many requests, and how many of them differ."""

    def __init__(self, folder):
        self.statements, self.errors, self.warnings, self.columns, self.results = [], [], [], set(), set()
        self.requests, seen = 0, set()
        paths = sorted(glob.glob(os.path.join(folder, "*.cqltest")))
        self.files = len(paths)
        for path in paths:
            with open(path, encoding="utf-8") as f:
                for block in re.split(r"\n\n+", f.read()):
                    self.read(block.split("\n"), seen)
        self.different = len(seen)

    def read(self, lines, seen):
        lines = [line for line in lines if not line.startswith("#")]
        if not any(line.startswith("cql: ") for line in lines):
            return
        self.requests += 1
        seen.add(behaviour(lines))
        for line in lines:
            kind, _, rest = line.partition(": ")
            if kind == "cql":
                self.statements.append(unescape(rest))
            elif kind == "error":
                self.errors.append(unescape(rest[7:]))
            elif kind == "warning":
                self.warnings.append(unescape(rest))
            elif kind in ("column", "result", "bind"):
                _, _, name, of_type = rest.split(" ", 3)
                self.columns.add(name)
                if kind != "bind":
                    of_type = of_type.strip("'").replace("org.apache.cassandra.db.marshal.", "")
                    self.results.add((name.replace("\\s", " "), of_type))


def behaviour(lines):
    """What a request shows: its form and that of its answer. Names, numbers and texts count only by being there, except for
    the words of errors and warnings, so that two cases that only take other values are one behaviour."""
    form = []
    for line in lines:
        kind, _, rest = line.partition(" ")
        if kind in ("@values", "row:", "page:", "prepared:", "column:", "result:", "bind:", "field:", "schema_change:"):
            rest = " ".join("null" if token in ("null", "unset", "-") else "x" for token in rest.split(" # ")[0].split(" "))
        elif kind in ("cql:", "error:", "warning:"):
            rest = re.sub(r"'(?:[^']|'')*'|\"[^\"]*\"", "'x'", rest.lower())
            rest = re.sub(r"\b0x[0-9a-f]*\b|[0-9a-f]{8}-[0-9a-f-]{27}|\b\d[\w.+]*", "1", rest)
            rest = re.sub(r"\s+", " ", rest)
        form.append(kind + " " + rest)
    return "\n".join(form)
