"""Ratios of pairs, their intervals, and how figures are written."""
import math
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import ratios  # noqa: E402


class Ratios(unittest.TestCase):
    def test_the_mean_is_geometric(self):
        self.assertAlmostEqual(ratios.mean([1, 100]), 10)
        self.assertIsNone(ratios.mean([]))
        self.assertIsNone(ratios.mean([1, 0]))

    def test_turns_are_pairs(self):
        # Twice as fast in every pair, however different the turns: the interval has no width.
        found = ratios.ratio({1: 20, 2: 200, 3: 2}, {1: 10, 2: 100, 3: 1})
        self.assertAlmostEqual(found.value, 2)
        self.assertAlmostEqual(found.low, 2)
        self.assertAlmostEqual(found.high, 2)
        self.assertEqual(found.pairs, 3)

    def test_the_interval_is_students(self):
        found = ratios.ratio({1: math.e, 2: 1}, {1: 1, 2: 1})
        # Logarithms 1 and 0: mean 0.5, standard error 0.5, t of one degree of freedom 12.706.
        self.assertAlmostEqual(math.log(found.value), 0.5)
        self.assertAlmostEqual(math.log(found.high), 0.5 + 12.706 / 2)
        self.assertAlmostEqual(math.log(found.low), 0.5 - 12.706 / 2)

    def test_a_turn_without_its_pair_is_left_out(self):
        found = ratios.ratio({1: 4, 2: 1000}, {1: 2, 3: 7})
        self.assertEqual((found.value, found.low, found.pairs), (2, None, 1))
        self.assertEqual(str(found), "2.00 (one turn)")
        self.assertIsNone(ratios.ratio({2: 1}, {1: 1}))
        self.assertIsNone(ratios.ratio({1: 0}, {1: 1}))

    def test_three_digits_are_written(self):
        for value, text in ((0.012345, "0.0123"), (1.5, "1.50"), (12.34, "12.3"), (123.4, "123"), (123456.7, "123,457"), (None, "-"),
                            (0, "0"), (1.2e-9, "1.20e-09")):
            self.assertEqual(ratios.digits(value), text)


if __name__ == "__main__":
    unittest.main()
