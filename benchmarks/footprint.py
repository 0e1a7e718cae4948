# SPDX-License-Identifier: Apache-2.0
"""How much room engines take and how soon they begin: Linnet's own files stripped, memory and
start-up beside each peer, and a process that ends with its first training step."""
import dataclasses
import shutil
import subprocess
import tempfile
from pathlib import Path

import engines
import figures
import peer_python
from side_table import Table, work_of

DISK_TARGET = 60e6          # bytes of Linnet's own files, stripped
FIRST_STEP_TARGET = 0.1     # seconds, of mnist-cnn
MEMORY_TARGET = 0.2         # of PyTorch's
SYSTEM = ("/lib", "/usr/lib", "/usr/local/lib")
PLUGINS = "liblinnet_*.so"  # loaded when they are wanted, so ldd doesn't know them


def libraries(program):
    """(Linnet's own, the system's): the shared libraries that a program loads, as paths."""
    found = peer_python.loaded(program)
    system = {path for path in found if str(path).startswith(SYSTEM) and
              not path.name.startswith("liblinnet")}
    folder = Path(program).resolve().parent
    own = (found - system) | {path for place in (folder, folder.parent / "lib")
                              for path in place.glob(PLUGINS)}
    return [sorted({path.resolve() for path in paths}) for paths in (own, system)]


def stripped_bytes(path, folder):
    """Returns the size of a copy without symbols; that of the file where strip does not take it."""
    copy = Path(folder, path.name)
    if shutil.which("strip") and not subprocess.run(["strip", "-o", copy, path],
                                                    capture_output=True).returncode:
        return copy.stat().st_size
    return path.stat().st_size


def disk(linnet):
    """{own: {file: bytes, stripped}, system: {file: bytes}} of a command."""
    own, system = libraries(linnet)
    with tempfile.TemporaryDirectory(prefix="linnet-strip-") as folder:
        return {"own": {path.name: stripped_bytes(path, folder)
                        for path in [Path(linnet).resolve(), *own]},
                "system": {path.name: path.stat().st_size for path in system}}


def one_step(job):
    """A job whose only epoch is one step."""
    return dataclasses.replace(job, samples=job.batch, warmup=0, epochs=1, test=False)


def first_step(command, environment, limit):
    """{seconds: of the whole process but the reading of its data, failed} of a one_step() job."""
    run = engines.run_step(command, environment, limit)
    seconds = None if run["failed"] else max(run["wall_s"] - run["data_seconds"], 0.0)
    return {"seconds": seconds, "failed": run["failed"]}


def installed_table(result):
    sizes = [(name, size / 2**20) for name, size in result.get("installed_bytes", {}).items()
             if size]
    about = ("Linnet: the command with every shared library that it loads, the system's too. "
             "Peers: all packages of their virtual environment but pip, without Python and the "
             "system's libraries.")
    return Table("Installed size", about, ("engine", "MiB"),
                 [(name, figures.number(size)) for name, size in sizes], {"": sizes}, "MiB")


def disk_table(result):
    files = result.get("footprint", {})
    if not files:
        return None
    own, system = files["own"], files["system"]
    lines = [(name, f"{size / 1e6:.1f}") for name, size in own.items()]
    lines.append(("Linnet's own together", f"{sum(own.values()) / 1e6:.1f}"))
    lines.append((f"{len(system)} libraries of the system that it loads",
                  f"{sum(system.values()) / 1e6:.1f}"))
    about = ("Linnet's command and the libraries that come with it, stripped; wanted: at most "
             f"{DISK_TARGET / 1e6:.0f} MB together. The system's libraries as they lie there.")
    return Table("Linnet on disk", about, ("file", "MB"), lines)


def beside_table(result):
    lines = []
    for row in result["workloads"]:
        ours = row["engines"].get("linnet", {}).get("runs", [])
        for name in result["settings"]["peers"]:
            peer = row["engines"].get(name, {}).get("runs", [])
            ratios = [figures.ratio(ours, peer, key) for key in ("peak_bytes", "startup_s")]
            if any(ratios):
                lines.append((work_of(row), name, *map(figures.ratio_words, ratios)))
    about = ("Linnet's over the peer's, median of the pairs of repetitions (bootstrap 95 % "
             "interval): resident memory at the peak, and seconds of the process outside its "
             "epochs and the reading of its data; below 1 Linnet needs less. Wanted beside PyTorch "
             f"in memory: at most {MEMORY_TARGET}.")
    return Table("Memory and start-up beside each peer", about,
                 ("workload", "beside", "memory ratio", "start-up ratio"), lines)


def first_step_table(result):
    lines = []
    for row in result["workloads"]:
        for name, runs in row.get("first_step", {}).items():
            seconds = [run["seconds"] for run in figures.good(runs)]
            failed = figures.failure(runs)
            lines.append((work_of(row), name, f"failed: {failed}" if failed else
                          figures.range_of(figures.spread(seconds))))
    about = ("Seconds of a process that ends with its first training step, without the reading of "
             "its data: starting, compiling, one step, ending; median (least to most). Wanted of "
             f"Linnet in mnist-cnn: at most {FIRST_STEP_TARGET}.")
    return Table("To the first step", about, ("workload", "engine", "seconds"), lines)
