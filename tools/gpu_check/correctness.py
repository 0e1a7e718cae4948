# SPDX-License-Identifier: Apache-2.0
"""Phases that say whether Linnet computes on the device what it does elsewhere."""
import json
import os
import re
import subprocess
import threading

import engines
import clocks
import processes
import workloads
from check import NUMERICS, TESTS, Failed, NoDevice, lost_graph

SHARDS = 8  # processes of a test program at once
NO_GPU = 77  # a test program's exit status
LONG = "*Thousand*"  # tests that repeat so often
# Workload, batch, samples, epochs, precisions: the most telling first, the longest tuning last.
NUMERIC_WORK = tuple(
    (name, curve["batch"], curve["samples"], curve["epochs"], tuple(curve["precisions"]))
    for _, name, curve in sorted((curve["rank"], name, curve)
                                 for name, entry in workloads.ALL.items()
                                 for curve in entry.get("gpu_numerics", ())))
REHEARSED_WORK = (("mnist-cnn", 8, 32, 3, ("fp32", "tf32", "bf16", "fp16")),
                  ("flux-cnn", 2, 4, 2, ("fp32",)))


def bench_words(workload, batch, samples, epochs):
    """Returns the arguments of a `linnet bench` whose data need no network."""
    words = ["bench", workload, "--batch", str(batch), "--samples", str(samples), "--warmup", "0",
             "--epochs", str(epochs), "--json", "-"]
    return words + (["--dataset", "digits"] if workload == "mnist-cnn" else [])


def smoke(check):
    """Looks for the device, and trains on it with the whole epoch captured."""
    for command in (["nvidia-smi"], ["uname", "-a"], ["nproc"]):
        check.run(command, limit=5)
    ended = check.linnet("devices", "--json")
    if ended.status != 0:
        raise Failed(f"linnet devices: {ended.reason()}")
    cuda = json.loads(ended.out)["cuda"]
    if not cuda["usable"]:
        raise NoDevice(f"linnet devices: {cuda['unusable']}")
    for device in cuda["devices"]:
        check.say(f"  cuda:{device['index']} {device['name']}, compute capability "
                  f"{device['compute_capability']}; {', '.join(cuda['libraries'])}")
    size = ("mnist-cnn", 8, 16, 2) if check.rehearsal else ("mnist-cnn", 128, 1280, 2)
    row, failed = check.bench([check.programs.linnet, *bench_words(*size), "--device", "cuda",
                               "--graph", "epoch"])
    if failed:
        raise Failed(f"the first training: {failed}")
    check.say(f"  a first training: loss {row['losses'][0]:.4f} to {row['losses'][-1]:.4f}")
    check.origin = {"card": row["device_name"], "commit": row["commit"]}
    check.clocks = clocks.Clocks()


def sharded(check, name, prefix=(), arguments=(), may_stop=False, **environment):
    """Runs all cases of a test program, in several processes at once. `may_stop`: they need not end
    in time."""
    program = check.programs.tests.get(name)
    if program is None:
        raise Failed(f"there is no {name}")
    shards = 1 if check.rehearsal else min(SHARDS, os.cpu_count() or 1)
    command = [*prefix, *program, "--gtest_brief=1", *arguments]
    check.log.write(f"$ {' '.join(map(str, command))}, in {shards} shards\n".encode())
    running = [processes.start(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT,
                               env=check.environment(GTEST_TOTAL_SHARDS=shards, OMP_NUM_THREADS=2,
                                                     GTEST_SHARD_INDEX=each, **environment))
               for each in range(shards)]
    seen, passed, log = set(), 0, processes.Log(check.out / TESTS)
    log.write(f"== {' '.join(map(str, command))}\n".encode())
    all_ended = processes.wait_all(running, log, check.left())
    for index, ended in enumerate(all_ended):
        found = re.findall(r"^\[  FAILED  \] ([A-Za-z0-9_/]+\.[^\s,]+)", ended.out, re.M)
        seen.update(found)
        passed += sum(int(count) for count in re.findall(r"^\[  PASSED  \] (\d+)", ended.out, re.M))
        if ended.status == NO_GPU:
            raise NoDevice(f"{name}: {ended.out.strip().splitlines()[-1]}")
        if ended.status != 0 and not found:
            check.problem(f"{name}, shard {index}: {ended.reason()}")
    for case in sorted(seen):
        check.problem(f"{name}: {case}")
    if passed == 0:
        check.problem(f"{name}: no case passed")
    check.say(f"  {name}: {passed} cases passed, {len(seen)} failed")
    for line in re.findall(r"^node cost: .*", "\n".join(each.out for each in all_ended), re.M):
        check.say(f"  {line}")


