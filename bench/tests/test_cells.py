"""Which cells are chosen, in which order their turns run, and which of them are still to be made."""
import dataclasses
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import cells  # noqa: E402
import sizes  # noqa: E402


class Choice(unittest.TestCase):
    def names(self, *patterns):
        return [str(cell) for cell in cells.select(cells.matrix(("cassandra-g1", "basalt")), patterns)]

    def test_names_are_read_back(self):
        for cell in cells.matrix():
            self.assertEqual(cells.parse(str(cell)), cell)
        for wrong in ("apm-R", "apm-R.periodic.free", "apm-X.periodic.free.basalt", "apm-R.free.periodic.basalt"):
            with self.assertRaises(ValueError):
                cells.parse(wrong)

    def test_a_beginning_ends_at_a_dot(self):
        self.assertEqual(len(self.names("apm-R")), 8)
        self.assertTrue(all(name.startswith("apm-R.") for name in self.names("apm-R")))

    def test_the_reference_comes_along(self):
        self.assertEqual(self.names("apm-W.synced.free.basalt"), ["apm-W.synced.free.cassandra-g1", "apm-W.synced.free.basalt"])
        self.assertEqual(self.names("apm-W.synced.free.cassandra-g1"), ["apm-W.synced.free.cassandra-g1"])

    def test_stars_name_many(self):
        self.assertEqual(len(self.names("*.pinned.*")), 2 * 2 * len(cells.WORKLOADS))

    def test_a_name_of_nothing_is_refused(self):
        with self.assertRaisesRegex(ValueError, "no cell is named 'apm-Q'"):
            self.names("apm-W", "apm-Q")

    def test_records_are_bounded_by_the_size(self):
        cell = cells.parse("yj-1.periodic.free.basalt")
        self.assertEqual(cell.records(sizes.FULL), 100_000)
        self.assertEqual(cell.records(sizes.TRIAL), 10_000)


class Order(unittest.TestCase):
    def turns(self, *patterns, servers=cells.SERVERS):
        chosen = cells.select(cells.matrix(servers), patterns)
        return [(cell.group, cell.server, number) for cell, number in cells.turns(chosen, sizes.FULL)]

    def test_servers_alternate_and_the_reference_is_first(self):
        group = "apm-R.periodic.free"
        self.assertEqual(self.turns(group, servers=("basalt", "cassandra-g1")),
                         [(group, server, number) for number in (1, 2, 3) for server in ("cassandra-g1", "basalt")])
        self.assertEqual([server for _, server, _ in self.turns(group)][:3], ["cassandra-g1", "basalt", "cassandra-zgc"])

    def test_a_group_ends_before_the_next_begins(self):
        groups = [group for group, _, _ in self.turns("apm-R.periodic", "apm-W.synced")]
        self.assertEqual(groups, sorted(groups, key=groups.index))
        self.assertEqual(len(set(groups)), 4)

    def test_what_is_done_is_not_done_again(self):
        chosen = cells.select(cells.matrix(("cassandra-g1", "basalt")), ["tene.synced.free"])
        order = cells.turns(chosen, sizes.FULL)
        self.assertEqual(cells.missing(order, set()), order)
        self.assertEqual(cells.missing(order, {order[0], order[2]}), [order[1], *order[3:]])
        self.assertEqual(cells.missing(order, set(order)), [])


class Parts(unittest.TestCase):
    def parts(self, name, number, size):
        return cells.parts(cells.parse(name), number, size)

    def test_the_first_turn_has_the_long_parts(self):
        first = self.parts("apm-W.periodic.free.basalt", 1, sizes.FULL)
        self.assertEqual(first, ["warm", "maximum", "rate-50", "rate-70", "rate-90", "own-80", "sustain-p99", "sustain-p99.9", "soak"])
        self.assertEqual(self.parts("apm-W.periodic.free.basalt", 2, sizes.FULL), first[:6])
        self.assertNotIn("soak", self.parts("apm-R.periodic.free.basalt", 1, sizes.FULL))

    def test_users_are_swept_where_the_workload_asks(self):
        swept = [part for part in self.parts("yj-2.periodic.free.basalt", 1, sizes.FULL) if part.startswith("users-")]
        self.assertEqual((swept[0], swept[-1]), ("users-8", "users-260"))

    def test_the_quick_look_fits_its_time(self):
        turns = cells.turns(cells.quick(), sizes.QUICK)
        self.assertEqual(len(turns), 6)
        # A turn took 3 % more than this when it was looked at.
        self.assertLess(cells.seconds_of(turns, sizes.QUICK), 19 * 60)
        self.assertFalse(sizes.QUICK.is_short())
        self.assertTrue(dataclasses.replace(sizes.QUICK, warm_cassandra=299).is_short())


if __name__ == "__main__":
    unittest.main()
