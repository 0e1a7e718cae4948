# SPDX-License-Identifier: Apache-2.0
"""benchmarks/portable.py: no folder of the machine gets into a result."""
import pathlib
import sys
import types
import unittest
import unittest.mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))
import portable  # noqa: E402

# Put together here, so that this file itself holds no such path (tools/check_paths.py).
HOME = pathlib.Path("/") / "home" / "me"
OPT = pathlib.Path("/") / "opt"


class Words(unittest.TestCase):
    def setUp(self):
        home = unittest.mock.patch.object(pathlib.Path, "home", return_value=HOME)
        home.start()
        self.addCleanup(home.stop)
        self.words = portable.Words(types.SimpleNamespace(
            data={"mnist": f"{HOME}/sets/mnist", "cifar10": f"{HOME}/sets/", "imdb": "imdb"},
            flux=HOME / "flux", opennn=None, linnet=str(ROOT / "build/release/bin/linnet")))

    def check(self, **cases):
        for given, expected in cases.values():
            self.assertEqual(self.words.text(str(given)), expected)

    def test_commands(self):
        self.check(repository=(ROOT / "benchmarks/run.py", "benchmarks/run.py"),
                   folder=(f"there is no {ROOT}", "there is no ."),
                   linnet=(ROOT / "build/release/bin/linnet", "build/release/bin/linnet"),
                   python=(OPT / "tf/bin/python", "$PEERS/tf/bin/python"),
                   installed=(HOME / ".cache/linnet/peers/jax/bin/python3.11",
                              "$PEERS/jax/bin/python3.11"),
                   system=("/usr/bin/python3 /usr/lib/x.so", "/usr/bin/python3 /usr/lib/x.so"),
                   julia=(f"--project={HOME}/flux", "--project=$FLUX"),
                   exported=("/tmp/linnet-bench-ab_1/data.json", "$EXPORTED/data.json"))
        self.words = portable.Words(types.SimpleNamespace(
            data={}, flux=None, opennn=None, linnet=str(OPT / "linnet/bin/linnet")))
        self.check(elsewhere=(OPT / "linnet/bin/linnet", "linnet"))

    def test_data(self):
        self.check(named=(HOME / "sets/mnist", "$DATA/mnist"),
                   inside=(HOME / "sets/x.bin", "$DATA/cifar10/x.bin"),
                   relative=("imdb", "imdb"),
                   sentence=(f"'{HOME}/sets/mnist' is empty", "'$DATA/mnist' is empty"),
                   other=(HOME / "settee", "~/settee"))

    def test_a_whole_result(self):
        result = {"n": 1, "x": None, "rows": [{"command": ("linnet", f"{HOME}/a"), "runs": [True]}]}
        self.assertEqual(self.words.result(result), {
            "n": 1, "x": None, "rows": [{"command": ["linnet", "~/a"], "runs": [True]}]})


if __name__ == "__main__":
    unittest.main()
