# SPDX-License-Identifier: Apache-2.0
"""Runs the commands of the guides, docs/guides/, and compares what they print with the pages."""
import os
import pathlib
import re
import shlex
import tarfile

# Before command, which takes the variable away.
ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = pathlib.Path(os.environ.get("LINNET_DATA", ROOT / "../shared/data"))

import command  # noqa: E402

GUIDES = ROOT / "docs/guides"


class PageTest(command.CommandTest):
    """Runs pages of docs/guides/."""

    def unpack_tables(self):
        archive = DATA / "tabular/tabular.tar.xz"
        if not archive.is_file():
            self.skipTest(f"{archive} is not there; LINNET_DATA may name the folder above it")
        with tarfile.open(archive) as tar:
            tar.extractall(self.folder, filter="data")

    def run_page(self, name):
        """Runs the commands of a page, in files that it shows."""
        page = (GUIDES / f"{name}.md").read_text()
        for name, text in re.findall(r"^```toml\n# (\S+)\n(.*?)^```", page, re.M | re.S):
            (self.folder / name).write_text(text)
        parts = [part for block in re.findall(r"^```console\n(.*?)^```", page, re.M | re.S)
                 for part in re.split(r"^\$ ", block, flags=re.M)[1:]]
        self.assertTrue(parts, name)
        for part in parts:
            line, _, promised = part.partition("\n")
            words = shlex.split(line)
            self.assertEqual(words[0], "linnet")
            out, err = self.run_linnet(*words[1:])
            self.check(line, promised, out + err)

    def check(self, line, promised, printed):
        """Every line of the page was printed: that of a survey to the letter, others but for their
        numbers, which depend on the processor, as does what a search chooses. Scores are near the
        page's."""
        exact = line.startswith("linnet data info")
        searches = line.startswith("linnet search")

        def plain(text):
            if exact:
                return text.rstrip()
            if searches:
                text = re.sub(r"^(run-\d+ ).*|,? without '.*|; without '.*", r"\1", text)
            return " ".join(re.sub(r"-?\d+(\.\d+)?(e[+-]?\d+)?", "#", text).split())

        lines = [plain(text) for text in printed.splitlines()]
        for text in promised.splitlines():
            if text.strip() not in ("...", ""):
                self.assertIn(plain(text), lines, line)
        score = re.compile(r"(accuracy|R²) (-?\d+\.\d+)")
        wanted = score.findall(promised)
        last = [text for text in printed.splitlines() if not text.startswith("epoch ")]
        got = score.findall("\n".join(last))
        self.assertEqual(len(got), len(wanted), line)
        for (name, least), (_, number) in zip(wanted, got):
            limit = 3 if name == "accuracy" else 0.03
            self.assertGreater(float(number), float(least) - limit, f"{line}: {name}")
