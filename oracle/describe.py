"""Runs statements that make schema objects and DESCRIBE them, and records what DESCRIBE said.

Usage: describe.py ADDRESS STATEMENTS FILE. Statements stand one a line; '--' begins a comment.
"""
import sys

import client
from schema import HEAD, escape


def shown(value):
    return "null" if value is None else escape(value.decode("utf-8", "backslashreplace"))


def main():
    address, statements, file = sys.argv[1:4]
    connection = client.Client(address, 5)
    out = [HEAD, "# run | a statement that answers no rows\n"
           "# describe | statement, then its columns (name type) and one line per row, or its error; fields escaped (\\\\ \\n \\r \\t \\p = |)\n"]
    for line in open(statements, encoding="utf-8"):
        line = line.strip()
        if not line or line.startswith("--"):
            continue
        answer = connection.query(line)
        if not line.upper().startswith("DESC"):
            if answer.kind == "error":
                raise SystemExit("%s: %s" % (line, answer.message))
            out.append("run | %s\n" % escape(line))
            continue
        out.append("describe | %s\n" % escape(line))
        if answer.kind != "rows":
            out.append("error | 0x%04X | %s\n" % (answer.code, escape(answer.message)))
            continue
        out.append("columns | %s\n" % " | ".join("%s.%s.%s %s" % c for c in answer.columns))
        out += ["row | %s\n" % " | ".join(shown(v) for v in row) for row in answer.rows]
    with open(file, "w", encoding="utf-8") as f:
        f.write("".join(out))


if __name__ == "__main__":
    main()
