# SPDX-License-Identifier: Apache-2.0
"""What the scripts that read ../shared/data/tabular share."""
import argparse
import contextlib
import csv
import pathlib
import tarfile
import tempfile

import other_results


def parsed(parser, kind):
    """Returns the options with --data, --arguments, and those of all results of this kind."""
    parser.add_argument("--data", dest="folder", type=pathlib.Path, required=True,
                        help="folder of the tables, or of their tabular.tar.xz")
    parser.add_argument("--arguments", nargs=argparse.REMAINDER, default=[],
                        help="for linnet train; comes last")
    options = other_results.parsed(parser, kind)
    options.linnet = str(pathlib.Path(options.linnet).resolve())
    return options


@contextlib.contextmanager
def unpacked(folder):
    """The folder of the tables: this one, or a temporary one of its archive's content."""
    with tempfile.TemporaryDirectory() as temporary:
        if not (folder / "tabular.tar.xz").is_file():
            yield folder
            return
        with tarfile.open(folder / "tabular.tar.xz") as archive:
            archive.extractall(temporary, filter="data")
        yield pathlib.Path(temporary)


def is_number(text):
    try:
        float(text)
        return True
    except ValueError:
        return False


def write(path, names, rows):
    """Writes a CSV with a header."""
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([names, *rows])
