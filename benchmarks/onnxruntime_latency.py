# SPDX-License-Identifier: Apache-2.0
"""Times onnxruntime on one thread, one sample after another: MODEL.onnx SAMPLES OUTPUTS CALLS.
Prints one JSON line; c_file.py runs it. Input and output are bound, so that nothing is
copied or allocated in a call."""
import json
import sys
import time

import numpy as np
import onnxruntime


def main(model, samples, outputs, calls):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    into, out = session.get_inputs()[0], session.get_outputs()[0]
    sample = np.zeros((1, *into.shape[1:]), np.float32)
    output = np.zeros((1, *out.shape[1:]), np.float32)
    binding = session.io_binding()
    binding.bind_input(into.name, "cpu", 0, np.float32, sample.shape, sample.ctypes.data)
    binding.bind_output(out.name, "cpu", 0, np.float32, output.shape, output.ctypes.data)
    with open(outputs, "wb") as file:
        for row in np.fromfile(samples, np.float32).reshape(-1, sample.size):
            sample.reshape(-1)[:] = row
            session.run_with_iobinding(binding)
            file.write(output.tobytes())
    times, calls = [], int(calls)
    for _ in range(calls // 10):
        session.run_with_iobinding(binding)
    for _ in range(calls):
        begin = time.perf_counter_ns()
        session.run_with_iobinding(binding)
        times.append(time.perf_counter_ns() - begin)
    times.sort()
    print(json.dumps({"least_us": times[0] / 1e3, "median_us": times[calls // 2] / 1e3,
                      "p99_us": times[calls * 99 // 100] / 1e3,
                      "versions": {"onnxruntime": onnxruntime.__version__,
                                   "numpy": np.__version__}}))


if __name__ == "__main__":
    main(*sys.argv[1:])
