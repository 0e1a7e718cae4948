# SPDX-License-Identifier: Apache-2.0
"""What run.py runs: Linnet and its peers as commands, the environment that each gets, and one fresh
process of one of them."""
import json
import math
import os
import resource
import signal
import statistics
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Peer:
    """A framework: a folder of benchmarks/peers with a program a workload, e.g. mnist_cnn.py. Each
    takes --data, --device, --batch, --warmup, --epochs, --precision, --seed and, where asked,
    --threads, --infer and --test, and prints one JSON line as common/peer.py does."""
    folder: str
    arguments: tuple = ()
    tuned: bool = True   # gets tuned_environment(); else the plain one
    openmp: bool = True  # its threads are OpenMP's, which tuned_environment() tells how to wait
    cuda: bool = False   # runs on GPUs only
    switches: tuple = ()  # its own environment variables where it is tuned; {threads} is filled in
    # What its programs are for: "python" that has its framework, "plain" Python, "julia" in a
    # project that the user names, "built" of C++ against a tree that the user names.
    runs_in: str = "python"

    def environment(self, threads):
        if not self.tuned:
            return {}
        return {**tuned_environment(threads, self.openmp),
                **{key: value.format(threads=threads) for key, value in self.switches}}

    def program(self, workload):
        ending = {"julia": ".jl", "built": ".cpp"}.get(self.runs_in, ".py")
        return HERE / "peers" / self.folder / (workload.replace("-", "_") + ending)


# TensorFlow leaves oneDNN off on processors without AVX-512; there ResNet-50 trains 3.7 times as
# fast with it.
ONEDNN = (("TF_ENABLE_ONEDNN_OPTS", "1"),)
# Its BLAS and loops take it; bound threads are not for OpenNN, which has some of its own beside them.
OPENMP = (("OMP_NUM_THREADS", "{threads}"),)
PEERS = {
    "torch": Peer("torch", ("--mode", "eager")),
    "torch-compile": Peer("torch", ("--mode", "default")),
    "torch-reduce-overhead": Peer("torch", ("--mode", "reduce-overhead"), cuda=True),
    "torch-max-autotune": Peer("torch", ("--mode", "max-autotune")),
    "torch-graph": Peer("torch", ("--mode", "graph"), cuda=True),
    # Inductor, and the whole step captured.
    "torch-compiled-graph": Peer("torch", ("--mode", "compiled-graph"), cuda=True),
    "torch-plain": Peer("torch", ("--mode", "eager", "--plain"), tuned=False),
    "jax": Peer("jax", openmp=False),
    "jax-epoch": Peer("jax", ("--mode", "epoch"), openmp=False),
    "jax-plain": Peer("jax", tuned=False),
    "tensorflow": Peer("tensorflow", openmp=False, switches=ONEDNN),
    "tensorflow-xla": Peer("tensorflow", ("--mode", "xla"), openmp=False, switches=ONEDNN),
    "keras": Peer("tensorflow", ("--mode", "fit"), tuned=False),
    "flux": Peer("flux", openmp=False, runs_in="julia"),
    "opennn": Peer("opennn", openmp=False, switches=OPENMP, runs_in="built"),
    # Engines for predictions, by the ONNX file of the model that Linnet times.
    "onnxruntime": Peer("onnx", ("--mode", "onnxruntime"), openmp=False),
    "onnxruntime-int8": Peer("onnx", ("--mode", "onnxruntime-int8"), openmp=False),
    "openvino": Peer("onnx", ("--mode", "openvino"), openmp=False),
    "openvino-int8": Peer("onnx", ("--mode", "openvino-int8"), openmp=False),
    "linnet-python": Peer("linnet-python", tuned=False),
    # They compute nothing, and show that this works where no rival is installed.
    "fake": Peer("fake", runs_in="plain"),
    "fake-flat": Peer("fake", ("--behaviour", "flat"), runs_in="plain"),
    "fake-broken": Peer("fake", ("--behaviour", "broken"), runs_in="plain"),
}

FOREIGN = ("OMP_", "GOMP_", "KMP_", "MKL_", "MALLOC_", "LD_PRELOAD", "GLIBC_TUNABLES")
ALLOCATORS = ("libtcmalloc_minimal.so.4", "libtcmalloc.so.4", "libjemalloc.so.2")
LIBRARIES = ("/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib",
             "/usr/local/lib")


