# SPDX-License-Identifier: Apache-2.0
"""What results are called, <date>-<cpu or gpu>-<isa>-<what>, and what they record of the machine's
instruction sets and of the versions of everything that ran."""
import datetime
import json
import re
from pathlib import Path

import engines
import figures
import workloads

# The widest first: the name of a result, and the flag of /proc/cpuinfo that stands for it.
CPU = (("amx", "amx_tile"), ("avx512", "avx512f"), ("avx2", "avx2"), ("sve", "sve"),
       ("neon", "asimd"))
RECORDED = re.compile(r"^(avx|amx|fma|f16c|sve|asimd|bf16|i8mm)")
PATTERN = re.compile(r"^\d{4}-\d\d-\d\d-(?:cpu-(?:amx|avx512|avx2|sve|neon|scalar)|gpu-sm\d+)"
                     r"-[a-z0-9]+(?:-[a-z0-9]+)*$")


def cpu_flags():
    """The vector instruction sets of this processor, as the kernel calls them."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return []
    words = next((line.partition(":")[2].split() for line in lines
                  if line.startswith(("flags", "Features"))), [])
    return sorted(word for word in words if RECORDED.match(word))


def used_on_cpu(flags, precision):
    """The widest instruction set that matrix products use; AMX has no fp32."""
    return next((name for name, flag in CPU
                 if flag in flags and (name != "amx" or precision == "bf16")), "scalar")


def compute_capability(linnet, device):
    """"sm90" of the device, as `linnet devices` tells; "sm0" where it does not."""
    status, out, _ = engines.start([linnet, "devices", "--json"], engines.plain_environment(), 60)
    found = json.loads(out)["cuda"].get("devices", []) if status == 0 else []
    index = device.partition(":")[2]
    number = int(index) if index.isdigit() else 0
    words = str(found[number]["compute_capability"]) if number < len(found) else "0"
    return "sm" + words.replace(".", "")


def instruction_sets(options):
    """{used, machine}: the set that the result is called by, and all that the processor has."""
    flags = cpu_flags()
    used = used_on_cpu(flags, options.precision) if options.device == "cpu" else \
        compute_capability(options.linnet, options.device)
    return {"used": used, "machine": flags}


def what(options):
    """The work in words: the workload or the number of them, and what is special about the run."""
    names = list(options.sizes)
    words = ["all"] if {name.removesuffix(":infer") for name in names} == set(workloads.ALL) else \
        [name.replace(":", "-") for name in names] if len(names) == 1 else \
        [f"{len(names)}-workloads"]
    words += ["by-batch"] if len(options.batches or []) > 1 else []
    words += ["by-steps"] if options.steps_per_epoch else []
    words += ["by-threads"] if len(options.threads) > 1 else []
    words += options.conditions
    words += ["footprint"] if options.footprint else []
    words += ["memory"] if options.memory_limit else []
    words += ["accuracy"] if options.accuracy is not None else []
    words += [options.precision] if options.precision != "auto" else []
    words += [options.protocol] if options.protocol != "reduced" else []
    return "-".join(words)


def place(options, sets):
    """A path for the result that is not taken yet, without its ending."""
    device = "cpu" if options.device == "cpu" else "gpu"
    name = f"{datetime.date.today()}-{device}-{sets['used']}-{options.what or what(options)}"
    number = 1
    while (options.out / f"{name}{'' if number == 1 else f'-{number}'}.json").exists():
        number += 1
    return options.out / f"{name}{'' if number == 1 else f'-{number}'}"


def versions(rows):
    """{engine: {library: version}} of all that ran; Linnet's with its compiler."""
    found = {}
    for row in rows:
        for name, engine in row["engines"].items():
            for run in figures.good(engine["runs"]):
                if run.get("versions"):
                    found.setdefault(name, run["versions"])
    return found


def versions_words(result):
    """A sentence on instruction sets and versions; "" of a result that does not record them."""
    if "instruction_sets" not in result:
        return ""
    sets = result["instruction_sets"]
    engines_words = []
    for name, each in result["versions"].items():
        parts = [", ".join(value) if isinstance(value, list) else f"{key} {value}"
                 for key, value in each.items() if value]
        engines_words.append(f"{name}: {', '.join(parts)}")
    return (f"Instruction sets: {sets['used']} of {', '.join(sets['machine']) or 'unknown ones'}. "
            f"Versions: {'; '.join(engines_words) or 'none'}.")
