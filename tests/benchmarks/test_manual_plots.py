# SPDX-License-Identifier: Apache-2.0
"""The plots of the manual are those of its tables."""
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "benchmarks"))
import manual_plots  # noqa: E402


class ManualPlots(unittest.TestCase):
    def test_are_those_of_the_tables(self):
        for page, section, file, title, columns in manual_plots.PLOTS:
            self.assertEqual((ROOT / "docs/images" / file).read_text(), manual_plots.drawing(page, section, title, columns),
                             "benchmarks/manual_plots.py writes them again")

    def test_a_bar_ends_at_its_ratio(self):
        self.assertEqual(manual_plots.place(manual_plots.LEAST), manual_plots.LEFT)
        self.assertGreater(manual_plots.place(2), manual_plots.place(1))


if __name__ == "__main__":
    unittest.main()
