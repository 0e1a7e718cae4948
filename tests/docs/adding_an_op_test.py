#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/adding-an-op.md works as written: adding_an_op_test.py SCRATCH_FOLDER."""
from pathlib import Path

import follow_page


class AddingAnOp(follow_page.FollowedPage):
    page, thing = "docs/adding-an-op.md", "operator"
    passes = r"\[  PASSED  \] 2 tests"
    fails = "[  FAILED  ] LeakyRelu.AgreesWithTheReference"
    scratch = Path("adding_an_op")

    def test_the_page_works_as_written(self):
        self.follow()


if __name__ == "__main__":
    follow_page.main(AddingAnOp)
