# SPDX-License-Identifier: Apache-2.0
"""What the processes of a row of work need: the data of all engines, and each one's command."""
import json
import os
import sys
from pathlib import Path

import engines
import julia
import opennn

ROOT = Path(__file__).resolve().parents[1]


def export_command(job, options, folder):
    return [*engines.linnet_data(options.linnet, job), "--export", str(folder)]


def export(job, options, folder):
    """The data of all engines. Returns (their description, whether they are synthetic)."""
    status, _, err = engines.start(export_command(job, options, folder),
                                   engines.plain_environment(), options.limit)
    if status != 0:
        raise RuntimeError(engines.reason_of(status, err, options.limit))
    return json.loads((folder / "data.json").read_text()), "synthetic data" in err


def engines_of(job, options, folder):
    """{name: (command without its seed, environment, the reason why it cannot run or None)}."""
    test = ["--test"] if job.test else []
    threads = job.threads or len(os.sched_getaffinity(0))
    found = {"linnet": ([*engines.linnet_command(options.linnet, job), "--json", "-", *test], {},
                        None)}
    for name in options.peers:
        peer = engines.PEERS[name]
        program = peer.program(job.workload)
        missing = None if program.exists() else f"there is no {program.relative_to(ROOT)}"
        if peer.runs_in == "julia":
            missing = missing or julia.missing(options.flux)
        missing = missing or options.not_installed.get(peer.folder)
        words = started(peer, options, threads, program)
        found[name] = (engines.peer_command(peer, words, folder, job) + test,
                       peer.environment(threads), missing)
    return found


def started(peer, options, threads, program):
    """A peer's program as the beginning of a command."""
    if peer.runs_in == "built":
        return opennn.command(options.opennn, program)
    if peer.runs_in == "julia":
        return [*julia.command(options.flux, threads), program]
    python = sys.executable if peer.runs_in == "plain" else options.pythons[peer.folder]
    return [python, "-B", program]
