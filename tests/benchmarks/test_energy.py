# SPDX-License-Identifier: Apache-2.0
"""benchmarks/energy.py on counters that are written here."""
import ctypes
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "benchmarks"))
import energy  # noqa: E402
import figures  # noqa: E402
import side_tables  # noqa: E402


class Rapl(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="linnet-energy-")
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)

    def zone(self, zone, **files):
        (self.folder / zone).mkdir(exist_ok=True)
        for file, content in files.items():
            (self.folder / zone / file).write_text(f"{content}\n")

    def test_packages_alone(self):
        self.zone("intel-rapl:0", name="package-0", energy_uj=5000000, max_energy_range_uj=9000000)
        self.zone("intel-rapl:0:0", name="core", energy_uj=4000000, max_energy_range_uj=9000000)
        self.zone("intel-rapl:1", name="package-1", energy_uj=0, max_energy_range_uj=9000000)
        rapl = energy.Rapl(self.folder)
        before = rapl.read()
        self.assertEqual(before, {"intel-rapl:0": (5.0, 9.0), "intel-rapl:1": (0.0, 9.0)})
        self.zone("intel-rapl:0", energy_uj=8500000)
        self.zone("intel-rapl:1", energy_uj=1000000)
        self.assertEqual(energy.spent(before, rapl.read()), 4.5)
        self.zone("intel-rapl:0", energy_uj=1000000)  # it began again
        self.assertEqual(energy.spent(before, rapl.read()), 1.0 + 9.0 - 5.0 + 1.0)

    def test_nothing_to_read(self):
        self.assertEqual(energy.Rapl(self.folder / "nowhere").read(), {})
        self.zone("intel-rapl:0", name="package-0", max_energy_range_uj=9000000)
        self.assertEqual(energy.Rapl(self.folder).read(), {})
        self.assertIsNone(energy.spent({}, {}))
        self.assertIsNone(energy.spent({}, {"a": (1.0, None)}), "it has come in between")


class FakeNvml:
    """Two GPUs, of which the second doesn't count."""
    status = 0

    def nvmlInit_v2(self):
        return self.status

    def nvmlDeviceGetCount_v2(self, count):
        ctypes.cast(count, ctypes.POINTER(ctypes.c_uint))[0] = 2
        return 0

    def nvmlDeviceGetHandleByIndex_v2(self, index, device):
        ctypes.cast(device, ctypes.POINTER(ctypes.c_void_p))[0] = 100 + index
        return 0

    def nvmlDeviceGetTotalEnergyConsumption(self, device, millijoules):
        if device.value == 101:
            return 3
        ctypes.cast(millijoules, ctypes.POINTER(ctypes.c_ulonglong))[0] = 2500
        return 0


class Nvml(unittest.TestCase):
    def test_gpus(self):
        self.assertEqual(energy.Nvml(lambda name: FakeNvml()).read(), {"gpu:0": (2.5, None)})

    def test_no_driver(self):
        def absent(name):
            raise OSError(name)

        class Broken(FakeNvml):
            status = 9
        self.assertEqual(energy.Nvml(absent).read(), {})
        self.assertEqual(energy.Nvml(lambda name: Broken()).read(), {})


class Table(unittest.TestCase):
    def titles(self, **engines):
        row = {"name": "mnist-cnn", "mode": "train", "threads": 0, "batch": 128, "failed": None,
               "engines": {name: figures.summary(each) for name, each in engines.items()}}
        result = {"settings": {"peers": []}, "workloads": [row]}
        return {each.title: each.rows for each in side_tables.of(result)}

    def runs(self, *joules):
        return [{"failed": None, "samples_per_second": 1, "joules": each} for each in joules]

    def test_energy(self):
        rows = self.titles(linnet=self.runs(2, 4, 4), torch=self.runs(8, 8, 16))["Energy"]
        self.assertEqual([row[1:] for row in rows], [
            ("linnet", "4 (2 to 4)", "–"), ("torch", "8 (8 to 16)", "4.00 (2.00 to 4.00)")])

    def test_a_machine_that_does_not_count(self):
        self.assertNotIn("Energy", self.titles(linnet=self.runs(None), torch=self.runs(None)))


if __name__ == "__main__":
    unittest.main()
