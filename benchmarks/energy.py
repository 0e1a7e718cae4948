# SPDX-License-Identifier: Apache-2.0
"""Joules of a process, from counters that some machines have: RAPL's of the processors, NVML's of
the GPUs. They count all that the machine does meanwhile, idling too."""
import ctypes
from pathlib import Path

import figures
from side_table import Table, work_of

POWERCAP = Path("/sys/class/powercap")
NVML = "libnvidia-ml.so.1"


class Rapl:
    """Joules of each processor package; {} where the system shows none, or to root alone."""

    def __init__(self, folder=POWERCAP):
        zones = sorted(folder.glob("intel-rapl:*")) if folder.is_dir() else []
        self.zones = {}
        for zone in zones:  # AMD's too; intel-rapl:0:0 is a part of intel-rapl:0
            try:
                if (zone / "name").read_text().startswith("package"):
                    self.zones[zone] = int((zone / "max_energy_range_uj").read_text()) / 1e6
            except (OSError, ValueError):
                continue

    def read(self):
        found = {}
        for zone, range_of_counter in self.zones.items():
            try:
                joules = int((zone / "energy_uj").read_text()) / 1e6
            except (OSError, ValueError):
                continue
            found[zone.name] = (joules, range_of_counter)
        return found


class Nvml:
    """Joules of each GPU; {} without a driver, or where its GPUs don't count them."""

    def __init__(self, load=ctypes.CDLL):
        self.library, self.devices = None, []
        try:
            library = load(NVML)
        except OSError:
            return
        if library.nvmlInit_v2() != 0:
            return
        count = ctypes.c_uint()
        library.nvmlDeviceGetCount_v2(ctypes.byref(count))
        for index in range(count.value):
            device = ctypes.c_void_p()
            if library.nvmlDeviceGetHandleByIndex_v2(index, ctypes.byref(device)) == 0:
                self.devices.append((index, device))
        self.library = library

    def read(self):
        found = {}
        for index, device in self.devices:
            millijoules = ctypes.c_ulonglong()
            if self.library.nvmlDeviceGetTotalEnergyConsumption(
                    device, ctypes.byref(millijoules)) == 0:
                found[f"gpu:{index}"] = (millijoules.value / 1e3, None)
        return found


def spent(before, after):
    """Joules between two readings, of the counters that are in both; None where none is. One that
    is less than before has begun again at 0, once."""
    found = []
    for name, (joules, range_of_counter) in after.items():
        if name in before:
            used = joules - before[name][0]
            found.append(used + range_of_counter if used < 0 and range_of_counter else used)
    return sum(found) if found else None


class Meter:
    """Of one machine; opens its counters once."""

    def __init__(self, device="cpu"):
        self.counters = [Rapl()] + ([] if device == "cpu" else [Nvml()])

    def read(self):
        return {name: value for each in self.counters for name, value in each.read().items()}


def table(result):
    lines = []
    for row in result["workloads"]:
        ours = row["engines"].get("linnet", {}).get("runs", [])
        for name, engine in row["engines"].items():
            joules = figures.spread([run.get("joules") for run in figures.good(engine["runs"])])
            if joules:
                ratio = figures.ratio(engine["runs"], ours, "joules") if name != "linnet" else None
                lines.append((work_of(row), name, figures.range_of(joules),
                              figures.ratio_words(ratio)))
    about = ("Joules of the machine's processors and GPUs, as far as they count them, while a "
             "process ran: start-up, reading and idling included; median (least to most). Ratio: "
             "the peer's over Linnet's; above 1 Linnet needs less.")
    return Table("Energy", about, ("workload", "engine", "joules", "ratio"), lines)
