# SPDX-License-Identifier: Apache-2.0
"""The networks of `kernels.py --operators`: every operator of layers at shapes of ordinary networks, forward
and gradients. A layer with weights stands before them, so that gradients reach all of them. Batches are so small
that most operators take a few milliseconds: on a busy machine their best time is one without interruption."""
from dataclasses import dataclass


# The layer before those that are measured, by the rank of a sample (images, sequences of ids), and those after them.
FIRST = {3: ['type = "conv2d", kernel = 1, filters = FEATURES'],
         1: ['type = "embedding", vocabulary = 1000, features = FEATURES']}
LAST = ['type = "flatten"', 'type = "dense", units = 10']


@dataclass(frozen=True)
class Network:
    """`layers`: (name, the rest of an inline table) each; the name is in the result."""
    name: str
    input: tuple  # of one sample
    features: int  # of the first layer that is measured
    batch: int
    layers: tuple

    def toml(self):
        """A configuration file for `linnet profile --synthetic`."""
        tables = [*FIRST[len(self.input)], *(f'name = "{name}", {layer}' for name, layer in self.layers),
                  *LAST]
        lines = ",\n".join(f"  {{ {table} }}" for table in tables).replace("FEATURES", str(self.features))
        return (f'[data]\nname = "digits"\n[network]\ninput = {list(self.input)}\nlayers = [\n{lines}\n]\n'
                f"[training]\nbatch = {self.batch}\n")

    def holds(self, layer):
        """Whether an operator of this layer is one of those that the network is there for."""
        return any(layer == name or layer.startswith(f"{name}.") for name, _ in self.layers)


def _each(*kinds):
    return tuple((kind, f'type = "{kind}"') for kind in kinds)


def _conv(name, filters, kernel, **other):
    words = ", ".join(f"{key} = {value}" for key, value in other.items())
    return name, f'type = "conv2d", filters = {filters}, kernel = {kernel}, padding = "same"' + (f", {words}" if words else "")


def _depthwise(channels, *kernels):
    return tuple(_conv(f"{kernel}x{kernel}-by-{stride}", channels, kernel, groups=channels, stride=stride)
                 for kernel, stride in kernels)


NETWORKS = (
    Network("activations", (56, 56, 64), 64, 16, _each(
        "relu", "leaky_relu", "tanh", "sigmoid", "silu", "gelu", "selu", "elu", "softplus", "hard_swish",
        "hard_sigmoid", "hard_tanh") + (("gelu_tanh", 'type = "gelu", tanh_form = true'),)),
    Network("norms", (56, 56, 64), 64, 16, (
        ("layer_norm", 'type = "layer_norm"'), ("group_norm", 'type = "group_norm", groups = 8'),
        ("instance_norm", 'type = "group_norm", groups = 64'), ("batch_norm", 'type = "batch_norm"'),
        ("dropout", 'type = "dropout", rate = 0.1'))),
    Network("pools", (112, 112, 64), 64, 4, (
        ("max-2-by-2", 'type = "max_pool2d", size = 2'), ("up", 'type = "upsample2d"'),
        ("max-3-by-2", 'type = "max_pool2d", size = 3, stride = 2, padding = "same"'),
        ("up-bilinear", 'type = "upsample2d", bilinear = true'),
        ("avg-3-by-2", 'type = "avg_pool2d", size = 3, stride = 2, padding = "same"'),
        ("max-3-by-1", 'type = "max_pool2d", size = 3, stride = 1, padding = "same"'),
        ("avg-2-by-2", 'type = "avg_pool2d", size = 2'))),
    Network("depthwise-56", (56, 56, 64), 64, 4, _depthwise(64, (3, 1), (5, 1), (7, 1), (3, 2))),
    Network("depthwise-28", (28, 28, 144), 144, 4, _depthwise(144, (3, 1), (5, 1), (7, 1), (5, 2))),
    Network("convolutions-28", (28, 28, 64), 64, 8, (
        _conv("3x3", 64, 3), _conv("groups-4", 64, 3, groups=4), _conv("dilation-2", 64, 3, dilation=2),
        _conv("1x1-up", 256, 1), _conv("1x1-down", 64, 1), _conv("3x3-by-2", 128, 3, stride=2),
        ("transposed-by-2", 'type = "conv_transpose2d", filters = 64, kernel = 3, stride = 2, padding = "same"'))),
    Network("dense", (4,), 128, 128, (
        ("flatten", 'type = "flatten"'), ("512-to-1024", 'type = "dense", units = 1024'), ("tanh", 'type = "tanh"'),
        ("1024-to-64", 'type = "dense", units = 64'))),
    Network("sequences", (128,), 128, 8, (
        ("attention", 'type = "multi_head_attention", heads = 4'), ("layer_norm", 'type = "layer_norm"'),
        ("conv1d-5", 'type = "conv1d", filters = 128, kernel = 5, padding = "same"'),
        ("lstm", 'type = "lstm", units = 128, return_sequences = true'),
        ("gru", 'type = "gru", units = 128, return_sequences = true'), ("softmax", 'type = "softmax"'))),
)
