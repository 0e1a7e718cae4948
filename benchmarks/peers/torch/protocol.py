# SPDX-License-Identifier: Apache-2.0
"""What the PyTorch peers share: the data that `linnet bench --export` wrote, resident on the
device; the ways to run a training step or a prediction; whole timed epochs; one JSON line on
stdout. A peer hands run() its network, `forward(model, samples)` and `loss(outputs, targets)`.

Modes: eager; default, reduce-overhead and max-autotune are torch.compile's of the network with its
loss, with the fused optimizer after it; graph is the whole step (gather, forward, backward, update)
captured by hand in a CUDA graph, compiled-graph the same of the network that torch.compile made.
--plain takes none of the tuning that PyTorch's documentation advises: images lie channels first and
the optimizer is not fused. --infer predicts the samples in their stored order, as `linnet bench
--mode infer` does; the compiled modes freeze the weights, which folds batch norms into them.
"""
import sys
import time
from pathlib import Path

import torch
from torch import nn

sys.path.append(str(Path(__file__).resolve().parents[1] / "common"))
import peer  # noqa: E402
from timed import Run, parameters_of  # noqa: E402

MODES = ("eager", "default", "reduce-overhead", "max-autotune", "graph", "compiled-graph")


def arguments(program):
    parser = peer.parser(program, "PyTorch", MODES,
                         "cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--plain", action="store_true", help="PyTorch's defaults, untuned")
    options = parser.parse_args()
    if "graph" in options.mode and not options.device.startswith("cuda"):
        sys.exit(f"{options.workload}: --mode {options.mode} needs a CUDA device; got "
                 f"{options.device}")
    if "graph" in options.mode and options.infer:
        sys.exit(f"{options.workload}: --infer takes reduce-overhead for a CUDA graph; got "
                 f"{options.mode}")
    return options


def glorot(model):
    """Linnet's first weights, where a workload says nothing else: Glorot uniform, biases 0."""
    for layer in model.modules():
        if isinstance(layer, (nn.Conv2d, nn.Linear)):
            nn.init.xavier_uniform_(layer.weight)
            if layer.bias is not None:
                nn.init.zeros_(layer.bias)
    return model


def he(layer):
    """Linnet's first weights of convolutions in networks with batch norm: N(0, 2 / fan in)."""
    nn.init.kaiming_normal_(layer.weight, mode="fan_in", nonlinearity="relu")
    return layer


def adam(rate):
    return lambda parameters, **how: torch.optim.Adam(parameters, lr=rate, **how)


def momentum(rate):
    """SGD with momentum 0.9."""
    def make(parameters, capturable=False, **how):
        return torch.optim.SGD(parameters, lr=rate, momentum=0.9, **how)
    return make


def pixels(x):
    """(N, C, H, W) u8 to f32 in [0, 1]."""
    return x.float() / 255


def imagenet_pixels(x):
    """The same, less ImageNet's mean and divided by its std."""
    mean, std = (x.new_tensor(values, dtype=torch.float32).view(1, 3, 1, 1)
                       for values in ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)))
    return (pixels(x) - mean) / std


def forget():
    """Frees what an earlier run() of this process left on the device."""
    torch._dynamo.reset()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()


def run(program, network, forward, loss, optimizer=adam(1e-3)):
    """Runs the whole program of this path, `__file__`: `network()` makes the model, which must have
    as many parameters as workloads.json says; `optimizer(parameters, ...)` its rule."""
    started = time.perf_counter()
    options = arguments(program)
    torch.manual_seed(options.seed)
    model = network()
    peer.check_parameters(options, parameters_of(model))
    peer.report(Run(options, model, forward, loss, optimizer), started)