def plain_environment():
    """This process's, without what tunes threads and memory."""
    return {key: value for key, value in os.environ.items() if not key.startswith(FOREIGN)}


def tuned_environment(threads, openmp=True):
    """What PyTorch's tuning guide advises for the CPU: bound threads that spin, and a malloc that
    keeps its pages, which glibc's does if it is told to; without `openmp` the latter alone."""
    found = {"OMP_NUM_THREADS": str(threads), "OMP_PROC_BIND": "close", "OMP_PLACES": "cores",
             "OMP_WAIT_POLICY": "ACTIVE"} if openmp else {}
    allocators = [Path(folder, name) for name in ALLOCATORS for folder in LIBRARIES]
    allocator = next((path for path in allocators if path.exists()), None)
    if allocator:
        found["LD_PRELOAD"] = str(allocator)
    else:
        found.update(MALLOC_MMAP_MAX_="0", MALLOC_TRIM_THRESHOLD_=str(1 << 36))
    return found


def linnet_data(linnet, job):
    """`linnet bench` of the data of a Job of run.py."""
    command = [linnet, "bench", job.workload, "--mode", job.mode, "--data-seed", 0]
    command += ["--samples", job.samples] if job.samples else []
    command += ["--dataset", job.dataset] if job.dataset else []
    return [str(part) for part in command]


def linnet_command(linnet, job):
    """`linnet bench` of a Job of run.py, without what says where its results go."""
    command = ["--device", job.device, "--batch", job.batch, "--warmup", job.warmup, "--epochs", job.epochs]
    command += ["--int8"] if job.precision == "int8" else ["--precision", job.precision]
    command += ["--threads", job.threads] if job.threads else []
    return [*linnet_data(linnet, job), *(str(part) for part in command)]


def peer_command(peer, program, folder, job):
    """`program`: what starts it, in words."""
    command = [*program, *peer.arguments, "--data", folder, "--device", job.device, "--batch",
               job.batch, "--warmup", job.warmup, "--epochs", job.epochs, "--precision",
               job.precision]
    command += ["--threads", job.threads] if job.threads else []
    command += ["--infer"] if job.mode == "infer" else []
    return [str(part) for part in command]


def busy_seconds():
    """Of all processors since the machine began; None where the system does not tell."""
    try:
        fields = [int(n) for n in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]]
    except (OSError, ValueError):
        return None
    return (sum(fields[:3]) + sum(fields[5:7])) / os.sysconf("SC_CLK_TCK")


def child_seconds():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


NEEDS_MORE = "it needs more memory"


class OverMemory(Exception):
    """A process has gone above its limit of memory."""


