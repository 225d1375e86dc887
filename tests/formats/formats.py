"""Data directories that earlier versions wrote open and hold what they held.

    formats.py          asks each directory here and a node made anew by the same statements; every answer must be equal, byte for byte
    formats.py make N   makes the directory N with BASALT_BIN, for a format that is new

A directory holds what a killed node leaves: before.cql in files, after.cql in the log. See README.md.
"""
import pathlib
import shutil
import sys

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1] / "oracle"))
from client import Client  # noqa: E402
from differential.nodes import Basalt  # noqa: E402

SETTINGS = "auto_snapshot: false\n"


def statements(name):
    return HERE.joinpath(name).read_text(encoding="utf-8").splitlines()


def run(node, text):
    answer = Client(node.host, port=node.port).query(text)
    if answer.kind == "error":
        raise SystemExit("%s: %s" % (text, answer.message))
    return answer


def fill(node):
    """A start flushes what it finds in the log: so before.cql stands in files."""
    for text in statements("before.cql"):
        run(node, text)
    node.restart()
    for text in statements("after.cql"):
        run(node, text)


def answers(node):
    return [(text, run(node, text)) for text in statements("questions.cql")]


def opened(directory):
    """A node on a copy of a directory."""
    node = Basalt(SETTINGS)
    node.kill()
    data = pathlib.Path(node.directory, "data")
    shutil.rmtree(data)
    shutil.copytree(directory, data)
    node.start()
    return node


def check():
    fresh, wrong, directories = Basalt(SETTINGS), 0, sorted(path for path in HERE.iterdir() if path.name.isdigit())
    if not directories:
        raise SystemExit("no directory here")
    try:
        fill(fresh)
        expected = answers(fresh)
        for directory in directories:
            node = opened(directory)
            try:
                for (text, now), (_, then) in zip(expected, answers(node), strict=True):
                    if (now.columns, now.rows) != (then.columns, then.rows) or not now.rows:
                        wrong += 1
                        print("format %s: %s\n  now:  %s\n  then: %s" % (directory.name, text, now.rows, then.rows))
            finally:
                node.remove()
    finally:
        fresh.remove()
    print("formats: %d directories, %d questions, %d differ" % (len(directories), len(expected), wrong))
    return 1 if wrong else 0


def make(number):
    node = Basalt(SETTINGS)
    try:
        fill(node)
        node.kill()
        # What RocksDB writes and does not read: its text logs, and options, which the program knows.
        shutil.copytree(pathlib.Path(node.directory, "data"), HERE / number, ignore=shutil.ignore_patterns("LOG*", "LOCK", "basalt-lock", "OPTIONS-*"))
    finally:
        node.remove()


if __name__ == "__main__":
    sys.exit(make(sys.argv[2]) if sys.argv[1:2] == ["make"] else check())
