"""Instructions and allocations of prepared requests, counted by callgrind in a node of its own. Counted, not timed: a busy
machine changes nothing.

Usage: run.sh [--update] [--profile DIR] [CASE...]

  --update    writes what was counted, and some more, to bounds.txt
  --profile   keeps what callgrind wrote of each case in DIR, for callgrind_annotate

Each case is a prepared statement, executed 64 at a time on one connection of protocol v5, its result's columns known to the
client. Rows are of the workload `apm`: five values of ten bytes. `fresh` ones are in memory as they were written; the others
have been written to files and merged. The floor is the same request answered by a node whose storage gives every read what
it gave the first one, and keeps no writes (`--answer-alike`). Ends with 1 when a case costs more than its bound.
"""
import argparse
import os
import pathlib
import re
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1] / "oracle"))

import client  # noqa: E402

BOUNDS = HERE / "bounds.txt"
HOST = "127.0.0.1"
IN_FLIGHT = 64
# So much more than was counted may be counted again. RocksDB's memtable throws dice for each key, which shows.
SLACK, SLACK_IN_MEMTABLE = 1.03, 1.08
PARTITIONS, SERIES, ROWS = 512, 16, 200
SLICE = 50
VALUES = [b"0123456789"] * 5
# What Cassandra's own file says. Writes then end on the thread that has them, and how long a sync takes changes no count.
SETTINGS = "commitlog_sync: periodic\ncommitlog_sync_period: 10000ms\nnative_transport_timeout: 600s\n"
ALLOCATORS = re.compile(r"(?:^|::|\b)(?:_rjem_|_rjem_je_|__libc_)?(?:malloc|calloc|realloc|mallocx|rallocx|memalign|aligned_alloc|posix_memalign)$")


def series_key(number):
    return b"series-%018d" % number


def key(number):
    return b"record-%018d" % number


SCHEMA = [
    "CREATE KEYSPACE counted WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
] + [
    statement % name for name in ("", "_fresh") for statement in (
        "CREATE TABLE counted.records%s (key text PRIMARY KEY, a blob, b blob, c blob, d blob, e blob)",
        "CREATE TABLE counted.scanned%s (key text PRIMARY KEY, a blob, b blob, c blob, d blob, e blob)",
        "CREATE TABLE counted.series%s (key text, at bigint, a blob, b blob, c blob, d blob, e blob, PRIMARY KEY (key, at))",
    )
]


class Case:
    """A statement and the values of its executions, by their number."""

    def __init__(self, name, text, values, rounds, rows, slack=SLACK):
        self.name, self.text, self.values, self.rounds, self.rows, self.slack = name, text, values, rounds, rows, slack


def read(table):
    return "SELECT key, a, b, c, d, e FROM counted.%s WHERE key = ?" % table


def slice_of(table):
    return "SELECT at, a, b, c, d, e FROM counted.%s WHERE key = ? AND at >= ? LIMIT %d" % (table, SLICE)


def scan_of(table):
    return "SELECT key, a, b, c, d, e FROM counted.%s WHERE token(key) >= ? LIMIT %d" % (table, SLICE)


def insert(table):
    return "INSERT INTO counted.%s (key, a, b, c, d, e) VALUES (?, ?, ?, ?, ?, ?)" % table


def insert_series(table):
    return "INSERT INTO counted.%s (key, at, a, b, c, d, e) VALUES (?, ?, ?, ?, ?, ?, ?)" % table


def of_record(n):
    return [key(n * 7 % PARTITIONS)]


def of_slice(n):
    return [series_key(n % SERIES), struct.pack(">q", n * 13 % (ROWS - SLICE))]


def of_scan(n):
    # From the lower half of the ring on, so that there are enough.
    return [struct.pack(">q", -(1 << 63) + n * 7919 % 1024 * (1 << 53))]


CASES = [
    Case("read", read("records"), of_record, 24, 1),
    Case("read_fresh", read("records_fresh"), of_record, 24, 1, SLACK_IN_MEMTABLE),
    Case("insert", insert("records_fresh"), lambda n: [key(10_000 + n)] + VALUES, 24, None, SLACK_IN_MEMTABLE),
    Case("slice", slice_of("series"), of_slice, 6, SLICE),
    Case("slice_fresh", slice_of("series_fresh"), of_slice, 6, SLICE, SLACK_IN_MEMTABLE),
    Case("scan", scan_of("scanned"), of_scan, 6, SLICE),
    Case("scan_fresh", scan_of("scanned_fresh"), of_scan, 6, SLICE, SLACK_IN_MEMTABLE),
]


