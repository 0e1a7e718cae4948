# SPDX-License-Identifier: Apache-2.0
import array
import struct
import unittest

import command


def npy(kind, shape, data):
    """A version 1.0 .npy file."""
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    return b"\x93NUMPY\x01\0" + struct.pack("<H", len(header)) + header.encode() + bytes(data)


class Predict(command.CommandTest):
    def setUp(self):
        super().setUp()
        self.train(epochs=4)
        self.model = "run/model.safetensors"
        self.pixels, self.labels = command.patterns(20, seed=9)

    def image(self, index):
        return self.pixels[index * 784:index * 784 + 784]

    def test_idx_lines_name_path_class_and_probability(self):
        (self.folder / "some").write_bytes(command.idx((20, 28, 28), self.pixels))
        out, _ = self.run_linnet("predict", self.model, "some")
        lines = [line.split("\t") for line in out.splitlines()]
        self.assertEqual([line[0] for line in lines], [f"some[{i}]" for i in range(20)])
        right = sum(line[1] == str(label) for line, label in zip(lines, self.labels))
        self.assertGreater(right, 12)  # guessing gives 2
        self.assertTrue(all(0.1 <= float(line[2]) <= 1 for line in lines))

    def test_every_format_gives_the_same(self):
        folder = self.folder / "images"
        (folder / "nested").mkdir(parents=True)
        (folder / "b.png").write_bytes(command.png(self.image(1)))
        (folder / "nested" / "c.PNG").write_bytes(command.png(self.image(2)))
        (folder / "notes.txt").write_text("not an image")
        (self.folder / "a.npy").write_bytes(npy("|u1", (3, 28, 28, 1), self.pixels[:3 * 784]))
        floats = array.array("f", list(self.image(1))).tobytes()
        (self.folder / "one.npy").write_bytes(npy("<f4", (28, 28, 1), floats))
        (self.folder / "some").write_bytes(command.idx((3, 28, 28), self.pixels[:3 * 784]))
        results = self.run_json("predict", self.model, "some", "a.npy", "images",
                                "one.npy")["predictions"]
        self.assertEqual([r["input"] for r in results],
                         ["some[0]", "some[1]", "some[2]", "a.npy[0]", "a.npy[1]", "a.npy[2]",
                          "images/b.png", "images/nested/c.PNG", "one.npy"])
        for index, same in ((0, [3]), (1, [4, 6, 8]), (2, [5, 7])):
            for other in same:
                for x, y in zip(results[index]["outputs"], results[other]["outputs"]):
                    self.assertAlmostEqual(x, y, places=5)
        self.assertAlmostEqual(sum(results[0]["outputs"]), 1, places=4)

    def test_resize_takes_the_centre(self):
        """An image with a frame around it is answered as the image."""
        framed = bytearray()
        for row in range(56):
            inner = self.image(3)[(row - 14) * 28:(row - 13) * 28] if 14 <= row < 42 else bytes(28)
            framed += bytes(14) + inner + bytes(14)
        (self.folder / "framed.png").write_bytes(command.png(framed, 56, 56))
        (self.folder / "plain.png").write_bytes(command.png(self.image(3)))
        plain = self.run_json("predict", self.model, "plain.png")["predictions"]
        centre = self.run_json("predict", self.model, "framed.png", "--resize", 56)["predictions"]
        whole = self.run_json("predict", self.model, "framed.png")["predictions"]
        self.assertEqual(centre[0]["outputs"], plain[0]["outputs"])
        self.assertNotEqual(whole[0]["outputs"], plain[0]["outputs"])

    def test_output_holds_all_probabilities(self):
        (self.folder / "some").write_bytes(command.idx((20, 28, 28), self.pixels))
        results = self.run_json("predict", self.model, "some", "--output", "out.npy", "--batch",
                                7)["predictions"]
        content = (self.folder / "out.npy").read_bytes()
        size = struct.unpack("<H", content[8:10])[0]
        self.assertIn(b"(20, 10)", content[:10 + size])
        values = array.array("f", content[10 + size:])
        self.assertEqual(len(values), 200)
        for i, result in enumerate(results):
            self.assertAlmostEqual(max(values[i * 10:i * 10 + 10]), result["probability"], places=6)

    def test_a_picture_of_another_size_is_refused(self):
        (self.folder / "small").write_bytes(command.idx((1, 2, 2), bytes(4)))
        self.assert_error("'small' holds samples of (2, 2, 1), but the model takes (28, 28, 1)",
                          "predict", self.model, "small")

    def test_missing_and_empty_inputs(self):
        self.assert_error("cannot read 'none.png': No such file or directory", "predict",
                          self.model, "none.png")
        (self.folder / "empty").mkdir()
        self.assert_error("the folder 'empty' holds no images (png, jpg, bmp, webp, tif)", "predict",
                          self.model, "empty")

    def test_a_damaged_input_or_model_is_named(self):
        (self.folder / "cut.png").write_bytes(command.png(self.image(0))[:60])
        _, err = self.run_linnet("predict", self.model, "cut.png", status=2)
        self.assertRegex(err, r"^linnet: error: [^\n]*cut\.png[^\n]*\n$")
        whole = (self.folder / self.model).read_bytes()
        (self.folder / "some").write_bytes(command.idx((1, 28, 28), self.image(0)))
        for size in (0, 4, 100, len(whole) // 2, len(whole) - 1):
            (self.folder / "cut.safetensors").write_bytes(whole[:size])
            _, err = self.run_linnet("predict", "cut.safetensors", "some", status=2)
            self.assertRegex(err, r"^linnet: error: [^\n]*cut\.safetensors[^\n]*\n$")

    def test_a_file_has_the_format_of_its_name(self):
        (self.folder / "some").write_bytes(command.idx((1, 28, 28), self.image(0)))
        for name in ("p.xlsx", "p.json", "p.CSV"):
            self.assert_error(f"--output '{name}': expected a name that ends in .csv or .npy", "predict", self.model,
                              "some", "-o", name)
        self.assert_error("--output 'f.csv': expected a name that ends in .npy", "features", self.model, "some", "-o",
                          "f.csv")
        self.run_linnet("predict", self.model, "some", "-o", "plain")

    def test_nothing_is_written_on_a_full_disk(self):
        (self.folder / "some").write_bytes(command.idx((1, 28, 28), self.image(0)))
        self.assert_error("cannot write '/dev/full': No space left on device", "predict",
                          self.model, "some", "--output", "/dev/full")


if __name__ == "__main__":
    unittest.main()
