"""The command: runs seeds on both servers in several processes, reports what differs, and shrinks it when asked.

Usage: differential [--seconds N] [--seeds A-B] [--minimise] [--show N] [--workers N] [--without FEATURE...] ADDRESS
Without --seeds the seeds begin at --first (default: a number from the clock, printed).
"""
import argparse
import collections
import contextlib
import difflib
import multiprocessing
import os
import queue
import sys
import time

import client
import interned
import record

from . import compare, known, minimise, nodes, seeds
from .pair import Lost, Pair


KEPT = 12  # keyspaces that a worker leaves before it drops them


class Turns:
    """Lets no keyspace be dropped while another worker is at a seed: with a drop Cassandra flushes what all tables hold, and
    what it shows of rows whose insertion has expired depends on flushes."""

    def __init__(self, context, count):
        self.locks = [context.Lock() for _ in range(count)]

    def seed(self, worker):
        """Held by a worker during a seed."""
        return self.locks[worker]

    @contextlib.contextmanager
    def all(self):
        """Held by a worker between seeds: nobody is at one."""
        with contextlib.ExitStack() as stack:
            for lock in self.locks:
                stack.enter_context(lock)
            yield


class Run:
    """One worker: a Basalt node, a pair of connections, and the seeds it is given."""

    def __init__(self, cassandra, features):
        self.cassandra, self.features, self.left = (cassandra, 9042), features, []
        self.basalt = nodes.Basalt()
        self.pair = Pair(self.cassandra, self.basalt.address)

    def restart(self):
        self.pair.close()
        self.basalt.restart()

    def warned(self):
        """Has both tell these connections now that they use `USE`: Cassandra, which kept its prepared statements over the
        restart, would tell them at another one than Basalt."""
        self.pair.run(record.Case(["cql: USE system"]))
        self.pair.run(record.Case(["@prepare only", "cql: SELECT key AS at_%d FROM local" % time.time_ns()]))

    def seed(self, number):
        """Runs one seed: counts by verdict, and its differences as (block index, Verdict)."""
        return self.blocks(seeds.blocks(number, self.features), seeds.keyspace(number))

    def blocks(self, blocks, keyspace):
        counts, differences, changed, expires = collections.Counter(), [], False, False
        try:
            for index, lines in enumerate(blocks):
                if lines is seeds.RESTART:
                    self.restart()
                    self.warned()
                    self.pair.run(record.Case(blocks[1]))
                    continue
                case = record.Case(lines)
                texts = [text for text, _ in case.statements]
                changed |= any(text.startswith("ALTER T") for text in texts)
                expires |= any("TTL " in text or "default_time_to_live" in text for text in texts)
                case.flushed = changed and expires
                verdict, settled = self.one(case, counts)
                if verdict.different:
                    differences.append((index, verdict))
                if verdict.kind != "same" and not settled:
                    break
        finally:
            self.left.append(keyspace)
        return counts, differences

    def one(self, case, counts):
        """Runs and judges one case; also says whether both answered with errors that wrote nothing, and so cannot differ in
        their states now."""
        try:
            exchanges = self.pair.run(case)
        except Lost as lost:
            self.restart()
            return compare.Verdict("different", [["?"], [str(lost)]], "lost " + lost.who), False
        verdict = compare.judge(case, exchanges)
        counts["requests"] += len(exchanges)
        counts["statements"] += 1
        counts["errors"] += compare.failed(exchanges, 5)
        counts[verdict.kind] += 1
        answers = compare.parsed(exchanges[-1], int(case.options.get("protocol", "5")))
        return verdict, all(a.kind == "error" and a.code not in known.WRITTEN_IN_PART for a in answers)

    def drop(self):
        """Drops the keyspaces that were left."""
        for keyspace in self.left:
            try:
                self.pair.run(record.Case(["cql: DROP KEYSPACE IF EXISTS " + keyspace]))
            except Lost:
                self.restart()
        self.left = []

    def end(self):
        self.drop()
        self.basalt.remove()


def worker(cassandra, features, index, turns, tasks, results):
    """Takes seed numbers until there is None."""
    run = None
    try:
        run = Run(cassandra, features)
        while (number := tasks.get()) is not None:
            with turns.seed(index):
                counts, differences = run.seed(number)
            results.put((number, counts, differences))
            if len(run.left) >= KEPT:
                with turns.all():
                    run.drop()
    except Exception as e:  # a defect of the fuzzer must end the run, not hang it
        results.put((None, repr(e), None))
        raise
    finally:
        if run:
            with turns.all():
                run.end()


def show(number, index, lines, verdict):
    """Prints a difference: the block, then the answers' lines with - for Cassandra's and + for Basalt's."""
    print("\n--- seed %d, block %d: %s" % (number, index, verdict.signature))
    print("\n".join(lines))
    for line in list(difflib.unified_diff(*verdict.answers, n=1, lineterm=""))[2:26]:
        if not line.startswith("@@"):
            print("  " + line[:600])


