# SPDX-License-Identifier: Apache-2.0
"""The options of run.py."""
import argparse
import re
from pathlib import Path

import conditions
import engines
import jobs
import peer_python

ROOT = Path(__file__).resolve().parents[1]
USAGE = """Runs workloads on Linnet and, in turn with it, on its peers, and writes what came of it
to benchmarks/results/<date>-<cpu or gpu>-<isa>-<what>.json and .md; result_page.py makes a page of
it.

  benchmarks/run.py                                  all workloads, reduced, beside PyTorch
  benchmarks/run.py mnist-cnn rosenbrock-mlp:infer   these; :infer predicts instead of training
  benchmarks/run.py --data mnist=DIR --data cifar10=DIR   real data that Linnet does not find
  benchmarks/run.py mnist-cnn:infer --batches 1,32,1024   latency, and speed by batch
  benchmarks/run.py resnet50-features --precision int8 --peers onnxruntime,openvino   8-bit integers
  benchmarks/run.py mnist-cnn --threads 1,2               speed by threads
  benchmarks/run.py rosenbrock-mlp --steps-per-epoch 1,4,12,50   speed by steps an epoch
  benchmarks/run.py mnist-cnn --accuracy 0.97 --epochs 20 seconds until that test accuracy
  benchmarks/run.py mnist-cnn --neighbour                 beside a process that keeps a core busy
  benchmarks/run.py mnist-cnn --streamed                  Linnet streaming its data too
  benchmarks/run.py --footprint                           seconds to the first step of mnist-cnn
  benchmarks/run.py rosenbrock-mlp --memory-limit 2G      the largest batch that fits
  benchmarks/run.py --peers all --install-peers           beside every framework there is
"""


class Pythons(dict):
    """{framework: interpreter}, looked for when it is first asked for."""

    def __missing__(self, framework):
        self[framework] = peer_python.find(framework)
        return self[framework]


def numbers(words):
    """Of "1,2,8" or "1..4"."""
    found = []
    for word in words.split(","):
        first, _, last = word.partition("..")
        found += range(int(first), int(last or first) + 1)
    return found


def memory(words):
    """Bytes: a number, or one with K, M or G (of 1024) after it."""
    unit = {"K": 10, "M": 20, "G": 30}.get(words[-1:].upper())
    found = int(float(words[:-1]) * 2**unit) if unit else int(words)
    if found <= 0:
        raise ValueError
    return found


def name_of(words):
    """Small letters, digits and single hyphens."""
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", words):
        raise ValueError
    return words


