# SPDX-License-Identifier: Apache-2.0
"""`linnet train TABLE --ensemble N`: several networks in one model file."""
import unittest

import command
from test_tables import write_flowers


class TableEnsembles(command.CommandTest):
    def test_an_ensemble_is_one_model(self):
        write_flowers(self.folder / "flowers.csv")
        train = ("train", "flowers.csv", "--target", "kind", "--epochs", 2, "--device", "cpu")
        for members in (1, 3):
            self.run_linnet(*train, "--ensemble", members, "--out", f"of-{members}")
        sizes = [(self.folder / f"of-{members}/model.safetensors").stat().st_size for members in (1, 3)]
        self.assertGreater(sizes[1], sizes[0] + 20_000)
        out, _ = self.run_linnet("predict", "of-3", "flowers.csv")
        self.assertEqual({len(line.split("\t")) for line in out.splitlines()}, {3})
        self.assert_error("--ensemble makes a new network; leave it out to train that of 'of-1' further",
                          "train", "flowers.csv", "--from", "of-1", "--ensemble", 2)
        self.assert_error("--ensemble trains by gradients; leave it out with [levenberg_marquardt]",
                          "train", "flowers.csv", "--target", "kind", "--ensemble", 2, "--optimizer",
                          "levenberg_marquardt")
        (self.folder / "own.toml").write_text(
            '[data]\nfile = "flowers.csv"\ntarget = "kind"\nensemble = 2\n[network]\nlayers = [{ type = "dense", '
            'units = 3 }]\n')
        self.assert_error("--ensemble averages default networks; leave it out with a network of your own",
                          "train", "own.toml")


if __name__ == "__main__":
    unittest.main()
