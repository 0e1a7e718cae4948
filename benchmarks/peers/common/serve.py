#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Keeps one process of a framework for several pieces of work, which pays for imports once and lets
engines take turns; ../../served.py is the other end. Its arguments are modules to import first.
Reads a JSON object a line on stdin and answers each with one on stdout:

{"program": PATH, "arguments": [...]}  makes the peer's model and runs its warm-up epochs:
                                       {"ready": true}
{"epochs": N, "seconds": S}            starts from the first weights, runs the warm-up and N epochs,
                                       more until these took S seconds (0): the line that the peer
                                       itself would print
{"forget": true}                       frees the model: {"ready": true}

{"failed": WHY} is the answer to what went wrong.
"""
import gc
import importlib
import json
import os
import sys
import traceback
import types
from pathlib import Path

import peer


def made(program, arguments):
    """The epochs of a peer's program, after its warm-up."""
    found = []
    peer.report = lambda run, started: found.append(peer.Epochs(run, started))
    sys.argv = [program, *arguments]
    folder = str(Path(program).parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    # Stays there, unlike runpy's: torch.compile looks for functions' globals in sys.modules.
    module = types.ModuleType("__main__")
    module.__file__ = program
    code = compile(Path(program).read_text(), program, "exec")
    sys.modules["__main__"] = module
    exec(code, module.__dict__)
    found[0].warm_up()
    return found[0]


def forget():
    """Frees what the last model held on the device."""
    gc.collect()
    clear = getattr(sys.modules.get("protocol"), "forget", None)
    if clear:
        clear()


class Server:
    def __init__(self):
        self.epochs = None

    def answer(self, request):
        if "epochs" in request:
            if self.epochs is None:
                raise RuntimeError("there is no model")
            return self.epochs.record(self.epochs.again(request["epochs"], request.get("seconds", 0)))
        self.epochs = None
        forget()
        if "program" in request:
            self.epochs = made(request["program"], request["arguments"])
        return {"ready": True}


def main():
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a framework prints is not an answer
    for name in sys.argv[1:]:
        importlib.import_module(name)
    server = Server()
    for line in sys.stdin:
        try:
            answer = server.answer(json.loads(line))
        except (Exception, SystemExit) as error:
            traceback.print_exc()
            last = (str(error).strip().splitlines() or [""])[0]
            answer = {"failed": f"{type(error).__name__}: {last}"[:300]}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
