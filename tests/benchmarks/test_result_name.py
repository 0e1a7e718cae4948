# SPDX-License-Identifier: Apache-2.0
"""What results are called, and that those in benchmarks/results/ say what they ran on and with."""
import datetime
import json
import pathlib
import sys
import tempfile
import unittest
import unittest.mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))
import options  # noqa: E402
import result_name  # noqa: E402
import result_page  # noqa: E402
import result_table  # noqa: E402

RESULTS = ROOT / "benchmarks/results"


def parsed(*words):
    with unittest.mock.patch.object(sys, "argv", ["run.py", *words]):
        return options.arguments()


class ResultName(unittest.TestCase):
    def test_what_was_measured(self):
        for words, expected in (
                ((), "all"), (("mnist-cnn",), "mnist-cnn"),
                (("mnist-cnn:infer", "--batches", "1,32"), "mnist-cnn-infer-by-batch"),
                (("mnist-cnn", "flux-cnn", "--precision", "bf16"), "2-workloads-bf16"),
                (("mnist-cnn", "--neighbour", "--footprint"), "mnist-cnn-neighbour-footprint"),
                (("mnist-cnn", "--threads", "1,2", "--quick"), "mnist-cnn-by-threads-quick")):
            self.assertEqual(result_name.what(parsed(*words)), expected)

    def test_the_widest_instruction_set_that_is_used(self):
        zen4 = ["avx2", "avx512_bf16", "avx512f"]
        self.assertEqual(result_name.used_on_cpu(zen4, "auto"), "avx512")
        self.assertEqual(result_name.used_on_cpu([*zen4, "amx_tile"], "auto"), "avx512")
        self.assertEqual(result_name.used_on_cpu([*zen4, "amx_tile"], "bf16"), "amx")
        self.assertEqual(result_name.used_on_cpu(["avx2"], "bf16"), "avx2")
        self.assertEqual(result_name.used_on_cpu(["asimd"], "auto"), "neon")
        self.assertEqual(result_name.used_on_cpu([], "auto"), "scalar")

    def test_the_place_of_a_result(self):
        with tempfile.TemporaryDirectory() as folder:
            wanted = parsed("mnist-cnn", "--out", folder)
            today = datetime.date.today()
            path = result_name.place(wanted, {"used": "avx2"})
            self.assertEqual(path.name, f"{today}-cpu-avx2-mnist-cnn")
            pathlib.Path(f"{path}.json").touch()
            self.assertEqual(result_name.place(wanted, {"used": "avx2"}).name,
                             f"{today}-cpu-avx2-mnist-cnn-2")
            wanted = parsed("mnist-cnn", "--device", "cuda", "--what", "eight", "--out", folder)
            self.assertEqual(result_name.place(wanted, {"used": "sm90"}).name,
                             f"{today}-gpu-sm90-eight")

    def test_results_are_called_by_the_rule(self):
        for path in RESULTS.iterdir():
            if path.is_dir():  # of tools/gpu_check.sh
                continue
            self.assertIn(path.suffix, (".json", ".md"), "pages are made, not committed")
            self.assertRegex(path.stem, result_name.PATTERN)
            other = path.with_suffix(".md" if path.suffix == ".json" else ".json")
            self.assertTrue(other.exists(), other)

    def test_results_record_instruction_sets_and_versions(self):
        for path in RESULTS.glob("*.json"):
            result = json.loads(path.read_text())
            date, device, used = path.stem[:10], *path.stem[11:].split("-")[:2]
            self.assertEqual((result["date"][:10], result["instruction_sets"]["used"]),
                             (date, used), path.name)
            self.assertEqual(device == "cpu", result["settings"]["device"] == "cpu", path.name)
            self.assertTrue(result["instruction_sets"]["machine"], path.name)
            ran = {name for row in result["workloads"] for name, engine in row["engines"].items()
                   if not engine["failed"]}
            self.assertLessEqual(ran, set(result["versions"]), path.name)
            self.assertEqual(path.with_suffix(".md").read_text(), result_table.markdown(result),
                             "benchmarks/result_page.py makes it")

    def test_the_page_is_made_outside_of_the_results(self):
        source = next(path for path in sorted(RESULTS.glob("*.json"))
                      if "kind" not in json.loads(path.read_text()))
        with tempfile.TemporaryDirectory() as folder, \
                unittest.mock.patch.object(result_page, "PAGES", pathlib.Path(folder)), \
                unittest.mock.patch("builtins.print"):
            result_page.main([str(source)])
            page = pathlib.Path(folder, source.stem + ".html").read_text()
        result = json.loads(source.read_text())
        self.assertIn(f"Instruction sets: {result['instruction_sets']['used']}", page)
        self.assertIn("oneDNN 2.6.3", page)


if __name__ == "__main__":
    unittest.main()
