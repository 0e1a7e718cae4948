# SPDX-License-Identifier: Apache-2.0
"""benchmarks/workloads.json is the one table of the workloads: what stands there alone is known to
the runner, to the peers and to the checks, and nothing else lists workloads. That the command knows
it is tested in tests/command/workloads_test.cpp."""
import copy
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))
import engines  # noqa: E402
import workloads  # noqa: E402

TABLE = "benchmarks/workloads.json"
# What may name a workload beside the table: documents that report results, results, programs of
# frameworks that cannot read JSON, the test of ranks, which has its own data for each, and this file.
MAY_NAME = ("README.md", "CHANGELOG.md", "docs/", "benchmarks/results/", "benchmarks/peers/README.md",
            "benchmarks/peers/flux/", "benchmarks/peers/opennn/", "tests/command/test_launch.py",
            "tests/benchmarks/test_workloads.py")
NAME = "only-in-the-table"


class Workloads(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="linnet-workloads-")
        self.addCleanup(temporary.cleanup)
        self.tree = pathlib.Path(temporary.name)
        for folder in ("benchmarks", "tools"):
            shutil.copytree(ROOT / folder, self.tree / folder, ignore=shutil.ignore_patterns(
                "results", "__pycache__", "*.cpp"))
        table = json.loads((ROOT / TABLE).read_text())
        entry = copy.deepcopy(next(each for each in table["workloads"]
                                   if each["name"] == "vgg-cifar10"))
        entry.update(name=NAME, files="cifar10", peers=["torch"])
        entry["gpu_numerics"][0]["rank"] = 0
        entry["gpu_targets"][0]["over"] = [7, 7, 7]
        table["workloads"].append(entry)
        (self.tree / TABLE).write_text(json.dumps(table))

    def says(self, *arguments):
        process = subprocess.run([sys.executable, "-B", *arguments], cwd=self.tree, text=True,
                                 capture_output=True, timeout=60)
        return process.stdout + process.stderr

    def test_a_new_one_touches_what_contributing_counts(self):
        row = re.search(r"^\| \[a workload\][^|]* \| (\d+) \| (\d+) entry \|",
                        (ROOT / "CONTRIBUTING.md").read_text(), re.MULTILINE)
        files = [path for path in self.tree.rglob("*") if path.is_file()]
        there = [path for path in files if (ROOT / path.relative_to(self.tree)).is_file()]
        changed = [path for path in there
                   if path.read_bytes() != (ROOT / path.relative_to(self.tree)).read_bytes()]
        self.assertEqual([path.relative_to(self.tree).as_posix() for path in changed], [TABLE])
        self.assertEqual((len(files) - len(there), len(changed)), (int(row[1]), int(row[2])))

    def test_the_runner_knows_what_stands_in_the_table_alone(self):
        self.assertIn(NAME, self.says("benchmarks/run.py", "--help"))
        self.assertIn("there is no nothing", self.says(
            "benchmarks/run.py", NAME, "--peers", "torch", "--linnet", "nothing"))
        self.assertIn("unknown workload 'only-here'", self.says("benchmarks/run.py", "only-here"))
        self.assertIn(f"'{NAME}'", self.says("-c", (
            "import sys; sys.path.insert(0, 'benchmarks'); import published\n"
            "print([table.workload for table in published.TABLES])")))

    def test_so_do_the_checks_on_a_gpu(self):
        found = self.says("-c", (
            "import sys; sys.path[:0] = ['benchmarks', 'tools', 'tools/gpu_check']\n"
            "import correctness, gpu_report, phases\n"
            "print(correctness.NUMERIC_WORK[0][0], phases.OTHERS[-1].name)\n"
            f"print(gpu_report.target_of(('{NAME}', 64, 1, 'tf32', 'epoch', 'resident', None), "
            "'eager'))"))
        self.assertEqual(found, f"{NAME} {NAME}\n7\n")

    def test_a_peers_program_takes_its_numbers_from_the_table(self):
        entry = workloads.of_program("peers/torch/vgg_cifar10.py")
        self.assertEqual((entry["name"], entry["parameters"]), ("vgg-cifar10", 3441592))

    def test_the_peers_of_a_workload_are_those_that_have_its_program(self):
        folders = {peer.folder: peer for peer in engines.PEERS.values() if peer.runs_in != "plain"}
        for name, entry in workloads.ALL.items():
            there = [folder for folder, peer in folders.items() if peer.program(name).exists()]
            self.assertEqual(sorted(entry["peers"]), sorted(there), name)

    def test_every_size_has_its_four_numbers(self):
        for name, mode, entry in workloads.modes():
            self.assertLessEqual({"quick", "reduced", "published"}, set(entry["sizes"][mode]), name)
            for size in entry["sizes"][mode].values():
                batch, samples, warmup, epochs = size
                self.assertTrue(batch > 0 and samples >= 0 and warmup >= 0 and epochs > 0, name)

    def test_nothing_else_names_them(self):
        git = shutil.which("git")
        if git is None or not (ROOT / ".git").exists():
            self.skipTest("this is not a clone")
        found = subprocess.run([git, "grep", "-l", "vgg-cifar10"], cwd=ROOT, text=True,
                               capture_output=True, check=True).stdout.split()
        self.assertEqual([path for path in found if path != TABLE and not path.startswith(MAY_NAME)],
                         [])


if __name__ == "__main__":
    unittest.main()
