# SPDX-License-Identifier: Apache-2.0
"""A rival that computes nothing, for every workload and mode: its losses fall and its epochs take
some time. Predictions by the JAX mode fail, as a rival's may."""
import json
import sys
import time

import peer

MODES = ("eager", "graph", "reduce-overhead", "compiled-graph", "max-autotune", "epoch")
SECONDS = 0.002  # of an epoch


class Run:
    def __init__(self, options):
        if options.infer and options.mode == "epoch":
            sys.exit("this rival can't predict, as it was asked not to")
        self.options, self.data_seconds, self.done = options, 0.0, 0
        self.epoch_samples = json.loads((options.data / "data.json").read_text())["samples"]

    def restart(self):
        self.done = 0

    def epoch(self):
        if getattr(sys.modules["__main__"], "Run", None) is not Run:
            raise RuntimeError("torch.compile looks for a program's globals in sys.modules")
        time.sleep(SECONDS)
        self.done += 1
        return SECONDS * (1 + MODES.index(self.options.mode)), 2.3 / self.done

    def finite(self):
        return True

    def about(self):
        return {"framework": "fake", "mode": self.options.mode, "device": "none",
                "parameters": 31530, "threads": 1, "versions": {"python": sys.version.split()[0]}}


if __name__ == "__main__":
    began = time.perf_counter()
    peer.report(Run(peer.parser("mnist_cnn.py", "nothing", MODES).parse_args()), began)