def resident_peak(pid):
    """The most bytes that a process has held in memory so far; 0 where that is unavailable."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
        return next((int(line.split()[1]) * 1024 for line in status.splitlines()
                     if line.startswith("VmHWM")), 0)
    except OSError:
        return 0


def start(command, environment, limit, most_bytes=0):
    """Runs a command to its end: (exit status or None at the time limit, stdout, stderr). Throws
    OverMemory as soon as it is seen to hold more than `most_bytes` (0: no limit)."""
    try:
        process = subprocess.Popen(command, env=environment, text=True, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, start_new_session=True)
    except OSError as error:
        return 127, "", f"cannot start {command[0]}: {error.strerror}"  # as a shell has it
    end = time.monotonic() + limit
    try:
        while True:
            try:
                left = max(end - time.monotonic(), 0)
                out, err = process.communicate(timeout=min(left, 0.02) if most_bytes else left)
                return process.returncode, out, err
            except subprocess.TimeoutExpired:
                if most_bytes and resident_peak(process.pid) > most_bytes:
                    raise OverMemory from None
                if time.monotonic() >= end:
                    return None, "", ""
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)  # with the workers that a compiler has started
            process.communicate()


def json_line(out):
    """The last line that is a JSON object, or None."""
    for line in reversed(out.splitlines()):
        try:
            record = json.loads(line)
        except ValueError:
            continue
        if isinstance(record, dict):
            return record
    return None


def reason_of(status, err, limit):
    if status is None:
        return f"took longer than {limit:.0f} s"
    last = err.strip().splitlines()[-1:] or ["it printed nothing"]
    if last[0].startswith("ModuleNotFoundError"):
        return f"not installed ({last[0][:200]}); --install-peers installs it, --python names where"
    return f"exit status {status}: {last[0][:200]}"


def failure_of(record, job):
    """Why a record is not that of a run which did the work, or None."""
    if record.get("failed"):
        return record["failed"]
    samples = record.get("train_samples", record.get("samples"))
    if samples != job.samples:
        return f"ran on {samples} samples instead of {job.samples}"
    losses = [math.nan if loss is None else loss for loss in record["losses"]]
    if job.mode == "train" and len(losses) > 1 and not losses[-1] < losses[0]:
        return f"the loss does not fall: {losses[0]:.6g} to {losses[-1]:.6g}"
    return None


def startup_of(record, wall):
    """Seconds of a process outside its epochs and the reading of its data: starting, compiling,
    choosing, allocating, ending. A warm-up epoch counts as the median timed one."""
    timed = record["timed_seconds"]
    epochs = sum(timed) + record["warmup"] * statistics.median(timed)
    return max(wall - epochs - record["data_seconds"], 0.0)


def run_process(command, extra_environment, limit, most_bytes=0):
    """One fresh process: ({wall_s, failed}, its JSON line or None where it failed). Above
    `most_bytes` in memory (0: no limit) it is killed and has failed."""
    began = time.perf_counter()
    run = {"failed": None}
    record = None
    try:
        status, out, err = start(command, {**plain_environment(), **extra_environment}, limit,
                                 most_bytes)
        record = json_line(out) if status in (0, 3) else None  # 3: Linnet's loss does not fall
        if record is None:
            run["failed"] = reason_of(status, err, limit)
    except OverMemory:
        run["failed"] = NEEDS_MORE
    return {"wall_s": time.perf_counter() - began, **run}, record


def run_step(command, extra_environment, limit, most_bytes=0):
    """A job of one step, whose loss can't show whether it falls: {wall_s, data_seconds, peak_bytes,
    failed}; `most_bytes` as of run_process()."""
    run, record = run_process(command, extra_environment, limit, most_bytes)
    if record is None:
        return run
    run.update({key: record[key] for key in ("data_seconds", "peak_bytes")})
    if not all(loss is not None and math.isfinite(loss) for loss in record["losses"]):
        run["failed"] = "the loss is not finite"
    elif 0 < most_bytes < run["peak_bytes"]:
        run["failed"] = NEEDS_MORE
    return run


def observed_process(command, extra_environment, limit, helpers=lambda: 0.0):
    """As run_process(), with "others_processors": how many processors other programs used
    meanwhile. `helpers`: the processor seconds so far of processes that we have started beside it."""
    def own_seconds():
        return child_seconds() + helpers()
    busy, own = busy_seconds(), own_seconds()
    run, record = run_process(command, extra_environment, limit)
    if busy is not None:
        others = busy_seconds() - busy - (own_seconds() - own)
        run["others_processors"] = max(others, 0.0) / run["wall_s"]
    return run, record


def run_once(command, extra_environment, limit, job, helpers=lambda: 0.0):
    """One fresh process: {samples_per_second, loss, losses, startup_s, peak_bytes, ..., failed}.
    `helpers`: as of observed_process()."""
    run, record = observed_process(command, extra_environment, limit, helpers)
    if record is None:
        return run
    speed = record["samples_per_second"]
    run.update(
        samples_per_second=speed["median"] if isinstance(speed, dict) else speed,
        losses=record["losses"],
        loss=record["losses"][-1] if record["losses"] else None,
        test_losses=record.get("test_losses") or [],
        test_accuracies=record.get("test_accuracies") or [],
        compile_s=record.get("startup_seconds"),  # Linnet's; peers have none of their own
        startup_s=None if job.test else startup_of(record, run["wall_s"]),
        peak_bytes=record["peak_bytes"],
        timed_seconds=record["timed_seconds"],
        parameters=record["parameters"],
        threads=record.get("threads"),
        streamed=record.get("streamed", False),
        versions=record.get("versions") or {"linnet": record.get("version"),
                                            "commit": record.get("commit"),
                                            "compiler": record.get("compiler"),
                                            "libraries": record.get("libraries")},
        failed=failure_of(record, job))
    return run
