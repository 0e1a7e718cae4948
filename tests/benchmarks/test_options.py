# SPDX-License-Identifier: Apache-2.0
"""The rows of work that run.py's options ask for, and the Pythons that its peers run in."""
import contextlib
import io
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "benchmarks"))
import engines  # noqa: E402
import jobs  # noqa: E402
import options  # noqa: E402
import peer_python  # noqa: E402
import prepared  # noqa: E402


def parsed(*words):
    with unittest.mock.patch.object(sys, "argv", ["run.py", *words]):
        return options.arguments()


class Options(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="linnet-options-")
        self.addCleanup(temporary.cleanup)
        self.cache = pathlib.Path(temporary.name)
        patch = unittest.mock.patch.dict(os.environ, XDG_CACHE_HOME=temporary.name)
        patch.start()
        self.addCleanup(patch.stop)

    def test_a_job_for_each_workload_batch_and_threads(self):
        def work(*words):
            return [(job.name, job.batch, job.samples, job.threads)
                    for job in jobs.jobs_of(parsed(*words))]
        self.assertEqual(work("mnist-cnn", "--quick"), [("mnist-cnn", 128, 1280, 0)])
        self.assertEqual(work("mnist-cnn", "--threads", "1,2"),
                         [("mnist-cnn", 128, 10000, 1), ("mnist-cnn", 128, 10000, 2)])
        self.assertEqual(work("mnist-cnn:infer", "flux-cnn", "--quick", "--batches", "1,2000"),
                         [("mnist-cnn:infer", 1, 1000, 0), ("mnist-cnn:infer", 2000, 2000, 0),
                          ("flux-cnn", 1, 1000, 0), ("flux-cnn", 2000, 2000, 0)])

    def test_all_peers_are_those_that_compute_and_can(self):
        peers = parsed("--peers", "all").peers
        self.assertLess({"torch", "torch-max-autotune", "jax", "tensorflow"}, set(peers))
        self.assertFalse([name for name in peers if "fake" in name or "graph" in name])
        self.assertIn("torch-graph", parsed("--peers", "all", "--device", "cuda").peers)
        self.assertEqual(parsed("--peers", "none").peers, [])

    def test_int8_is_for_predictions(self):
        job, = jobs.jobs_of(parsed("resnet50-features", "--precision", "int8"))
        self.assertIn("--int8", engines.linnet_command("linnet", job))
        self.assertNotIn("--precision", engines.linnet_command("linnet", job))
        command = engines.peer_command(engines.PEERS["openvino"], ["python"], "folder", job)
        self.assertEqual(command[command.index("--precision") + 1], "int8")
        error = io.StringIO()
        with contextlib.redirect_stderr(error), self.assertRaises(SystemExit):
            parsed("mnist-cnn:infer", "mnist-cnn", "--precision", "int8")
        self.assertIn("--precision int8 is for predictions; write mnist-cnn:infer", error.getvalue())

    def test_slow_peers_run_less_often(self):
        options = parsed("--peers", "torch,jax:2")
        self.assertEqual((options.peers, options.at_most), (["torch", "jax"], {"jax": 2}))

    def test_every_framework_has_its_workloads(self):
        folders = {peer.folder for peer in engines.PEERS.values() if peer.runs_in == "python"}
        self.assertEqual(folders, {*peer_python.installable(), "linnet-python"})  # a wheel of this tree

    def test_linnets_own_package_is_a_peer_of_all_where_its_python_is_named(self):
        self.assertNotIn("linnet-python", parsed("--peers", "all").peers)
        self.assertIn("linnet-python", parsed("--peers", "all", "--python", "linnet-python=/a/python").peers)

    def test_flux_is_a_peer_where_its_project_is_named(self):
        self.assertNotIn("flux", parsed("--peers", "all").peers)
        self.assertEqual(parsed("--peers", "jax", "--flux", "/f").peers, ["jax", "flux"])
        self.assertEqual(parsed("--peers", "flux:2", "--flux", "/f").peers, ["flux"])
        self.assertEqual(parsed("--peers", "none", "--flux", "/f").peers, ["flux"])

    def test_the_environment_of_tuned_and_of_plain_peers(self):
        own = {name: peer.environment(2) for name, peer in engines.PEERS.items()}
        self.assertEqual((own["torch-plain"], own["keras"]), ({}, {}))
        self.assertEqual(own["torch"]["OMP_NUM_THREADS"], "2")
        self.assertNotIn("OMP_NUM_THREADS", own["jax"])
        self.assertEqual(own["tensorflow"], {**own["jax"], "TF_ENABLE_ONEDNN_OPTS": "1"})
        self.assertEqual(own["opennn"], {**own["jax"], "OMP_NUM_THREADS": "2"})

    def test_pythons(self):
        own = self.cache / "linnet/peers/jax/bin/python"
        own.parent.mkdir(parents=True)
        own.touch()
        found = parsed("--python", "torch=/somewhere/python").pythons
        self.assertEqual((found["jax"], found["torch"]), (str(own), "/somewhere/python"))

    def test_what_is_installed(self):
        self.assertEqual(parsed("--peers", "jax,tensorflow").install, [])
        words = ("--peers", "jax,tensorflow", "--install-peers")
        self.assertEqual(parsed(*words).install, ["jax", "tensorflow"])
        self.assertEqual(parsed(*words, "--python", "jax=/a/python").install, ["tensorflow"])
        with unittest.mock.patch.object(peer_python.subprocess, "run") as run:
            self.assertIsNone(peer_python.install("jax"))
        made, filled = [list(map(str, call.args[0])) for call in run.call_args_list]
        folder = str(self.cache / "linnet/peers/jax")
        self.assertEqual(made, [sys.executable, "-m", "venv", folder])
        self.assertEqual((filled[0], filled[-1]),
                         (folder + "/bin/python", str(peer_python.PEERS / "jax/requirements.txt")))

    def test_what_cannot_be_installed_is_a_row_with_the_reason(self):
        error = subprocess.CalledProcessError(3, "pip")
        with unittest.mock.patch.object(peer_python.subprocess, "run", side_effect=error), \
                contextlib.redirect_stderr(io.StringIO()):
            why = peer_python.install("tensorflow")
        self.assertRegex(why, "could not be installed into .*/tensorflow: exit status 3 of venv$")
        options = parsed("mnist-cnn", "gru-imdb", "--peers", "fake")
        options.not_installed = {"fake": why}
        reasons = [prepared.engines_of(job, options, "/data")["fake"][-1]
                   for job in jobs.jobs_of(options)]
        self.assertEqual(reasons, [why, "there is no benchmarks/peers/fake/gru_imdb.py"])

    def test_what_is_pinned(self):
        for framework in peer_python.installable():
            lines = (peer_python.PEERS / framework / "requirements.txt").read_text().splitlines()
            for line in lines[1:]:
                self.assertRegex(line, r"^[a-z\-\[\]]+==[\d.]+$")

    def test_environments(self):
        self.assertIn("OMP_NUM_THREADS", engines.tuned_environment(2))
        self.assertNotIn("OMP_NUM_THREADS", engines.tuned_environment(2, openmp=False))


if __name__ == "__main__":
    unittest.main()
