#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs fuzz targets that preset fuzz has built, several at a time; `./dev fuzz` calls it."""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = ROOT / "tests/fuzz"
BUILD = ROOT / "build/fuzz"

# Bytes of the longest inputs, where libFuzzer's own limit is not a good one: CIFAR's records have 3,073.
LENGTHS = {"cifar": 9300, "model": 16384, "network_json": 16384, "safetensors": 8192, "toml": 4096,
           "packed": 2048, "png": 2048, "jpeg": 2048, "bmp": 2048}
# Seconds that one input may take and MiB that a target may hold before libFuzzer calls it a finding.
SECONDS_AN_INPUT = 10
MEMORY = 2048

KINDS = {"crash": "crashes on", "leak": "leaks memory on", "oom": "takes too much memory for",
         "timeout": f"takes more than {SECONDS_AN_INPUT} s for", "slow-unit": "is slow on"}


def names_of_targets():
    return sorted(path.name[: -len("_fuzz.cpp")] for path in HERE.glob("*_fuzz.cpp"))


def parse(arguments):
    parser = argparse.ArgumentParser(prog="./dev fuzz", description=__doc__)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help="targets to run; default: all")
    length = parser.add_mutually_exclusive_group()
    length.add_argument("--seconds", type=int, help="seconds for each target (default: 30)")
    length.add_argument("--inputs", type=int, help="inputs for each target, without a time limit")
    parser.add_argument("--seed", type=int, default=0,
                        help="seed of the random changes (default: another one each time)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="targets that run at a time")
    parser.add_argument("--list", action="store_true", help="print the targets")
    options = parser.parse_args(arguments)
    known = names_of_targets()
    for name in options.targets:
        if name not in known:
            parser.error(f"there is no target '{name}'; there are {', '.join(known)}")
    if not options.seconds and not options.inputs:
        options.seconds = 30
    options.targets = options.targets or known
    return options


def command(name, options, corpus, findings):
    arguments = [BUILD / "bin" / f"fuzz_{name}", corpus, BUILD / "seeds" / name]
    if (HERE / "corpus" / name).is_dir():
        arguments.append(HERE / "corpus" / name)
    arguments += [f"-artifact_prefix={findings}/", "-print_final_stats=1",
                  f"-timeout={SECONDS_AN_INPUT}", f"-report_slow_units={SECONDS_AN_INPUT}",
                  f"-rss_limit_mb={MEMORY}", f"-malloc_limit_mb={MEMORY // 2}", "-reload=0",
                  f"-max_len={LENGTHS.get(name, 1024)}", f"-seed={options.seed}"]
    if (HERE / f"{name}.dict").is_file():
        arguments.append(f"-dict={HERE / f'{name}.dict'}")
    arguments.append(f"-max_total_time={options.seconds}" if options.seconds
                     else f"-runs={options.inputs}")
    return [str(argument) for argument in arguments]


def number(pattern, text):
    found = re.findall(pattern, text)
    return int(found[-1]) if found else 0


def run(name, options, temporary):
    """Runs one target and returns what came of it."""
    corpus, findings = BUILD / "corpus" / name, BUILD / "findings" / name
    for folder in (corpus, findings, temporary / name):
        folder.mkdir(parents=True, exist_ok=True)
    before = set(findings.iterdir())
    start = time.monotonic()
    environment = dict(os.environ, TMPDIR=str(temporary / name),
                       UBSAN_OPTIONS="print_stacktrace=1:halt_on_error=1",
                       ASAN_OPTIONS="strict_string_checks=1:quarantine_size_mb=16")
    log = BUILD / f"{name}.log"
    with open(log, "wb") as output:
        status = subprocess.run(command(name, options, corpus, findings), stdout=output,
                                stderr=output, env=environment, cwd=BUILD, check=False).returncode
    text = log.read_text(errors="replace")
    return {"target": name, "status": status, "seconds": time.monotonic() - start, "log": str(log),
            "inputs": max(number(r"stat::number_of_executed_units: (\d+)", text),
                          number(r"#(\d+)\s", text)),
            "coverage": number(r"cov: (\d+)", text), "corpus": len(list(corpus.iterdir())),
            "findings": sorted(str(path) for path in set(findings.iterdir()) - before)}


def sentence(name, path):
    kind = KINDS.get(pathlib.Path(path).name.rsplit("-", 1)[0], "fails on")
    shown = pathlib.Path(path).relative_to(ROOT)
    return f"fuzz_{name} {kind} {shown}; to see it again: build/fuzz/bin/fuzz_{name} {shown}"


def add_to_totals(result):
    """Sums over all runs of this build folder, for docs/fuzzing.md."""
    path = BUILD / "totals.json"
    totals = json.loads(path.read_text()) if path.is_file() else {}
    total = totals.setdefault(result["target"], {"inputs": 0, "seconds": 0, "findings": 0})
    total["inputs"] += result["inputs"]
    total["seconds"] += round(result["seconds"])
    total["findings"] += len(result["findings"])
    total["coverage"], total["corpus"] = result["coverage"], result["corpus"]
    path.write_text(json.dumps(totals, indent=1, sort_keys=True) + "\n")


def main(arguments):
    options = parse(arguments)
    if options.list:
        print("\n".join(names_of_targets()))
        return 0
    shutil.rmtree(BUILD / "seeds", ignore_errors=True)
    subprocess.run([str(BUILD / "bin/fuzz_seeds"), str(BUILD / "seeds")], check=True)
    in_memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    results = []
    print(f"{'target':<14}{'inputs':>12}{'a second':>10}{'coverage':>10}{'corpus':>8}{'findings':>10}",
          flush=True)
    with tempfile.TemporaryDirectory(prefix="linnet-fuzz-", dir=in_memory) as temporary:
        with concurrent.futures.ThreadPoolExecutor(max(1, options.jobs)) as pool:
            runs = [pool.submit(run, name, options, pathlib.Path(temporary))
                    for name in options.targets]
            for done in concurrent.futures.as_completed(runs):
                r = done.result()
                results.append(r)
                add_to_totals(r)
                print(f"{r['target']:<14}{r['inputs']:>12,}{r['inputs'] / max(r['seconds'], 1e-3):>10,.0f}"
                      f"{r['coverage']:>10,}{r['corpus']:>8,}{len(r['findings']):>10}", flush=True)
    failed = any(r["findings"] or r["status"] != 0 for r in results)
    print(f"{sum(r['inputs'] for r in results):,} inputs in all")
    for r in results:
        for path in r["findings"]:
            print(sentence(r["target"], path))
        if r["status"] != 0:
            print(f"fuzz_{r['target']} ended with status {r['status']}; its output: "
                  f"{pathlib.Path(r['log']).relative_to(ROOT)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
