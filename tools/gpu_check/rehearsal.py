# SPDX-License-Identifier: Apache-2.0
"""A rehearsal: the simulated device, test programs built against it, and rivals and tools of NVIDIA
that only pretend. Its programs come from the environment, which tests/gpu_check/CMakeLists.txt
sets, or from build/release."""
import os
import tempfile
from pathlib import Path

import programs
from check import ROOT, Failed

FAKES = ROOT / "tests/gpu_check/fakes"
CASES = "--gtest_filter=Softmax.*:*CudaTraining.*FollowsTheCpu*:*CudaTraining.EveryWay*"


class Rehearsal:
    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="linnet-gpu-check-")
        self.work = Path(self.folder.name)
        self.rival = FAKES / "rival.py"
        self.rival_environment = {"PYTHONPATH": str(FAKES / "modules")}
        os.environ["PATH"] = f"{FAKES / 'bin'}:{os.environ['PATH']}"

    def programs(self):
        build = ROOT / "build/release"

        def place(name, default):
            path = Path(os.environ.get(name) or build / default)
            if not path.exists():
                raise Failed(f"a rehearsal needs {path}; ./dev build makes it, {name} names "
                             "another one")
            return path
        tests = {"op_test_cuda": [place("LINNET_OP_TEST", "bin/op_test"), CASES],
                 "cuda_backend_test_cuda": [place("LINNET_BACKEND_TEST", "bin/cuda_backend_test"),
                                            CASES]}
        plugin = place("LINNET_SIMULATED_PLUGIN", "tests/liblinnet_cuda_simulated.so")
        return programs.Programs(place("LINNET_COMMAND", "bin/linnet"), tests, "simulated",
                                 {**os.environ, "LINNET_CUDA_LIBRARY": str(plugin)})
