# SPDX-License-Identifier: Apache-2.0
"""tools/check_commits.py, and the hook that ./dev hooks installs."""
import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

import check_commits

ROOT = Path(__file__).resolve().parent.parent


class Messages(unittest.TestCase):
    def test_what_fits(self):
        for message in ("data: read gzip", "data: " + "a" * 66, "a: b\n\nWhy.", "Merge branch 'x' into y" * 9,
                        'Revert "data: ' + "a" * 70 + '"'):
            self.assertEqual(check_commits.problems(message), [], message)

    def test_what_does_not(self):
        for message, part in (("data: " + "a" * 67, "has 73 characters"), ("wip", "expected `scope:"),
                              (": x", "expected `scope:"), ("data: ", "expected `scope:"), ("", "expected `scope:"),
                              ("a: b\nWhy.", "an empty line")):
            found = check_commits.problems(message)
            self.assertEqual(len(found), 1, message)
            self.assertIn(part, found[0])

    def test_comments_of_the_editor_are_no_message(self):
        text = ("a: b\n\nWhy.\n# On branch main\n# ------------------------ >8 ------------------------\ndiff\n")
        self.assertEqual(check_commits.without_comments(text), "a: b\n\nWhy.")


class Repository(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="linnet-commits-")
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)
        self.git("init", "-q")
        self.git("config", "user.name", "n")
        self.git("config", "user.email", "e@example.org")

    def git(self, *words, fails=False):
        environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull}
        process = subprocess.run(["git", *words], cwd=self.folder, env=environment, capture_output=True, text=True,
                                 check=False)
        self.assertEqual(process.returncode != 0, fails, process.stderr)
        return process.stderr if fails else process.stdout.strip()

    def commit(self, message, **named):
        return self.git("commit", "-q", "--allow-empty", "-m", message, **named)

    def test_what_is_older_is_not_looked_at(self):
        self.commit("an old one")
        since = self.git("rev-parse", "HEAD")
        self.commit("a: b\n\nWhy.")
        self.assertEqual(check_commits.check_history(self.folder, since), (1, []))
        self.commit("a new one")
        count, found = check_commits.check_history(self.folder, since)
        self.assertEqual((count, [subject for _, subject, _ in found]), (2, ["a new one"]))

    def test_a_shallow_clone_is_left_alone(self):
        self.commit("wip")
        self.assertIsNone(check_commits.check_history(self.folder, "1" * 40))

    def test_the_hook(self):
        (self.folder / "tools").mkdir()
        for name in ("dev", "tools/check_commits.py"):
            shutil.copy(ROOT / name, self.folder / name)
        hooks = [self.folder / "dev", "hooks"]
        for _ in range(2):  # a second time changes nothing
            subprocess.run(hooks, check=True, capture_output=True)
        self.assertIn("has 77 characters", self.commit("a: " + "b" * 74, fails=True))
        self.commit("a: b")
        (self.folder / ".git/hooks/commit-msg").write_text("#!/bin/sh\n")
        process = subprocess.run(hooks, check=False, capture_output=True, text=True)
        self.assertEqual(process.returncode, 2)
        self.assertIn("another commit-msg hook is there", process.stderr)


if __name__ == "__main__":
    unittest.main()
