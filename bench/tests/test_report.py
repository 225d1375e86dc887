"""What the client says, records that are kept and found again, and what a report makes of them."""
import copy
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import cells  # noqa: E402
import figures  # noqa: E402
import latte  # noqa: E402
import page  # noqa: E402
import report  # noqa: E402
import servers  # noqa: E402
import store  # noqa: E402
import stress  # noqa: E402

TIMES = {"p50": 1.0, "p99": 5.0, "p99.9": 20.0, "max": 50.0}
CONTEXT = {"basalt": "basalt 0", "notes": ["a note & a <tag>"], "processors": 2, "kernel": "6", "keep_void": False}


def run(rate, cpu, void=(), answered=100_000, **more):
    counts = {"planned": answered, "answered": answered, "failed": 0, "timed_out": 0, "in_flight": 0, "unsent": 0}
    return {"rate": rate, "counts": counts, "service_ms": TIMES, "client": {"verdict": "ok", "reason": "", "cpu_seconds": 1.0},
            "watch": {"server_cpu_seconds": cpu}, "void": list(void), "folder": "runs/x", "answered_by_second": [10, 30], "invalid": [],
            **more}


def record(rate=1000.0, cpu=2.0, void=()):
    return {"runs": {"warm": run(rate, cpu), "maximum": run(rate, cpu, void), "rate-70": run(rate, cpu, response_ms=TIMES),
                     "sustain-p99": {"rate": rate, "answer": ["said"], "void": [], "folder": "runs/y", "watch": {}}},
            "start_empty_seconds": 0.1, "resident": {"now": 2**20, "peak": 2**21}, "disk_loaded": {"data": 10**6, "log": 0},
            "start_loaded_seconds": 0.2, "records": 10, "program": "abc"}


class Said(unittest.TestCase):
    STEPS = "looking for the highest rate\n\ndoubling 1,000/s keeps\nsoak 2,000/s BREAKS\n\n"

    def test_an_answer_is_the_last_paragraph(self):
        kept = self.STEPS + "1,234,567/s is sustained with p99 < 5 ms; 2,000,000/s is not\nwhat binds at 2,000,000/s: x\n"
        for printed in (kept, kept + "\nrecorded in /x\n"):
            found = stress.sustained(0, printed)
            self.assertEqual((found["rate"], len(found["answer"])), (1_234_567.0, 2))
        none = stress.sustained(stress.NO_RATE, self.STEPS + "no rate was found that sustains p99 < 5 ms: it broke\n\nrecorded in /x\n")
        self.assertEqual(none, {"rate": None, "answer": ["no rate was found that sustains p99 < 5 ms: it broke"]})
        with self.assertRaises(servers.Failed):
            stress.sustained(0, self.STEPS + "something else")

    def test_a_closed_loop_has_no_response_times(self):
        outcome = {"counts": {}, "client": {"verdict": "ok", "reason": "", "cpu_nanos": 2e9}, "invalid": [], "setting": {"server": {}},
                   "summary": {"rate": 5.0, "response_ms": TIMES, "service_ms": TIMES}, "load": {"closed": {"threads": 1, "nanos": 1}}}
        found = stress.summary(outcome, [{"answered": "7"}])
        self.assertNotIn("response_ms", found)
        self.assertEqual((found["answered_by_second"], found["client"]["cpu_seconds"]), ([7], 2.0))
        self.assertIn("response_ms", stress.summary({**outcome, "load": {"open": {}}}, []))

    def test_lattes_throughput_is_found(self):
        self.assertEqual(latte.throughput({"result": {"cycle_throughput": {"n": 3, "value": 12345.5, "std_err": None}}}), 12345.5)
        with self.assertRaises(servers.Failed):
            latte.throughput({"result": {}})