def arguments():
    parser = argparse.ArgumentParser(description=USAGE,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("workloads", nargs="*", metavar="WORKLOAD",
                        help="workloads to run, of " + ", ".join(jobs.sizes("reduced")) +
                        "; all if none is given")
    parser.add_argument("--device", default="cpu", help="device: cpu or cuda")
    parser.add_argument("--peers", default="torch,torch-compile,torch-plain", metavar="PEER,...",
                        help="peers, of " + ", ".join(engines.PEERS) + "; or all, or none; jax:2: only "
                        "in the first two repetitions")
    parser.add_argument("--flux", type=Path, metavar="DIR",
                        help="also run Flux.jl, from a Julia project that has it; on the CPU, "
                        "needs julia on the PATH")
    parser.add_argument("--opennn", type=lambda word: Path(word).resolve(), metavar="DIR",
                        help="also run OpenNN, from a source tree that you have built with its "
                        "own CMake and -DOpenNN_DISABLE_CUDA=ON; on the CPU")
    parser.add_argument("--install-peers", action="store_true",
                        help="first install the peers' packages, each framework into its own "
                        f"virtual environment in {peer_python.cache()}")
    parser.add_argument("--repetitions", type=int, help="repetitions of each measurement; 5, or 2 with --quick")
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true", help="tiny sizes, as a test of the benchmarks")
    size.add_argument("--full", action="store_true", help="the published protocol; hours on a CPU")
    parser.add_argument("--data", action="append", default=[], metavar="NAME=WHERE",
                        help="place of a data set, as for `linnet train --data`; names: " +
                        ", ".join(sorted(set(jobs.DATA.values()))))
    parser.add_argument("--precision", default="auto",
                        help="precision: auto, fp32, tf32, bf16, fp16 or, for :infer, int8")
    amount = parser.add_mutually_exclusive_group()
    amount.add_argument("--batches", type=numbers, metavar="N,N,...",
                        help="run each workload at these batches; :infer at 1 gives the latency")
    amount.add_argument("--steps-per-epoch", type=numbers, metavar="N,N,...",
                        help="run each workload with the batches that give these steps per epoch")
    parser.add_argument("--threads", type=numbers, default=[0], metavar="N,N,...",
                        help="run each workload on these numbers of threads, also 1..4; 0: all "
                        "processors")
    parser.add_argument("--epochs", type=int, help="timed epochs, instead of the protocol's")
    parser.add_argument("--test", action="store_true", help="evaluate the test set each epoch")
    parser.add_argument("--accuracy", type=float, metavar="A",
                        help="measure the seconds of training to this test accuracy, e.g. 0.97; "
                        "implies --test, and all epochs are timed")
    parser.add_argument("--neighbour", action="store_true",
                        help="run each repetition also while another process keeps one processor "
                        "busy")
    parser.add_argument("--streamed", action="store_true",
                        help="run each repetition of Linnet also with its data in host memory, "
                        "copied to the device batch by batch")
    parser.add_argument("--footprint", action="store_true",
                        help="also run processes that end with their first training step; only "
                        "mnist-cnn if no workload is given")
    parser.add_argument("--memory-limit", type=memory, default=0, metavar="SIZE",
                        help="also find the largest batch whose process stays below this resident "
                        "memory, e.g. 2G; on the CPU")
    parser.add_argument("--limit", type=float, default=900, help="time limit of a process in seconds")
    parser.add_argument("--linnet", default=str(ROOT / "build/release/bin/linnet"))
    parser.add_argument("--python", action="append", default=[], metavar="FRAMEWORK=PATH",
                        help="Python of a framework's peers; else that of --install-peers, or "
                        "python3")
    parser.add_argument("--what", type=name_of, help="last part of the result's name, after date, device "
                        "and instruction set; its workloads if not given")
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks/results")
    options = parser.parse_args()
    options.protocol = "quick" if options.quick else "full" if options.full else "reduced"
    # Reduced: two cores do five repetitions beside PyTorch in about 20 minutes.
    sizes = jobs.sizes({"full": "published"}.get(options.protocol, options.protocol))
    aliases = {name.removesuffix(":infer"): name for name in reversed(sizes)}
    wanted = [name if name in sizes else aliases.get(name, name)
              for name in options.workloads or (["mnist-cnn"] if options.footprint else sizes)]
    unknown = [name for name in wanted if name.removesuffix(":infer") not in jobs.DATA]
    if unknown:
        parser.error(f"unknown workload '{unknown[0]}'; expected {', '.join(sizes)}")
    options.sizes = {name: sizes.get(name) or sizes[aliases[name.removesuffix(":infer")]]
                     for name in wanted}
    training = [name for name in wanted if not name.endswith(":infer")]
    if options.precision == "int8" and training:
        parser.error(f"--precision int8 is for predictions; write {training[0]}:infer")
    given = dict(part.partition("=")[::2] for part in options.python)
    theirs = [name for name in ("flux", "opennn") if getattr(options, name)]
    real = [name for name, peer in engines.PEERS.items()
            if (peer.runs_in == "python" or name in theirs) and
            (name != "linnet-python" or name in given) and
            (options.device != "cpu" or not peer.cuda)]
    named = {"none": [], "all": real}.get(options.peers, options.peers.split(","))
    options.peers = [peer.partition(":")[0] for peer in named]
    options.peers += [name for name in theirs if name not in options.peers]
    options.at_most = dict(peer.split(":", 1) for peer in named if ":" in peer)
    for name, times in options.at_most.items():
        if not times.isdigit() or int(times) < 1:
            parser.error(f"--peers: expected a number of repetitions after {name}: got '{times}'")
        options.at_most[name] = int(times)
    for peer in options.peers:
        if peer not in engines.PEERS:
            parser.error(f"unknown peer '{peer}'; expected {', '.join(engines.PEERS)} or none")
    options.data = dict(part.partition("=")[::2] for part in options.data)
    for name in options.data:
        if name not in jobs.DATA.values():
            parser.error(f"--data: unknown name '{name}'")
    if min(options.batches or [1]) < 1 or min(options.steps_per_epoch or [1]) < 1 or \
            min(options.threads, default=-1) < 0:
        parser.error("--batches, --steps-per-epoch, --threads: expected numbers from 1 on (0 "
                     "threads: all processors)")
    if options.epochs is not None and options.epochs < 1:
        parser.error("--epochs: expected at least 1")
    if options.accuracy is not None and not 0 < options.accuracy <= 1:
        parser.error("--accuracy: expected a part of 1, e.g. 0.97")
    options.conditions = [name for name in conditions.ALL if getattr(options, name)]
    options.test = options.test or options.accuracy is not None
    for name, size in options.sizes.items() if options.steps_per_epoch else ():
        if size.samples < max(options.steps_per_epoch):
            has = f"{size.samples} samples here" if size.samples else "no fixed number of samples"
            parser.error(f"--steps-per-epoch: {name} has {has}")
    if options.memory_limit and options.device != "cpu":
        parser.error("--memory-limit is about the memory of a process; use --device cpu")
    if options.streamed and options.device == "cpu":
        parser.error("--streamed is for GPUs: a CPU reads its data where they are")
    if options.repetitions is None:
        options.repetitions = 2 if options.quick else 5
    if options.repetitions < 1:
        parser.error("--repetitions: expected at least 1")
    folders = {peer.folder for peer in engines.PEERS.values() if peer.runs_in == "python"}
    for framework in given:
        if framework not in folders:
            parser.error(f"--python: unknown framework '{framework}'; expected FRAMEWORK=PATH with "
                         f"one of {', '.join(sorted(folders))}")
    wanted = {engines.PEERS[name].folder for name in options.peers}
    options.install = [each for each in peer_python.installable() if options.install_peers and
                       each in wanted and each not in given]
    options.pythons = Pythons(given)
    return options