def operators(check):
    """Runs every operator's cases, by own kernels and by NVIDIA's libraries."""
    sharded(check, "op_test_cuda")


def backend(check):
    """Tests trainings, graph modes, streaming and predictors."""
    sharded(check, "cuda_backend_test_cuda")


def together(check):
    """Runs the tests of operators and backend beside the loss curves: correctness needs no quiet
    machine."""
    failed = []

    def beside():
        try:
            operators(check)
            backend(check)
        except Exception as error:
            failed.append(error)
    thread = threading.Thread(target=beside, daemon=True)
    thread.start()
    try:
        numerics(check)
    finally:
        thread.join()
    if failed:
        raise failed[0]


def doubtful(check):
    """Repeats by the thousand what one run may leave to luck: tickets of last blocks beside a busy
    branch, stacked recurrent layers in captured steps."""
    sharded(check, "cuda_backend_test_cuda", arguments=[f"--gtest_filter={LONG}"])


def numerics(check):
    """Compares loss curves on the device with the CPU's."""
    import gpu_report
    work = REHEARSED_WORK if check.rehearsal else NUMERIC_WORK
    on_cpu, rows = {}, []
    for workload, *size, _ in work:
        words = [check.programs.linnet, *bench_words(workload, *size), "--device", "cpu",
                 "--threads", "4"]
        if (workload, *size) not in on_cpu:
            on_cpu[(workload, *size)] = processes.start(
                words, env=check.environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.PIPE)
    for workload, *size, precisions in work:
        begun = on_cpu.pop((workload, *size), None)
        if begun:
            ended = processes.wait(begun, check.log, check.left(), copy=False)
            row = engines.json_line(ended.out)
            if row is None:
                check.problem(f"{workload} on the CPU: {ended.reason()}")
            else:
                rows.append(row)
                check.row(NUMERICS, row)
        for precision in precisions:
            if check.left() < 2:
                check.problem(f"{workload} {precision}: no time was left")
                continue
            row, failed = check.bench([check.programs.linnet, *bench_words(workload, *size),
                                       "--device", "cuda", "--graph", "epoch", "--precision",
                                       precision])
            if row is None or lost_graph(failed or ""):
                check.problem(f"{workload} {precision}: {failed}")
                continue
            rows.append(row)
            check.row(NUMERICS, row)
            for good, line in gpu_report.curves([each for each in rows if each["device"] == "cpu"] +
                                                [row]):
                check.say(f"  {line}") if good else check.problem(line)


def graph_modes(check):
    """Checks that every way to launch steps leaves the same bits."""
    sizes = [("mnist-cnn", 8, 36, 2)] if check.rehearsal else \
        [("mnist-cnn", 128, 1300, 3), ("resnet50-cifar10", 128, 500, 1)]
    for size in sizes:
        losses = {}
        for graph in ("epoch", "off", "1", "8"):
            row, failed = check.bench([check.programs.linnet, *bench_words(*size), "--device",
                                       "cuda", "--graph", graph, "--precision", "tf32"])
            if row is None or lost_graph(failed or ""):
                check.problem(f"{size[0]} --graph {graph}: {failed}")
                continue
            check.row(NUMERICS, {**row, "about": "graph modes"})
            losses[graph] = row["losses"]
        different = [graph for graph, each in losses.items() if each != losses.get("epoch")]
        if different:
            check.problem(f"{size[0]}: --graph {', '.join(different)} leaves other losses than "
                          f"epoch: {losses}")
        else:
            check.say(f"  {size[0]}: {', '.join(losses)} leave equal bits")


def sanitizer(check):
    """Runs own kernels under compute-sanitizer, without NVIDIA's libraries and their tuning."""
    import programs
    found = programs.tool("compute-sanitizer")
    if found is None:
        raise Failed("there is no compute-sanitizer")
    for number, kind in enumerate(("memcheck", "racecheck")):
        prefix = [found, "--tool", kind, "--error-exitcode", "9", "--print-limit", "20"]
        end = check.end
        check.end -= check.left() / 2 if number == 0 else 0  # half of the time each
        try:
            sharded(check, "op_test_cuda", prefix, may_stop=True, LINNET_TESTED_DEVICES="own")
            if check.left() > 5 and "cuda_backend_test_cuda" in check.programs.tests:
                sharded(check, "cuda_backend_test_cuda", prefix,
                        [] if check.rehearsal else ["--gtest_filter=*/own*"], may_stop=True)
        finally:
            check.end = end
