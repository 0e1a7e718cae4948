# SPDX-License-Identifier: Apache-2.0
"""linnet_side.py FILE: imports a file, compares its answers with those in FILE.npz, times one image on one thread, and
prints one line of JSON."""
import json
import sys

import numpy as np

import linnet as ln
import timing


def main():
    try:
        imported = ln.import_onnx(sys.argv[1], threads=1)
    except ln.DataError as error:
        print(json.dumps({"refused": str(error)}))
        return
    known = np.load(sys.argv[1] + ".npz")
    model, port, answers = imported.model, imported.inputs[0], known["answers"]
    images = np.ascontiguousarray(known["images"].transpose(port.batch, *port.axes))  # the network's layout, (N, H, W, C)
    found = np.asarray(model.predict(images)).reshape(answers.shape)
    predictor = ln.Predictor(model)
    image = images[:1].copy()
    print(json.dumps({"error": float(np.abs(found - answers).max() / np.abs(answers).max()),
                      "speed": 1 / timing.least_seconds(lambda: predictor.predict(image))}))


main()
