# SPDX-License-Identifier: Apache-2.0
"""benchmarks/opennn.py: a peer in C++ that the suite builds against a tree of the user, by a cmake
that checks its arguments and makes the program that computes nothing."""
import contextlib
import io
import json
import os
import pathlib
import sys
import tempfile
import unittest
import unittest.mock

BENCHMARKS = pathlib.Path(__file__).resolve().parents[2] / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))
import engines  # noqa: E402
import jobs  # noqa: E402
import opennn  # noqa: E402
import options  # noqa: E402
import prepared  # noqa: E402
import run  # noqa: E402

CMAKE = """#!{python}
import pathlib, sys
if sys.argv[1] == "-S":
    sys.exit(None if sys.argv[1:] == {configure} else f"cmake got {{sys.argv}}")
program = pathlib.Path(sys.argv[2], "rosenbrock_mlp")
program.parent.mkdir(parents=True, exist_ok=True)
program.write_text('''#!{python}
import os, sys
os.execv(sys.executable, [sys.executable, "{fake}", *sys.argv[1:]])
''')
program.chmod(0o755)
"""


def parsed(*words):
    with unittest.mock.patch.object(sys, "argv", ["run.py", *words]):
        return options.arguments()


class OpenNN(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="linnet-opennn-")
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name).resolve()
        self.tree, self.bin = self.folder / "tree", self.folder / "bin"
        self.bin.mkdir()
        patch = unittest.mock.patch.dict(os.environ, XDG_CACHE_HOME=str(self.folder / "cache"),
                                         PATH=str(self.bin))
        patch.start()
        self.addCleanup(patch.stop)

    def make_tree(self):
        for name in (opennn.HEADER, f"build-cpu/{opennn.LIBRARY}"):
            (self.tree / name).parent.mkdir(parents=True, exist_ok=True)
            (self.tree / name).touch()

    def make_cmake(self, text):
        (self.bin / "cmake").write_text(text)
        (self.bin / "cmake").chmod(0o755)

    def rows(self, *workloads):
        """[(job, command, environment, reason)] as run.py has them."""
        asked = parsed(*workloads, "--quick", "--threads", "1", "--peers", "none", "--opennn",
                       str(self.tree))
        with contextlib.redirect_stderr(io.StringIO()):
            asked.not_installed = run.installed(asked)
        return [(job, *prepared.engines_of(job, asked, self.folder)["opennn"])
                for job in jobs.jobs_of(asked)]

    def reason(self):
        return self.rows("rosenbrock-mlp")[0][-1]

    def test_it_is_a_peer_where_its_tree_is_named(self):
        self.assertNotIn("opennn", parsed("--peers", "all").peers)
        self.assertIn("opennn", parsed("--peers", "all", "--opennn", "/o").peers)
        self.assertEqual(parsed("--peers", "jax", "--opennn", "/o", "--flux", "/f").peers,
                         ["jax", "flux", "opennn"])
        self.assertEqual(parsed("--peers", "opennn:2", "--opennn", "/o").peers, ["opennn"])

    def test_what_is_missing(self):
        self.assertEqual(opennn.build(parsed("--peers", "opennn").opennn),
                         "--opennn does not say where its source tree is")
        self.assertEqual(self.reason(), f"{self.tree} is not a source tree of the OpenNN that is "
                         "wanted: it has no opennn/training_strategy.h")
        (self.tree / "opennn").mkdir(parents=True)
        (self.tree / opennn.HEADER).touch()
        self.assertEqual(self.reason(), "there is no opennn/libopennn.a in a build folder of "
                         f"{self.tree}: build OpenNN first")
        self.make_tree()
        self.assertEqual(self.reason(), "there is no cmake on the PATH")

    def test_a_build_that_fails(self):
        self.make_tree()
        error = "protocol.h:9:9: fatal error: omp.h: No such file"
        failing = "#!/bin/sh\n[ $1 = {} ] || exit 0\necho '{}' >&{}\necho '{}' >&{}\nexit 2\n"
        self.make_cmake(failing.format("--build", error, 2, "gmake: *** [all] Error 2", 2))
        self.assertEqual(self.reason(), f"it could not be built: {error}")
        self.make_cmake(failing.format("--build", error, 1, "ninja: build stopped.", 1))
        self.assertEqual(self.reason(), f"it could not be built: {error}")
        self.make_cmake(failing.format("-S", "  it is built for CUDA", 2, "-- incomplete", 1))
        self.assertEqual(self.reason(), "it could not be built: it is built for CUDA")

    def test_its_program_is_built_and_runs(self):
        self.make_tree()
        key = str(self.tree).strip("/").replace("/", "-")
        built = self.folder / "cache/linnet/peers/opennn" / key
        configure = ["-S", str(BENCHMARKS / "peers/opennn"), "-B", str(built),
                     f"-DOPENNN_DIR={self.tree}", f"-DOPENNN_BUILD={self.tree / 'build-cpu'}"]
        self.make_cmake(CMAKE.format(python=sys.executable, configure=configure,
                                     fake=BENCHMARKS / "peers/fake/mnist_cnn.py"))
        (job, command, environment, reason), other = self.rows("rosenbrock-mlp", "gru-imdb")
        self.assertEqual(other[-1], "there is no benchmarks/peers/opennn/gru_imdb.cpp")
        self.assertIsNone(reason)
        self.assertEqual(command[0], str(built / "rosenbrock_mlp"))
        self.assertEqual(environment["OMP_NUM_THREADS"], "1")
        self.assertNotIn("OMP_PROC_BIND", environment)
        (self.folder / "data.json").write_text(json.dumps(
            {"samples": job.samples, "sample_shape": [1], "sample_dtype": "f32",
             "target_dtype": "f32"}))
        for name in ("samples.bin", "targets.bin"):
            (self.folder / name).write_bytes(bytes(4 * job.samples))
        found = engines.run_once([*command, "--seed", "0"], environment, 100, job)
        self.assertIsNone(found["failed"])
        self.assertEqual(len(found["losses"]), 3)


if __name__ == "__main__":
    unittest.main()
