"""Tests of figures.py and plots.py with made-up figures."""
import unittest

import figures
import plots


def measured(rate, **more):
    return {"rate": rate, "p50_ms": 0.5, "p99_ms": 2, "cpu_us": 10, **more}


ROUNDS = [
    {"paddock": measured(1000, kib_per_waiter=1.5), "kazoo": measured(100)},
    {"paddock": measured(1200, kib_per_waiter=2.5), "kazoo": measured(400)},
    {"paddock": measured(900, kib_per_waiter=1.75)},
    {"paddock": measured(5000), "kazoo": measured(500)},
]


class Figures(unittest.TestCase):
    def test_a_spread_is_the_median_and_the_extremes(self):
        self.assertEqual(figures.median_and_spread([4, 1, 2]), (2, 1, 4))
        self.assertEqual(figures.median_and_spread([4, 1]), (2.5, 1, 4))

    def test_numbers_are_short(self):
        shown = [figures.short(value) for value in (12345.6, 99.96, 9.996, 1.5, 0.012345, 0)]
        self.assertEqual(shown, ["12346", "100", "10.0", "1.50", "0.0123", "0.00"])

    def test_ratios_are_of_rates_in_one_round(self):
        self.assertEqual(figures.ratios(ROUNDS, "paddock", "kazoo"), [10, 3, 10])

    def test_a_contestant_has_one_row_with_the_baseline_in_multiples_of_its_rate(self):
        baseline, other = figures.rows("waiters", ROUNDS, "paddock")
        self.assertEqual(baseline[:3], ("waiters", "paddock", "1100 (900–5000)"))
        self.assertEqual(baseline[8:], ("", "1.75 KiB per waiter"))
        self.assertEqual(other[:3], ("waiters", "kazoo", "400 (100–500)"))
        self.assertEqual(other[8:], ("10.0× (3.00–10.0)", ""))

    def test_processes_add_their_rates_and_share_their_cpu_time(self):
        parts = [{"operations": 30, "late": 1, "rate": 300, "p50_ms": 1, "p99_ms": 2, "cpu_us": 10},
                 {"operations": 10, "late": 2, "rate": 100, "p50_ms": 3, "p99_ms": 9, "cpu_us": 50}]
        self.assertEqual(figures.added(parts), {"operations": 40, "late": 3, "rate": 400, "p50_ms": 2,
                                                "p99_ms": 9, "cpu_us": 20})
        self.assertIs(figures.added(parts[:1]), parts[0])

    def test_what_the_server_counted_is_divided_by_all_operations(self):
        counted = figures.per_operation({"operations": 90, "late": 10}, {"requests": 50}, {"requests": 350})
        self.assertEqual(counted, {"requests": 3})

    def test_percentiles_count_only_if_there_were_as_many_operations_as_contenders(self):
        once = {"operations": 10, **measured(100, nodes=1, handoffs=2)}
        self.assertEqual(figures.chosen(once, 10, ("nodes",)), {"operations": 10, **measured(100, nodes=1)})
        self.assertNotIn("p99_ms", figures.chosen(once, 11, ()))

    def test_hand_offs_have_a_ratio_of_their_own(self):
        rounds = [{"paddock": measured(100, handoffs=100), "redis-py": measured(200, handoffs=20)}]
        baseline, other = figures.rows("waiters", rounds, "paddock")
        self.assertEqual(baseline[8:], ("", "100 hand-offs/s"))
        self.assertEqual(other[8:], ("0.500× (0.500–0.500)", "20.0 hand-offs/s (× 5.00)"))

    def test_a_figure_that_no_round_has_is_a_dash(self):
        ((_, _, _, p50, p99, *_),) = figures.rows("waiters", [{"kazoo": {"rate": 1, "cpu_us": 2}}], "paddock")
        self.assertEqual((p50, p99), ("–", "–"))

    def test_without_the_baseline_there_is_no_ratio(self):
        (row,) = figures.rows("waiters", [{"kazoo": measured(100)}], "paddock")
        self.assertEqual(row[8], "")

    def test_the_table_names_a_case_once(self):
        head, first, second, third = figures.table(
            [*figures.rows("waiters", ROUNDS, "paddock"), *figures.rows("locks", ROUNDS[2:3], "paddock")])
        self.assertTrue(head.startswith("case "))
        self.assertTrue(first.startswith("waiters  paddock "))
        self.assertTrue(second.startswith("         kazoo "))
        self.assertTrue(third.startswith("locks    paddock "))
        self.assertEqual(head.index("operations/s") + len("operations/s"),
                         second.index("(100–500)") + len("(100–500)"))


class Plots(unittest.TestCase):
    def test_bars_have_a_row_for_each_case_and_a_hole_where_nothing_was_measured(self):
        script = plots.bars("title", ["a", "b"], {"one": {"a": 10, "b": 20}, "two": {"b": 5}}, "x.svg")
        self.assertIn('"one" 10 20\n"two" NaN 5\n', script)

    def test_a_curve_has_a_block_for_each_contestant(self):
        script = plots.curves("title", "waiters", {"a": {500: 2, 50: 1}, "b": {50: 3}}, "x.svg")
        self.assertIn("$data0 << EOD\n50 1\n500 2\nEOD\n$data1 << EOD\n50 3\nEOD\n", script)


unittest.main()