class Kept(unittest.TestCase):
    def test_a_record_is_found_again_under_the_same_sizes_only(self):
        cell = cells.parse("apm-R.periodic.free.cassandra-g1")
        with tempfile.TemporaryDirectory() as out:
            self.assertIsNone(store.read(out, cell, 1))
            store.write(out, cell, 1, {"size": 1}, record(rate=4321.0))
            self.assertEqual(store.done(out, [(cell, 1), (cell, 2)], {"size": 1}), {(cell, 1)})
            self.assertEqual(store.done(out, [(cell, 1)], {"size": 2}), set())
            self.assertEqual(store.reference(out, [cell], cell.server, {"size": 1}), {cell.group: 4321.0})
            self.assertEqual(store.reference(out, [cell], cell.server, {"size": 2}), {})
            self.assertEqual([path.name for path in store.path(out, cell, 1).parent.iterdir()], ["turn-1.json"])


class Report(unittest.TestCase):
    def document(self, ours, theirs, **context):
        cell = {server: cells.Cell("apm-R", "periodic", "free", server) for server in ("basalt", "cassandra-g1")}
        return report.build({cell["basalt"]: ours, cell["cassandra-g1"]: theirs}, {**CONTEXT, **context})

    def row(self, document, name):
        return next(row for row in document["groups"][0]["rows"] if row["figure"] == name)

    def test_processor_time_is_of_an_operation(self):
        found = figures.of_turn(record(cpu=2.0))
        self.assertEqual(found["maximum: server CPU an operation"].value, 20.0)
        self.assertAlmostEqual(found["maximum: server's part of the CPU used"].value, 200 / 3)
        self.assertEqual(found["cold: throughput of the first seconds"].value, 20.0)
        self.assertEqual(found["disk a record"].value, 100_000)

    def test_a_percentile_of_few_requests_is_not_quoted(self):
        few = record()
        few["runs"]["maximum"] = run(10.0, 1.0, answered=9_999)
        found = figures.of_turn(few)
        self.assertIsNone(found["maximum: service p99.9"].value)
        self.assertEqual(found["maximum: service p99"].value, 5.0)

    def test_ratios_are_of_pairs_that_are_not_void(self):
        ours, theirs = {1: record(cpu=1.0), 2: record(cpu=1.0)}, {1: record(cpu=6.0), 2: record(cpu=60.0, void=["noise"])}
        row = self.row(self.document(ours, theirs), "maximum: server CPU an operation")
        self.assertAlmostEqual(row["ratios"]["cassandra-g1"]["value"], 1 / 6)
        self.assertEqual((row["ratios"]["cassandra-g1"]["pairs"], row["servers"]["cassandra-g1"]["void"]), (1, [2]))
        kept = self.row(self.document(ours, theirs, keep_void=True), "maximum: server CPU an operation")
        self.assertEqual(kept["ratios"]["cassandra-g1"]["pairs"], 2)
        work = self.row(self.document(ours, theirs), "maximum: operations a CPU second")
        self.assertAlmostEqual(work["ratios"]["cassandra-g1"]["value"], 6)

    def test_the_first_server_is_the_reference(self):
        self.assertEqual(list(self.document({1: record()}, {1: record()})["groups"][0]["turns"]), ["cassandra-g1", "basalt"])

    def test_builds_that_are_mixed_are_said(self):
        other = copy.deepcopy(record())
        other["program"] = "def"
        self.assertIn("several builds", self.document({1: record(), 2: other}, {1: record()})["notes"][-1])

    def test_the_page_stands_alone_and_escapes(self):
        document = self.document({1: record(), 2: record(cpu=1.9)}, {1: record(cpu=12.0), 2: record(cpu=12.5, void=["noise"])})
        found = page.html(document)
        self.assertIn("a note &amp; a &lt;tag&gt;", found)
        self.assertNotIn("http", found)
        self.assertIn("cassandra-g1, turn 2: void: noise", found)
        self.assertIn("120*", found)
        self.assertIn("0.167 (one turn)", page.text(document))


if __name__ == "__main__":
    unittest.main()
