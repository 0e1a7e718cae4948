# SPDX-License-Identifier: Apache-2.0
"""Peers in C++ against OpenNN, which the user has built in a source tree of it and names:
--opennn DIR."""
import shutil
import subprocess
import sys

import peer_python

HEADER = "opennn/training_strategy.h"  # of the interface that peers/opennn is written for
LIBRARY = "opennn/libopennn.a"


def folder(tree):
    """Where its programs are built, one folder a tree."""
    return peer_python.cache() / "opennn" / str(tree).strip("/").replace("/", "-")


def command(tree, program):
    """`program`: its source."""
    return [folder(tree) / program.stem]


def libraries(tree):
    return sorted(tree.glob(f"*/{LIBRARY}"))


def missing(tree):
    """Why the programs cannot be built, or None."""
    if tree is None:
        return "--opennn does not say where its source tree is"
    if not (tree / HEADER).exists():
        return f"{tree} is not a source tree of the OpenNN that is wanted: it has no {HEADER}"
    if not libraries(tree):
        return f"there is no {LIBRARY} in a build folder of {tree}: build OpenNN first"
    return None if shutil.which("cmake") else "there is no cmake on the PATH"


def last_words(out, err):
    """Of what failed: the compiler's last error, else the last line. Ninja has them on stdout."""
    lines = [line.strip() for line in (err.strip() or out).splitlines() if line.strip()]
    errors = [line for line in lines if " error: " in line]
    return (errors or lines or ["it printed nothing"])[-1][:200]


def build(tree):
    """The programs, where they are not up to date. Returns why it could not, or None."""
    why = missing(tree)
    if why:
        return why
    where = folder(tree)
    print(f"building OpenNN's peers in {where}", file=sys.stderr, flush=True)
    for step in (["-S", peer_python.PEERS / "opennn", "-B", where, f"-DOPENNN_DIR={tree}",
                  f"-DOPENNN_BUILD={libraries(tree)[0].parents[1]}"], ["--build", where]):
        process = subprocess.run(["cmake", *step], capture_output=True, text=True)
        if process.returncode:
            return "it could not be built: " + last_words(process.stdout, process.stderr)
    return None
