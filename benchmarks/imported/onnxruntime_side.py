# SPDX-License-Identifier: Apache-2.0
"""onnxruntime_side.py FILE: times one image on one thread, and prints one line of JSON."""
import json
import sys

import numpy as np
import onnxruntime

import timing


def main():
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(sys.argv[1], options)
    image = np.load(sys.argv[1] + ".npz")["images"][:1]
    print(json.dumps({"speed": 1 / timing.least_seconds(lambda: session.run(None, {"x": image}))}))


main()
