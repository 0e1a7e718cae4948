#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/adding-a-layer.md works as written: adding_a_layer_test.py SCRATCH_FOLDER."""
from pathlib import Path

import follow_page


class AddingALayer(follow_page.FollowedPage):
    page, thing = "docs/adding-a-layer.md", "layer"
    after = "linnet_network_layer(rescale)\n"
    passes = r"OK \] ScaledTanh.IsListedAndStandsInModelFiles"
    fails = "[  FAILED  ] ScaledTanh.RefusesASlopeOfZero"
    scratch = Path("adding_a_layer")

    def test_the_page_works_as_written(self):
        self.follow()


if __name__ == "__main__":
    follow_page.main(AddingALayer)
