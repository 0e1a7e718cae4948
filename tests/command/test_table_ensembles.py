# SPDX-License-Identifier: Apache-2.0
"""`linnet train TABLE --ensemble N`: several networks in one model file."""
import re
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
        self.assert_error("--ensemble is for default networks; leave it out with a network of your own",
                          "train", "own.toml")

    def test_members_hold_out_rows_of_their_own(self):
        write_flowers(self.folder / "flowers.csv")
        train = ("train", "flowers.csv", "--target", "kind", "--epochs", 2, "--device", "cpu")
        rows = len((self.folder / "flowers.csv").read_text().splitlines()) - 1
        tested = round(0.2 * rows)
        for out, arguments in (("chosen", ()), ("three", ("--validation-folds", 3)), ("common", ("--validation-folds", 1)),
                               ("share", ("--validation", 0.1))):
            _, err = self.run_linnet(*train, *arguments, "--out", out)
            kept, trained = out in ("chosen", "three"), int(re.search(r"(\d+) rows train", err)[1])
            self.assertEqual("members that do not learn from them" in err, kept, err)
            (self.assertEqual if kept else self.assertLess)(trained, rows - tested, err)
        weights = [(self.folder / out / "model.safetensors").read_bytes() for out in ("common", "share")]
        self.assertEqual(*weights)
        sizes = [(self.folder / out / "model.safetensors").stat().st_size for out in ("chosen", "three", "common")]
        self.assertGreater(sizes[0], 1.5 * sizes[1])
        self.assertGreater(sizes[1], 2.5 * sizes[2])
        self.assert_error("--validation-folds makes a new network; leave it out to train that of 'chosen' further",
                          "train", "flowers.csv", "--from", "chosen", "--validation-folds", 2)
        self.assert_error("validation folds are random parts of new members' training rows; leave them out with a group, a time, "
                          "a novelty, a validation share of 0 and a model to start from",
                          *train, "--group", "colour", "--validation-folds", 2)
        # The chosen run is trained further with common rows.
        _, err = self.run_linnet("train", "flowers.csv", "--from", "chosen", "--epochs", 1, "--device", "cpu", "--out", "further")
        self.assertNotIn("members that do not", err)


if __name__ == "__main__":
    unittest.main()
