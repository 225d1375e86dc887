"""Replays recorded .cqltest files against a running Basalt program, over the wire and on its real engine.

Usage: replay.py [FILE...]   without files: all of tests/cql. The program: BASALT_BIN or target/release/basalt.

The same cases run within `cargo test` without sockets and on storage in memory; here every file gets a node of its own.
What is asked of the node is what the recorder asks of Cassandra (record.py). Ends with 1 when an answer differs.
"""
import pathlib
import re
import sys

import record
from differential.nodes import Basalt

CASES = pathlib.Path(__file__).parents[1] / "tests/cql"
# Answers that tell of the node itself (its address, version, settings), which the in-process replay gives as recorded.
OF_THE_NODE = {"system_tables.cqltest"}


def blocks(text):
    """(case, recorded answer, whether it is marked as different) for each block with a statement."""
    for block in text.split("\n\n"):
        lines = [line for line in block.split("\n") if line]
        case = record.Case(lines)
        if case.statements:
            answer = [line for line in lines if not line.startswith(("#", "@", "cql: "))]
            yield case, answer, any(line.startswith("# differs") for line in lines)


def plain(line):
    if line.startswith("row: "):
        return re.sub(r" # .*$", "", line)
    return line.replace("tojson", "to_json").replace("fromjson", "from_json")


def code(answer):
    return next((line[7:13] for line in answer if line.startswith("error: ")), None)


def error(answer):
    return next((line for line in answer if line.startswith("error: ")), "")


def before_parser(answer):
    """What an error says before the words of Cassandra's JSON parser, if they are in it."""
    found = re.match(r"(.*?)(?:com\.fasterxml\.jackson\.|Error decoding JSON string: )", error(answer))
    return found and found[1]


OPTIONS_WARNINGS = ("no effect", "is compacted and cached as before until the node starts again")


def alike(recorded, ours):
    """The rules of tests/cql/README.md."""
    recorded = [plain(line) for line in recorded]
    # COMPAT.md: warnings name options that do nothing, or nothing yet; the processor alone does not give them.
    ours = [plain(line) for line in ours if not (line.startswith("warning: ") and any(words in line for words in OPTIONS_WARNINGS))]
    if code(recorded) == "0x0000":
        return code(ours) is not None
    if code(recorded) == code(ours) == "0x2000" and "Exception " in error(recorded):
        return True
    before = before_parser(recorded)
    if before:
        return error(ours).startswith(before)
    return recorded == ours


def settings(text):
    """What the file's node is started with, as lines of cassandra.yaml."""
    return "".join("%s: %s\n" % pair for pair in re.findall(r"^@setting (\S+) (.*)$", text, re.M))


def replay(path):
    text = path.read_text(encoding="utf-8")
    node, wrong, count = Basalt(settings(text)), [], 0
    try:
        runner = record.Runner(*node.address)
        for case, recorded, differs in blocks(text):
            count += 1
            ours = runner.run(case)
            if alike(recorded, ours) == differs:
                asked = "; ".join(text for text, _ in case.statements)
                title = "no longer differs" if differs else "differs"
                wrong.append("\n    ".join(["%s: %s: %s\n  stock:" % (path.name, title, asked)] + recorded) +
                             "\n    ".join(["\n  ours:"] + ours))
    finally:
        node.remove()
    return count, wrong


def main(names):
    paths = [pathlib.Path(n) for n in names] or [p for p in sorted(CASES.glob("*.cqltest")) if p.name not in OF_THE_NODE]
    total, wrong = 0, []
    for path in paths:
        count, found = replay(path)
        total += count
        wrong += found
    print("\n\n".join(wrong + ["replay: %d cases of %d files, %d differ" % (total, len(paths), len(wrong))]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