class Report:
    """Counts, progress lines, and the first differences of each signature."""

    def __init__(self, features, shown_max):
        self.features, self.shown_max, self.began, self.printed = features, shown_max, time.monotonic(), time.monotonic()
        self.counts, self.seeds, self.signatures = collections.Counter(), 0, collections.Counter()
        self.failed, self.once = [], []

    def add(self, number, counts, differences):
        self.seeds += 1
        self.counts += counts
        if differences:
            self.failed.append(number)
            blocks = seeds.blocks(number, self.features)
        for index, verdict in differences:
            if self.signatures[verdict.signature] < self.shown_max:
                show(number, index, blocks[index], verdict)
            self.signatures[verdict.signature] += 1
        if time.monotonic() - self.printed > 10:
            self.printed = time.monotonic()
            print("    " + self.line(), flush=True)

    def repeat(self, run):
        """Runs the seeds that differed once more: what Cassandra shows may depend on when it flushed for reasons of its own."""
        for number in self.failed:
            _, differences = run.seed(number)
            run.drop()
            if not differences:
                self.once.append(number)
        self.failed = [number for number in self.failed if number not in self.once]

    def line(self):
        c, seconds = self.counts, time.monotonic() - self.began
        plain = ("requests", "statements", "errors", "same", "syntax text", "different")
        rules = "".join(", %s %d" % (k, n) for k, n in sorted(c.items()) if k not in plain)
        return "%d seeds, %d statements (%d/s), %d requests, %d errors alike or not, syntax texts %d%s; different: %d in %d seeds; %.0f s" % (
            self.seeds, c["statements"], c["statements"] / seconds, c["requests"], c["errors"], c["syntax text"], rules, c["different"],
            len(self.failed), seconds)


def numbers(arguments):
    """Seed numbers in order: the range that was named, then further ones while time lasts."""
    until = arguments.seconds and time.monotonic() + arguments.seconds
    if arguments.seeds:
        first, _, last = arguments.seeds.partition("-")
        yield from range(int(first), int(last or first) + 1)
    if until or not arguments.seeds:
        number = arguments.first
        while not until or time.monotonic() < until:
            yield number
            number += 1


def parse():
    parser = argparse.ArgumentParser(prog="differential.sh", description=__doc__)
    parser.add_argument("address")
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--seeds")
    parser.add_argument("--first", type=int, default=int(time.time()) * 10 % 10**9)
    parser.add_argument("--minimise", action="store_true")
    parser.add_argument("--show", type=int, default=2, help="differences of one kind that are printed; all are counted")
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--without", nargs="*", default=[], choices=seeds.FEATURES)
    parser.add_argument("--print", action="store_true", help="print the blocks of the seeds instead of running them")
    return parser.parse_args()


def main():
    arguments = parse()
    known.check()
    features = [f for f in seeds.FEATURES if f not in arguments.without]
    if arguments.print:
        for number in numbers(arguments):
            print("\n\n".join("\n".join(b) for b in seeds.blocks(number, features)))
        return 0
    interned.settle(arguments.address)
    context = multiprocessing.get_context("fork")
    tasks, results = context.Queue(arguments.workers * 2), context.Queue()
    turns = Turns(context, arguments.workers)
    workers = [context.Process(target=worker, args=(arguments.address, features, n, turns, tasks, results)) for n in range(arguments.workers)]
    for process in workers:
        process.start()
    report, sent = Report(features, arguments.show), 0
    if not arguments.seeds:
        print("    seeds from %d" % arguments.first, flush=True)
    try:
        for number in numbers(arguments):
            tasks.put(number)
            sent += 1
            while sent - report.seeds >= arguments.workers * 2:
                collect(results, report)
        while report.seeds < sent:
            collect(results, report)
    except KeyboardInterrupt:
        pass
    finally:
        for _ in workers:
            try:
                tasks.put_nowait(None)
            except queue.Full:
                pass
        for process in workers:
            process.join(300)
            if process.is_alive():
                process.terminate()
    for signature, n in report.signatures.most_common():
        print("%6d  %s" % (n, signature))
    if report.failed:
        run = Run(arguments.address, features)
        report.repeat(run)
        run.end()
    if report.once:
        print("seeds that differed once only: " + " ".join(map(str, sorted(report.once))))
    if report.failed:
        print("seeds that differ: " + " ".join(map(str, sorted(report.failed))))
    if arguments.minimise and report.failed:
        run = Run(arguments.address, features)
        for number in report.failed:
            minimise.seed(run, number)
        run.end()
    print("differential: " + report.line())
    return 1 if report.failed else 0


def collect(results, report):
    number, counts, differences = results.get()
    if number is None:
        raise SystemExit("a worker failed: " + counts)
    report.add(number, counts, differences)


if __name__ == "__main__":
    sys.exit(main())