class Connection(client.Client):
    """Sends many envelopes in one frame, and reads answers in whatever frames they come."""

    def pipeline(self, bodies):
        """The bodies of the answers, in the order of the requests."""
        envelopes = b"".join(
            struct.pack(">BBHBI", self.version, 0, stream, client.OPCODES["EXECUTE"], len(body)) + body
            for stream, body in enumerate(bodies))
        header = struct.pack("<I", len(envelopes) | 1 << 17)[:3]
        self.socket.sendall(header + struct.pack("<I", client.crc24(header))[:3] + envelopes + struct.pack("<I", client.crc32(envelopes)))
        answers, data = {}, b""
        while len(answers) < len(bodies):
            header = self.receive(6)
            data += self.receive(struct.unpack("<I", header[:3] + b"\0")[0] & 0x1FFFF)
            self.receive(4)
            while len(data) >= 9:
                stream, opcode, length = struct.unpack(">HBI", data[2:9])
                if len(data) < 9 + length:
                    break
                answers[stream] = opcode, data[9:9 + length]
                data = data[9 + length:]
        return [answers[stream] for stream in range(len(bodies))]


class Node:
    """A node under callgrind, which counts nothing until it is told to."""

    def __init__(self, directory, answers_alike):
        self.directory = directory
        self.port, self.admin_port = free_port(), free_port()
        pathlib.Path(directory + "/cassandra.yaml").write_text(SETTINGS)
        command = ["valgrind", "--tool=callgrind", "--instr-atstart=no", "--callgrind-out-file=%s/callgrind.out" % directory,
                   os.environ["BASALT_BIN"], "run", "--config", directory + "/cassandra.yaml", "--data-dir", directory + "/data", "--listen", HOST, "--port", str(self.port),
                   "--admin-port", str(self.admin_port), "--memory", "1GiB"]
        environment = {k: v for k, v in os.environ.items() if not k.startswith("CASSANDRA_")}
        self.log = open(directory + "/log", "wb")
        self.process = subprocess.Popen(command + ["--answer-alike"] * answers_alike, stdin=subprocess.DEVNULL, stdout=self.log,
                                        stderr=self.log, env=environment)
        deadline = time.monotonic() + 300
        while time.monotonic() < deadline and self.process.poll() is None:
            try:
                socket.create_connection((HOST, self.port), timeout=60).close()
                return
            except OSError:
                time.sleep(0.2)
        raise SystemExit("the node does not start:\n" + self.log_end())

    def log_end(self):
        return pathlib.Path(self.directory + "/log").read_text(errors="replace")[-2000:]

    def control(self, *arguments):
        subprocess.run(["callgrind_control", *arguments, str(self.process.pid)], check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)

    def nodetool(self, *arguments):
        subprocess.run([os.environ["BASALT_BIN"], "nodetool", "-p", str(self.admin_port), *arguments], check=True,
                       stdout=subprocess.DEVNULL)

    def dump(self):
        """What was counted since the last dump; the file's name."""
        before = set(pathlib.Path(self.directory).glob("callgrind.out*"))
        self.control("--dump")
        return (set(pathlib.Path(self.directory).glob("callgrind.out*")) - before).pop()

    def end(self):
        self.process.kill()
        self.process.wait()
        self.log.close()


def free_port():
    with socket.socket() as s:
        s.bind((HOST, 0))
        return s.getsockname()[1]


def run(connection, case, prepared, first, rounds):
    """Executes a case in rounds of IN_FLIGHT, and checks that it does what it is named for."""
    for start in range(first, first + rounds * IN_FLIGHT, IN_FLIGHT):
        bodies = [connection.execute_body(prepared, values=case.values(n)) for n in range(start, start + IN_FLIGHT)]
        bodies = [skipping_metadata(body, prepared) for body in bodies]
        for opcode, body in connection.pipeline(bodies):
            kind = struct.unpack(">i", body[:4])[0]
            if opcode != client.OPCODES["RESULT"] or kind != (1 if case.rows is None else 2):
                raise SystemExit("%s: not the answer that was expected: %r" % (case.name, body[:200]))
            if case.rows is not None:
                flags, _ = struct.unpack(">ii", body[4:12])
                if not flags & 4 or struct.unpack(">i", body[12:16])[0] != case.rows:
                    raise SystemExit("%s: not the rows that were expected: %r" % (case.name, body[:60]))


