"""When a run is void, how often it is made again, and what /proc says."""
import os
import pathlib
import sys
import time
import types
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import cells  # noqa: E402
import hiccup  # noqa: E402
import sizes  # noqa: E402
import turn  # noqa: E402
import watch  # noqa: E402


def record(late=0.1, foreign=0.0, samples=1000):
    seen = {"cpu": 1, "samples": samples, "p99.9": late if samples else None}
    return {"hiccups": [{"cpu": 0, "samples": 9, "p99.9": 0.1}, seen], "foreign_cores": foreign}


class Void(unittest.TestCase):
    def test_a_quiet_machine_counts(self):
        self.assertEqual(watch.void(record(late=2.0, foreign=0.2)), [])

    def test_late_threads_and_other_processes_do_not(self):
        self.assertIn("processor 1 woke 2.1 ms late", watch.void(record(late=2.1))[0])
        self.assertIn("other processes used 0.30", watch.void(record(foreign=0.3))[0])
        self.assertEqual(len(watch.void(record(late=9, foreign=9))), 2)

    def test_knowing_nothing_is_void(self):
        self.assertEqual(watch.void(record(samples=0)), ["nothing is known of processor 1"])

    def test_percentiles_are_of_the_nearest_rank(self):
        found = hiccup.late(range(1, 1001))
        self.assertEqual((found["p50"], found["p99"], found["p99.9"], found["max"]), (0.501, 0.991, 1.0, 1.0))
        self.assertIsNone(hiccup.late([])["p99.9"])


class Repeats(unittest.TestCase):
    """A turn with a watch that is told what it sees."""

    def attempts(self, seen, is_late=False, keep_void=False, repeats=3):
        made = turn.Turn.__new__(turn.Turn)
        made.cell, made.number, made.size, made.folder = cells.parse("tene.synced.free.basalt"), 1, sizes.FULL, pathlib.Path("/o/runs")
        made.options = types.SimpleNamespace(is_late=lambda: is_late, keep_void=keep_void, out=pathlib.Path("/o"))
        made.server, made.said = types.SimpleNamespace(pid=1), lambda line: None
        seen, folders = iter(seen), []
        watched = mock.MagicMock()
        watched.return_value.__enter__.return_value.record = lambda: next(seen)
        with mock.patch("turn.watch.Watch", watched):
            found = made.watched("maximum", lambda folder: folders.append(folder.name) or {}, repeats=repeats)
        return found, folders

    def test_a_void_run_is_made_again_until_it_is_not(self):
        found, folders = self.attempts([record(late=5), record(late=5), record()])
        self.assertEqual(folders, ["maximum", "maximum-again-1", "maximum-again-2"])
        self.assertEqual((found["void"], found["attempts"], found["folder"]), ([], 3, "runs/maximum-again-2"))

    def test_not_for_ever(self):
        found, folders = self.attempts([record(late=5)] * 9, repeats=2)
        self.assertEqual((len(folders), len(found["void"])), (3, 1))

    def test_not_when_time_is_up_or_nobody_minds(self):
        self.assertEqual(len(self.attempts([record(late=5)] * 9, is_late=True)[1]), 1)
        self.assertEqual(len(self.attempts([record(late=5)] * 9, keep_void=True)[1]), 1)


class Machine(unittest.TestCase):
    def test_this_process_uses_the_processor_and_is_seen(self):
        with watch.Watch(os.getpid()) as seen:
            end = time.process_time() + 0.3
            while time.process_time() < end:
                pass
        self.assertGreaterEqual(seen.server_seconds, 0.2)
        self.assertEqual(len(seen.record()["hiccups"]), len(os.sched_getaffinity(0)))
        self.assertTrue(all(one["samples"] > 0 for one in seen.hiccups))
        found = watch.resident(os.getpid())
        self.assertGreaterEqual(found["peak"], found["now"])

    def test_settling_ends_with_quiet_or_with_the_time(self):
        used = iter([0, 5, 10, 10.01])
        now = iter(range(100))
        waited = watch.settle(1, 50, sleep=lambda _: None, clock=lambda: next(now), cpu=lambda _: next(used))
        self.assertLess(waited, 10)
        self.assertEqual(next(used, None), None)
        busy, now = iter(range(1000)), iter(range(1000))
        self.assertGreaterEqual(watch.settle(1, 5, sleep=lambda _: None, clock=lambda: next(now), cpu=lambda _: next(busy)), 5)


if __name__ == "__main__":
    unittest.main()
