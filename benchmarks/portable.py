# SPDX-License-Identifier: Apache-2.0
"""Results name no folder of the machine that they were measured on: files of the repository are
relative to it, $DATA holds the data sets, $EXPORTED is what `linnet bench --export` has written,
$PEERS holds the environments of the peers, and ~ is the home folder."""
import os
import re
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BEFORE = r"(?<![\w.~$/-])"  # where a path begins
PYTHON = BEFORE + r"/\S*?/([^/\s]+/bin/python[\d.]*)"


class Words:
    """The words that stand for the folders of one run; `options` as of options.py."""

    def __init__(self, options):
        def folder(path, word, after=r"(?![\w-])"):
            return BEFORE + re.escape(str(path)) + after, word
        data = sorted(options.data.items(), key=lambda pair: -len(pair[1]))
        linnet = Path(options.linnet).absolute()
        self.rules = [
            (BEFORE + re.escape(tempfile.gettempdir()) + r"/linnet-bench-\w+", "$EXPORTED"),
            *(folder(where.rstrip("/"), f"$DATA/{name}") for name, where in data
              if os.path.isabs(where)),
            *(folder(tree, word) for tree, word in ((options.flux, "$FLUX"),
                                                    (options.opennn, "$OPENNN"))
              if tree and tree.is_absolute()),
            folder(ROOT, "", "/"), folder(ROOT, "."),
            *([] if linnet.is_relative_to(ROOT) else [folder(linnet, "linnet")]),
            (PYTHON, r"$PEERS/\1"), folder(Path.home(), "~")]

    def text(self, text):
        for pattern, word in self.rules:
            text = re.sub(pattern, word, text)
        return text

    def result(self, value):
        """A result with every text in it so."""
        if isinstance(value, dict):
            return {key: self.result(each) for key, each in value.items()}
        if isinstance(value, list | tuple):
            return [self.result(each) for each in value]
        return self.text(value) if isinstance(value, str) else value
