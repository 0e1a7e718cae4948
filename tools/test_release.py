# SPDX-License-Identifier: Apache-2.0
"""./dev release: what it says of each artefact (packaging/release.py), and that a part that fails leaves the others their turn."""
import hashlib
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
STUBS = """set -euo pipefail
die() { echo "$*" >&2; exit 2; }
say() { :; }
date_of_commit() { :; }
. packaging/release.sh
release_sdist() { echo sources >"$folder/linnet-0.1.0.tar.gz"; noted 'linnet-*.tar.gz' './dev release sdist' 'Debian: twine'; }
release_wheel() { exit 75; }
"""
MADE = """release_wheel() { echo w >"$folder/a.whl"; echo py >"$notes.python"; noted a.whl make test; }
release_static() { echo s >"$folder/a.tar.xz"; noted '*.tar.xz' make test; }
release_arm64() { echo a >"$folder/a.deb"; noted '*.deb' make test; }
release_web() { echo j >"$folder/a.tgz"; noted '*.tgz' make test; }
"""


class Release(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="linnet-release-")
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)
        self.made = self.folder / "build/artefacts"
        self.made.mkdir(parents=True)

    def describe(self, *notes, **files):
        for name, text in files.items():
            (self.made / name.replace("__", ".")).write_text(text)
        (self.folder / "notes").write_text("".join("\t".join(note) + "\n" for note in notes))
        return subprocess.run([sys.executable, "-B", ROOT / "packaging/release.py", self.made, self.folder / "notes"],
                              capture_output=True, text=True, check=False)

    def test_says_of_each_artefact_what_made_and_tested_it(self):
        ran = self.describe(("packages", "*.deb", "./dev package", "a fresh chroot"),
                            ("web", "linnet.html", "./dev web", "not opened"), a__deb="one", b__deb="three", linnet__html="page")
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertEqual(ran.stdout, (self.made / "RELEASE.md").read_text())
        for name, text, made, tested in (("a.deb", "one", "./dev package", "a fresh chroot"),
                                         ("b.deb", "three", "./dev package", "a fresh chroot"),
                                         ("linnet.html", "page", "./dev web", "not opened")):
            digest = hashlib.sha256(text.encode()).hexdigest()
            self.assertIn(f"| {name} | {len(text)} | {digest} | `{made}` | {tested} |\n", ran.stdout)
        self.assertIn("| wheels for Linux: not made |", ran.stdout)
        sums = subprocess.run(["sha256sum", "--check", "--strict", "SHA256SUMS"], cwd=self.made, capture_output=True, text=True,
                              check=True)
        self.assertEqual(sums.stdout.splitlines(), [f"{name}: OK" for name in ("RELEASE.md", "a.deb", "b.deb", "linnet.html")])

    def test_refuses_what_nobody_made_or_tested(self):
        for notes, files, sentence in (
                ((), {"a__deb": "x"}, "nothing says what made and tested a.deb"),
                ((("web", "linnet.html", "./dev web", "x"),), {}, "no artefact is named linnet.html, which './dev web' makes"),
                ((("windows", "a", "b", "c"),), {}, "has a line that is not a note: windows a b c"),
                ((("web", "linnet.html"),), {}, "has a line that is not a note: web linnet.html")):
            ran = self.describe(*notes, **files)
            self.assertEqual(ran.returncode, 1)
            self.assertIn(sentence, ran.stderr)
            for file in self.made.iterdir():
                file.unlink()

    def release(self, functions, *parts):
        return subprocess.run(["bash", "-c", functions + 'release_parts "$@"', "bash", *parts], cwd=self.folder,
                              capture_output=True, text=True, check=False)

    def test_a_part_that_fails_leaves_the_others_their_turn(self):
        for name in ("packaging", "include"):
            (self.folder / name).symlink_to(ROOT / name)
        ran = self.release(STUBS, "python3.12", "sdist")
        self.assertEqual(ran.returncode, 1, ran.stderr)
        self.assertIn("| wheels for Linux: FAILED |", ran.stdout)
        self.assertIn("| linnet-0.1.0.tar.gz | 8 |", ran.stdout)
        bill = json.loads((self.made / "linnet.cdx.json").read_text())
        self.assertEqual([each["name"] for each in bill["components"]], ["linnet-0.1.0.tar.gz"])
        self.assertIn("| linnet.cdx.json |", ran.stdout)

    def test_the_list_of_parts_is_of_what_was_made(self):
        (self.folder / "packaging/wheels").mkdir(parents=True)
        for name in ("release.sh", "release.py"):
            (self.folder / "packaging" / name).symlink_to(ROOT / "packaging" / name)
        (self.folder / "packaging/wheels/parts.py").write_text("import sys; open('asked', 'w').write(' '.join(sys.argv[1:]))")
        for parts, asked in ((("static", "python3", "web", "arm64"),
                              ".cache/manylinux .cache/static --python py --sources build/web/libraries --headers"),
                             (("sdist",), ""), (("sdist", "static"), ".cache/static")):
            ran = self.release(STUBS + MADE, *parts)
            self.assertEqual(ran.returncode, 0, ran.stderr)
            self.assertEqual((self.folder / "asked").read_text(), f"{asked} --release build/artefacts".strip())


if __name__ == "__main__":
    unittest.main()
