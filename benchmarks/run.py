#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs workloads on Linnet and, in turn with it, on its peers; options.py says what it takes. Exits
with 1 if Linnet itself fails somewhere. Wants the standard library alone; peers run in Pythons of
their own."""
import datetime
import json
import os
import sys
from pathlib import Path

import conditions
import energy
import engines
import footprint
import jobs
import machine
import opennn
import options as run_options
import peer_python
import portable
import result_name
import result_table
import row_of_work

ROOT = Path(__file__).resolve().parents[1]


def installed(options):
    """{folder of peers: why it could not be installed or built, or None}, after trying it."""
    found = {each: peer_python.install(each) for each in options.install}
    if "opennn" in options.peers:
        found["opennn"] = opennn.build(options.opennn)
    return found


def installed_bytes(options):
    """Of Linnet with all libraries that it loads, and of each peer's framework."""
    found = {"linnet": peer_python.program_bytes(options.linnet)}
    for name in options.peers:
        if engines.PEERS[name].runs_in == "python":
            found[name] = peer_python.packages_bytes(options.pythons[engines.PEERS[name].folder])
    return found


def main():
    options = run_options.arguments()
    options.not_installed = installed(options)
    if not Path(options.linnet).exists():
        sys.exit(f"run.py: there is no {options.linnet}; `./dev bench` builds it, --linnet names "
                 "another")
    options.meter = energy.Meter(options.device)
    about, at_start = machine.about(), os.getloadavg()[0]
    options.out.mkdir(parents=True, exist_ok=True)
    sets = result_name.instruction_sets(options)
    path = result_name.place(options, sets)
    result = {"format": 1, "date": datetime.datetime.now().isoformat(timespec="seconds"),
              "machine": about, "instruction_sets": sets, "versions": {},
              "linnet": machine.linnet_version(options.linnet),
              "settings": {"device": options.device, "precision": options.precision,
                           "threads": options.threads, "protocol": options.protocol,
                           "repetitions": options.repetitions, "peers": options.peers,
                           "memory_limit": options.memory_limit,
                           "accuracy": options.accuracy},
              "load": {}, "installed_bytes": installed_bytes(options),
              "footprint": footprint.disk(options.linnet), "workloads": []}
    words = portable.Words(options)
    for job in jobs.jobs_of(options):
        result["workloads"].append(row_of_work.run(job, options))
        runs = [run for row in result["workloads"] for part in ("engines", *conditions.ALL)
                for engine in row[part].values() for run in engine["runs"] if run]
        result["load"] = machine.load_of(at_start, about["processors"], runs)
        result["versions"] = result_name.versions(result["workloads"])
        # After each, since all of it takes long.
        shown = words.result(result)
        Path(f"{path}.json").write_text(json.dumps(shown, indent=1) + "\n")
        Path(f"{path}.md").write_text(result_table.markdown(shown))
    print(machine.load_words(result["load"]), file=sys.stderr)
    print(f"{path}.md")
    return int(any(row["failed"] or row["engines"]["linnet"]["failed"]
                   for row in result["workloads"]))


if __name__ == "__main__":
    sys.exit(main())