def skipping_metadata(body, prepared):
    """The flags stand behind the two ids and the consistency."""
    at = 2 + len(prepared.id) + 2 + len(prepared.metadata_id) + 2
    flags = struct.unpack(">I", body[at:at + 4])[0]
    return body[:at] + struct.pack(">I", flags | 2) + body[at + 4:]


def load(connection, names):
    for name in names:
        records, scanned = (Case("load", insert(table + name), lambda n: [key(n)] + VALUES, 0, None) for table in ("records", "scanned"))
        series = Case("load", insert_series("series" + name),
                      lambda n: [series_key(n // ROWS), struct.pack(">q", n % ROWS)] + VALUES, 0, None)
        for case, count in ((records, PARTITIONS), (scanned, PARTITIONS), (series, SERIES * ROWS)):
            run(connection, case, connection.prepare(case.text), 0, count // IN_FLIGHT)


def count(answers_alike, cases, profile):
    """Instructions and allocations a request, by the case's name."""
    directory = tempfile.mkdtemp(prefix="basalt-instructions-")
    node = Node(directory, answers_alike)
    try:
        connection = Connection(HOST, port=node.port)
        connection.socket.settimeout(300)
        for text in SCHEMA:
            answer = connection.query(text)
            if answer.kind != "schema_change":
                raise SystemExit(answer.message)
        load(connection, [""])
        node.nodetool("flush", "counted")
        node.nodetool("compact", "counted")
        load(connection, ["_fresh"])
        for case in CASES if answers_alike else []:
            # From now on every table is what this finds in it.
            case.rows and run(connection, case, connection.prepare(case.text), 0, 1)
        found = {}
        for case in cases:
            prepared = connection.prepare(case.text)
            run(connection, case, prepared, 0, 8)
            node.control("-i", "on")
            # What only the first requests cost under a count of their own: its own bookkeeping.
            run(connection, case, prepared, 8 * IN_FLIGHT, 1)
            node.control("-z")
            run(connection, case, prepared, 9 * IN_FLIGHT, case.rounds)
            written = node.dump()
            node.control("-i", "off")
            found[case.name] = [n / (case.rounds * IN_FLIGHT) for n in read_profile(written)]
            if profile:
                shutil.copy(written, "%s/%s%s.callgrind" % (profile, case.name, ".floor" * answers_alike))
        return found
    finally:
        node.end()
        shutil.rmtree(directory, ignore_errors=True)


def read_profile(path):
    """Instructions in all, and calls of the allocators."""
    names, instructions, allocations, called = {}, 0, 0, ""
    for line in path.open(errors="replace"):
        if line.startswith("totals:"):
            instructions = int(line.split()[1])
        elif line.startswith(("fn=", "cfn=")):
            number, _, name = line[line.index("=") + 1:].strip().partition(" ")
            if name:
                names[number] = name
            called = names.get(number, "")
        elif line.startswith("calls=") and ALLOCATORS.search(called):
            allocations += int(line[6:].split()[0])
    return instructions, allocations


def read_bounds():
    lines = [line.split() for line in BOUNDS.read_text().splitlines() if line and not line.startswith("#")] if BOUNDS.exists() else []
    return {name: int(bound) for name, bound in lines}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--profile")
    parser.add_argument("--no-floor", action="store_true")
    parser.add_argument("cases", nargs="*", choices=[case.name for case in CASES] + [[]])
    given = parser.parse_args()
    cases = [case for case in CASES if not given.cases or case.name in given.cases]
    found = count(False, cases, given.profile)
    floors = {} if given.no_floor else count(True, cases, given.profile)
    bounds, failed = read_bounds(), False
    print("instructions: %-12s %12s %12s %8s %8s %12s" % ("a request", "counted", "bound", "floor", "ratio", "allocations"))
    for case in cases:
        instructions, allocations = found[case.name]
        floor = floors.get(case.name, [0])[0]
        is_over = instructions > bounds.get(case.name, 0)
        failed |= is_over
        print("instructions: %-12s %12.0f %12d %8.0f %8s %12.1f%s" % (
            case.name, instructions, bounds.get(case.name, 0), floor, "%.2f" % (instructions / floor) if floor else "-", allocations,
            "  MORE THAN ITS BOUND" * is_over))
    if given.update:
        bounds.update({case.name: round(found[case.name][0] * case.slack / 10) * 10 for case in cases})
        BOUNDS.write_text("# Instructions a request may cost, some more than were counted: written by run.sh --update.\n"
                          + "".join("%s %d\n" % (case.name, bounds[case.name]) for case in CASES if case.name in bounds))
        return 0
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
