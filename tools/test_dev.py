# SPDX-License-Identifier: Apache-2.0
"""What ./dev installs unasked, and what it asks about, with an apt-get that installs nothing; and
what git ignores of what it makes."""
import json
import os
import pty
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOGGED = '#!/bin/sh\necho "${0##*/} $*" >>"$LOG"\n'
PROGRAMS = {"apt-get": LOGGED, "cmake": LOGGED, "dpkg-query": "#!/bin/sh\n",  # nothing is installed
            "sudo": '#!/bin/sh\nexec "$@"\n', "nvidia-smi": "#!/bin/sh\nexit 1\n"}


class Packages(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="linnet-dev-")
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)
        for name in ("dev", "CMakePresets.json", "tools/packages.txt", "packaging/release.sh"):
            (self.folder / name).parent.mkdir(exist_ok=True)
            shutil.copy(ROOT / name, self.folder / name)
        for name, text in PROGRAMS.items():
            program = self.folder / "bin" / name
            program.parent.mkdir(exist_ok=True)
            program.write_text(text)
            program.chmod(0o755)
        self.environment = {**os.environ, "LOG": str(self.folder / "log"),
                            "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}"}
        self.environment.pop("LINNET_NO_SETUP", None)

    def dev(self, *arguments, answer=None, **environment):
        """Runs ./dev, with a terminal where there is an answer: its status, its output, and what it
        would have run."""
        there = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE,
                 "stderr": subprocess.STDOUT}
        if answer is not None:
            own, terminal = pty.openpty()
            there = {"stdin": terminal, "stdout": terminal, "stderr": terminal}
            os.write(own, f"{answer}\n".encode())
        process = subprocess.run([self.folder / "dev", *arguments], check=False, text=True,
                                 timeout=60, env={**self.environment, **environment}, **there)
        out = process.stdout
        if answer is not None:
            out = os.read(own, 1 << 16).decode()
            os.close(terminal)
            os.close(own)
        log = self.folder / "log"
        ran = log.read_text() if log.exists() else ""
        log.unlink(missing_ok=True)
        return process.returncode, out, ran

    def test_commands_without_arguments_refuse_them(self):
        for command in ("setup", "format", "lint", "hooks", "docs", "static", "arm64", "package", "clean"):
            status, out, ran = self.dev(command, "now")
            self.assertEqual((status, ran), (2, ""), command)
            self.assertIn(f"'{command}' takes no arguments; got 'now'", out)
        status, out, _ = self.dev("check", "static", "now")
        self.assertEqual(status, 2)
        self.assertIn("'check static' takes no arguments; got 'now'", out)

    def test_release_takes_artefacts(self):
        status, out, ran = self.dev("release", "sdist", "wheel")
        self.assertEqual((status, ran), (2, ""))
        self.assertIn("there is no artefact 'wheel'; expected sdist, packages, static, arm64, web or a Python such as "
                      "python3.12", out)

    def test_install_takes_parts(self):
        status, out, ran = self.dev("install", "prefix", "gpu")
        self.assertEqual((status, ran), (2, ""))
        self.assertIn("there is no part 'gpu'; expected library, development, command, cuda, mpi or gloo", out)
        def installed(*parts):
            _, out, ran = self.dev("install", "prefix", *parts, answer="y")
            return [line.split()[-1] for line in ran.splitlines() if line.startswith("cmake --install")], out
        self.assertEqual(installed()[0], ["library", "development", "command", "mpi", "gloo"])
        self.assertEqual(installed("command")[0], ["command"])
        parts, out = installed("cuda")
        self.assertEqual(parts, [])
        self.assertIn("the plug-in for GPUs was not built", out)

    def test_build_without_a_terminal_says_what_to_run(self):
        for command in (("build",), ("bench",), ("install", "prefix")):
            status, out, ran = self.dev(*command)
            self.assertEqual((status, ran), (2, ""), out)
            self.assertRegex(
                out, r"^\./dev: missing packages: \S[^\n]*ninja-build[^\n]*; run \./dev setup")

    def test_build_asks_at_a_terminal(self):
        for answer in ("", "n"):
            status, out, ran = self.dev("build", answer=answer)
            self.assertEqual((status, ran), (2, ""), out)
            self.assertIn("Install these packages with apt-get: ", out)
        status, out, ran = self.dev("build", answer="y")
        self.assertEqual(status, 0, out)
        self.assertRegex(ran, r"(?m)^apt-get install .*ninja-build")
        self.assertRegex(ran, r"(?m)^cmake --build build/release$")

    def test_build_goes_on_without_packages_where_it_is_told_to(self):
        status, out, ran = self.dev("build", LINNET_NO_SETUP="1")
        self.assertEqual(status, 0, out)
        self.assertNotIn("apt-get", ran)
        self.assertIn("cmake --build", ran)

    def test_setup_test_and_demo_do_it_unasked(self):
        for command in ("setup", "test", "demo"):
            _, out, ran = self.dev(command)
            self.assertRegex(ran, r"(?m)^apt-get install .*ninja-build", out)


    def test_reading_help_builds_nothing(self):
        (self.folder / "benchmarks").mkdir()
        shutil.copy(ROOT / "benchmarks/run.py", self.folder / "benchmarks/run.py")
        for command in ((), ("help",), ("--help",), ("test", "--help"), ("demo", "-h"), ("bench", "--help"),
                        ("install", "--help")):
            _, out, ran = self.dev(*command, LINNET_NO_SETUP="1")
            self.assertEqual(ran, "", command)
            if command[:1] != ("bench",):
                self.assertIn("Usage: ./dev COMMAND", out)

    def test_install_builds_no_tests(self):
        _, out, ran = self.dev("install", "prefix", LINNET_NO_SETUP="1")
        self.assertRegex(ran, r"(?m)^cmake --preset install ", out)
        self.assertRegex(ran, r"(?m)^cmake --build build/install$")
        self.assertRegex(ran, r"(?m)^cmake --install build/install --prefix prefix --component library$")
        presets = {preset["name"]: preset for preset in
                   json.loads((ROOT / "CMakePresets.json").read_text())["configurePresets"]}
        self.assertEqual(presets["install"]["cacheVariables"],
                         {"LINNET_BUILD_TESTS": "OFF", "LINNET_BUILD_BENCHMARKS": "OFF",
                          "LINNET_CUDA_CODE": "all"})


class Ignored(unittest.TestCase):
    def test_links_to_builds_and_runs_elsewhere_too(self):
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(ROOT / ".gitignore", folder)
            for name in ("build", "runs"):
                Path(folder, name).symlink_to("/tmp")
            for command in (["init", "-q"], ["status", "--porcelain"]):
                out = subprocess.run(["git", "-C", folder, *command], check=True, text=True,
                                     stdout=subprocess.PIPE).stdout
            self.assertEqual(out, "?? .gitignore\n")


if __name__ == "__main__":
    unittest.main()
