# SPDX-License-Identifier: Apache-2.0
"""Models made by version 0.1, in tests/fixtures/version01, read images and texts as that version did."""
import json
import pathlib
import unittest

import command

FIXTURES = pathlib.Path(__file__).resolve().parents[1] / "fixtures/version01"


class Version01(command.CommandTest):
    def outputs(self, *arguments, **more):
        return [p["outputs"] for p in self.run_json("predict", *arguments, **more)["predictions"]]

    def assert_then(self, outputs, folder):
        """The samples give the same bits; those of then came from another processor, perhaps."""
        wanted = json.loads((FIXTURES / folder / "predictions.json").read_text())
        self.assertEqual(len(outputs), len(wanted))
        for row, then in zip(outputs, wanted):
            for value, number in zip(row, then):
                self.assertAlmostEqual(value, number, 5)

    def test_images_keep_their_orientation_and_their_high_bytes(self):
        model = FIXTURES / "photos/model.safetensors"
        names = ("a_turned", "b_mirrored", "c_wide", "d_twelve_bits")
        outputs = self.outputs(model, *(FIXTURES / f"photos/{name}.png" for name in names))
        self.assertEqual(outputs, self.outputs(model, FIXTURES / "photos/samples.npy"))
        self.assert_then(outputs, "photos")

    def test_texts_keep_their_words(self):
        model = FIXTURES / "texts/model.safetensors"
        texts = (FIXTURES / "texts/texts.txt").read_text(encoding="utf-8").splitlines()
        outputs = self.outputs(model, *texts)
        self.assertEqual(outputs, self.outputs(model, FIXTURES / "texts/ids.npy"))
        self.assert_then(outputs, "texts")


if __name__ == "__main__":
    unittest.main()
