#!/usr/bin/env python3
"""Basalt and Apache Cassandra under the same load, one after the other: README.md says what is measured and how to read it.

    bench.py list [CELL...]     cells, which turns of them are recorded, how long the rest takes
    bench.py run [CELL...]      the missing turns of these cells (of all without names), then the report
    bench.py quick              apm R, W and RS in at most 20 minutes
    bench.py report             report.json and report.html of what is recorded
"""
import argparse
import dataclasses
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import cassandra
import cells
import latte
import report
import servers
import sizes
import store

HERE = pathlib.Path(__file__).resolve().parent
QUICK_SECONDS = 20 * 60


class Options:
    """What the command line says, and what follows from it."""

    def __init__(self, asked):
        self.command, self.patterns = asked.command, asked.cells
        size = sizes.QUICK if asked.command == "quick" else sizes.ALL[asked.size]
        self.size = dataclasses.replace(size, **{name: value for name in ("warm_cassandra", "records", "turns")
                                                 if (value := getattr(asked, name)) is not None})
        self.memory, self.keep_void = asked.memory, asked.keep_void
        self.out = pathlib.Path(asked.out or HERE / "out" / self.size.name).resolve()
        self.deadline = time.monotonic() + QUICK_SECONDS if asked.command == "quick" else None
        self.needed = 0  # seconds that turns still to come need
        self.made_by = {"size": {**dataclasses.asdict(self.size), "shares": list(self.size.shares)}, "memory": self.memory,
                        "keep_void": self.keep_void}

    def is_late(self, needed=None):
        """Whether there is no time for this many seconds, or for more than what is needed yet."""
        return self.deadline is not None and self.deadline - time.monotonic() < (self.needed if needed is None else needed)

    def cells(self):
        """The cells asked for, of those that this machine can run."""
        if self.command == "quick":
            return cells.quick()
        everything = cells.matrix([server for server in cells.SERVERS if self.can(server)])
        return cells.select(everything, self.patterns) if self.patterns else everything

    @staticmethod
    def can(server):
        return not server.startswith("cassandra-") or cassandra.java_of(server.removeprefix("cassandra-")) is not None


def parse(arguments):
    parser = argparse.ArgumentParser(prog="bench.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["list", "run", "quick", "report"])
    parser.add_argument("cells", nargs="*", metavar="CELL", help="a name, its beginning (apm-W.synced) or one with stars (*.pinned.*)")
    parser.add_argument("--size", choices=sorted(sizes.ALL), default="full")
    parser.add_argument("--out", help="where records are kept [bench/out/SIZE]")
    parser.add_argument("--memory", type=int, default=4096, metavar="MIB", help="the budget of each server [4096]")
    parser.add_argument("--turns", type=int, help="of each cell")
    parser.add_argument("--records", type=int, help="loaded before measuring")
    parser.add_argument("--warm", type=int, dest="warm_cassandra", metavar="SECONDS", help="Cassandra's warm-up; less than 300 is said "
                        "in the report")
    parser.add_argument("--keep-void", action="store_true", help="count void runs and do not repeat them; for trying out")
    return parser.parse_intermixed_args(arguments)


def listing(options):
    chosen = options.cells()
    done = store.done(options.out, cells.turns(chosen, options.size), options.made_by)
    left = 0
    for cell in chosen:
        open_turns = [number for number in range(1, options.size.turns + 1) if (cell, number) not in done]
        seconds = sum(cells.seconds(cell, number, options.size) for number in open_turns)
        left += seconds
        print(f"{str(cell):42} {options.size.turns - len(open_turns)} of {options.size.turns} turns" +
              (f", about {round(seconds / 60)} min missing" if open_turns else ""))
    print(f"\nabout {left / 3600:.1f} h missing; records are in {options.out}")


def run(options):
    """Runs what is missing; the number of turns that failed."""
    import turn  # needs the program, which a listing does not
    chosen = options.cells()
    order = cells.turns(chosen, options.size)
    if options.command == "quick":
        shutil.rmtree(options.out, ignore_errors=True)
    waiting = cells.missing(order, store.done(options.out, order, options.made_by))
    seconds = cells.seconds_of(waiting, options.size)
    print(f"{len(waiting)} turns to make, about {round(seconds / 60)} min; records go to {options.out}", flush=True)
    failed = 0
    with tempfile.TemporaryDirectory(prefix="basalt-bench-", dir=os.environ.get("BENCH_DATA")) as data:
        for at, (cell, number) in enumerate(waiting):
            later = waiting[at:]
            options.needed = cells.seconds_of(later, options.size)
            # Whole groups are left out: half of a pair says nothing.
            group = [one for one in later if one[0].group == cell.group]
            if cell.server == cells.REFERENCE and options.is_late(cells.seconds_of(group, options.size)):
                failed += 1
                print(f"{cell} turn {number}: left out, its time is over", flush=True)
                continue
            references = store.reference(options.out, chosen, cells.REFERENCE, options.made_by)
            if cell.group not in references and (cell.server, number) != (cells.REFERENCE, 1):
                failed += 1
                print(f"{cell} turn {number}: left out, its rates follow from a turn of {cells.REFERENCE} that failed", flush=True)
                continue
            folder = options.out / "runs" / str(cell) / f"turn-{number}"
            shutil.rmtree(folder, ignore_errors=True)
            work = turn.Turn(cell, number, options.size, options, folder, pathlib.Path(data) / "server",
                             lambda line: print(line, flush=True))
            try:
                store.write(options.out, cell, number, options.made_by, work.run(references.get(cell.group)))
            except servers.Failed as error:
                failed += 1
                print(f"{cell} turn {number}: FAILED: {error}", flush=True)
    return failed


def write_report(options):
    path = report.write(options.out, options.made_by, context(options))
    print(f"\n{path}")


def context(options):
    """What a reader must know of this machine and what is missing on it."""
    version = subprocess.run([servers.binary(), "--version"], capture_output=True, text=True, check=False).stdout.strip()
    notes = []
    if options.size.is_short():
        notes.append(f"Cassandra was warmed for {options.size.warm_cassandra} s instead of {sizes.WARM_CASSANDRA_LEAST} s or more: its "
                     "figures are those of a cold JVM")
    if options.keep_void:
        notes.append("void runs were not repeated and count here (--keep-void): nothing on this page is a result")
    if not Options.can("cassandra-zgc"):
        notes.append("generational ZGC was not measured: there is no JDK 21 here (BENCH_JAVA_21 names one)")
    if not latte.is_there():
        notes.append("no cross-check by an independent client: latte is not installed")
    return {"basalt": version, "notes": notes, "keep_void": options.keep_void, "processors": os.cpu_count(), "kernel": os.uname().release}


def main(arguments):
    options = Options(parse(arguments))
    if options.command == "list":
        return listing(options) or 0
    failed = 0
    if options.command != "report":
        failed = run(options)
    if options.command == "run" and latte.is_there():
        latte.cross_check(options, lambda line: print(line, flush=True))
    write_report(options)
    if failed:
        print(f"{failed} turns failed", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except (ValueError, servers.Failed) as error:
        sys.exit(f"bench: {error}")
