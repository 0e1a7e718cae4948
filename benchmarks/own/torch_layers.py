# SPDX-License-Identifier: Apache-2.0
"""PyTorch modules of the layers in a configuration file. Images are (N, C, H, W), channels last in memory, sequences
(N, T, C). Weights are PyTorch's first ones: the speed is compared, not the loss."""
import torch
from torch import nn

ACTIVATIONS = {
    "relu": lambda o: nn.ReLU(), "tanh": lambda o: nn.Tanh(), "sigmoid": lambda o: nn.Sigmoid(),
    "gelu": lambda o: nn.GELU("tanh" if o("tanh_form", False) else "none"),
    "leaky_relu": lambda o: nn.LeakyReLU(o("slope", 0.01)), "elu": lambda o: nn.ELU(o("alpha", 1.0)),
    "selu": lambda o: nn.SELU(), "silu": lambda o: nn.SiLU(), "softplus": lambda o: nn.Softplus(o("beta", 1.0)),
    "hard_sigmoid": lambda o: nn.Hardsigmoid(), "hard_swish": lambda o: nn.Hardswish(),
    "hard_tanh": lambda o: nn.Hardtanh(o("low", -1.0), o("high", 1.0)),
}
IGNORED = ("type", "name", "weight_init", "bias_init")  # they change no speed


class Refused(Exception):
    """A layer or a setting that PyTorch has no module for."""


class Apply(nn.Module):
    """A function of tensors, with the modules that it uses."""

    def __init__(self, function, *modules):
        super().__init__()
        self.function, self.parts = function, nn.ModuleList(modules)

    def forward(self, x):
        return self.function(x, *self.parts)


class Options:
    """The settings of one layer; refuse_left() refuses those that no builder has read."""

    def __init__(self, layer):
        self.layer, self.left = layer, set(layer) - set(IGNORED)

    def __call__(self, name, default=None):
        self.left.discard(name)
        return self.layer.get(name, default)

    def pair(self, name, default):
        value = self(name, default)
        return tuple(value) if isinstance(value, list) else (value, value)


def paddings(options, size, kernel, stride, dilation=(1, 1)):
    """(top, bottom, left, right) around an image of this size."""
    given = options("padding", "valid")
    if given == "valid":
        return 0, 0, 0, 0
    if isinstance(given, int):
        return given, given, given, given
    if given != "same":
        return tuple(given)
    found = []
    for n, k, s, d in zip(size, kernel, stride, dilation):
        whole = max((-(-n // s) - 1) * s + (k - 1) * d + 1 - n, 0)
        found += [whole // 2, whole - whole // 2]
    return tuple(found)


def padded(make, pads, fill=0.0):
    """make(padding=(height, width)), with a layer of its own before it where the sides differ."""
    top, bottom, left, right = pads
    if top == bottom and left == right:
        return make((top, left))
    return nn.Sequential(nn.ConstantPad2d((left, right, top, bottom), fill), make((0, 0)))


def conv2d(o, x):
    kernel, stride, dilation = o.pair("kernel", 3), o.pair("stride", 1), o.pair("dilation", 1)
    pads = paddings(o, x.shape[2:], kernel, stride, dilation)
    filters, groups, bias = o("filters"), o("groups", 1), o("bias", True)
    return padded(lambda p: nn.Conv2d(x.shape[1], filters, kernel, stride, p, dilation, groups, bias), pads)


def separable_conv2d(o, x):
    kernel, stride, dilation = o.pair("kernel", 3), o.pair("stride", 1), o.pair("dilation", 1)
    pads = paddings(o, x.shape[2:], kernel, stride, dilation)
    channels, wide = x.shape[1], x.shape[1] * o("multiplier", 1)
    first = padded(lambda p: nn.Conv2d(channels, wide, kernel, stride, p, dilation, channels, False), pads)
    return nn.Sequential(first, nn.Conv2d(wide, o("filters"), 1, bias=o("bias", True)))


def conv_transpose2d(o, x):
    kernel, stride = o.pair("kernel", 3), o.pair("stride", 1)
    given, more = o("padding", "valid"), o.pair("output_padding", 0)
    if given == "same":
        rest = [k - s for k, s in zip(kernel, stride)]
        pads = tuple(-(-max(r, 0) // 2) for r in rest)
        more = tuple(2 * p - r for p, r in zip(pads, rest))
    elif given == "valid" or isinstance(given, int):
        pads = (0, 0) if given == "valid" else (given, given)
    else:
        raise Refused("four paddings of conv_transpose2d")
    return nn.ConvTranspose2d(x.shape[1], o("filters"), kernel, stride, pads, more, o("groups", 1), o("bias", True),
                              o.pair("dilation", 1))


def steps_first(module):
    """A module of (N, C, T) on (N, T, C)."""
    return Apply(lambda x, m: m(x.transpose(1, 2)).transpose(1, 2), module)


def one_axis(o, x, kernel, stride, dilation, fill, make):
    """A convolution or pooling along the steps."""
    _, _, left, right = paddings(o, (1, x.shape[1]), (1, kernel), (1, stride), (1, dilation))
    if left == right:
        return steps_first(make(left))
    return steps_first(nn.Sequential(nn.ConstantPad1d((left, right), fill), make(0)))


def conv1d(o, x):
    kernel, stride, dilation = o("kernel", 3), o("stride", 1), o("dilation", 1)
    filters, groups, bias = o("filters"), o("groups", 1), o("bias", True)
    return one_axis(o, x, kernel, stride, dilation, 0.0,
                    lambda p: nn.Conv1d(x.shape[2], filters, kernel, stride, p, dilation, groups, bias))


def pool2d(kind, fill, **how):
    def make(o, x):
        size = o.pair("size", 2)
        stride = tuple(s or k for s, k in zip(o.pair("stride", 0), size))
        pads = paddings(o, x.shape[2:], size, stride)
        if kind is nn.AvgPool2d and not o("count_include_pad", True) and any(pads):
            raise Refused("count_include_pad = false")
        return padded(lambda p: kind(size, stride, p, **how), pads, fill)
    return make


def pool1d(kind, fill):
    def make(o, x):
        size = o("size", 2)
        stride = o("stride", 0) or size
        return one_axis(o, x, size, stride, 1, fill, lambda p: kind(size, stride, p))
    return make


def batch_norm(o, x):
    how = {"eps": o("epsilon", 1e-5), "momentum": o("momentum", 0.1)}
    if x.dim() == 4:
        return nn.BatchNorm2d(x.shape[1], **how)
    if x.dim() == 3:
        return steps_first(nn.BatchNorm1d(x.shape[2], **how))
    return nn.BatchNorm1d(x.shape[-1], **how)


def channels_last(module):
    """A module of the last axis, on images too."""
    return Apply(lambda x, m: m(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2), module)


def layer_norm(o, x):
    axes, epsilon = o("axes", 1), o("epsilon", 1e-5)
    shape = (x.permute(0, 2, 3, 1) if x.dim() == 4 else x).shape[-axes:]
    norm = nn.LayerNorm(list(shape), eps=epsilon)
    return channels_last(norm) if x.dim() == 4 else norm


def group_norm(o, x):
    norm = nn.GroupNorm(o("groups", 1), x.shape[1] if x.dim() == 4 else x.shape[-1], o("epsilon", 1e-5))
    return steps_first(norm) if x.dim() == 3 else norm


def dense(o, x):
    linear = nn.Linear(x.shape[1] if x.dim() == 4 else x.shape[-1], o("units"), bias=o("bias", True))
    return channels_last(linear) if x.dim() == 4 else linear


def recurrent(kind, bidirectional=False, merge="concat"):
    def make(o, x):
        how = {"nonlinearity": o("activation", "tanh")} if kind is nn.RNN else {}
        if not o("reset_after", True) or o("reverse", False):
            raise Refused("reset_after = false or reverse = true")
        units, whole = o("units"), o("return_sequences", False)
        net = kind(x.shape[-1], units, batch_first=True, bias=o("bias", True), bidirectional=bidirectional, **how)

        def run(x, net):
            y = net(x)[0]
            if whole and not bidirectional:
                return y
            if whole:
                return y if merge == "concat" else y[..., :units] + y[..., units:]
            if not bidirectional:
                return y[:, -1]
            ends = y[:, -1, :units], y[:, 0, units:]
            return torch.cat(ends, -1) if merge == "concat" else ends[0] + ends[1]
        return Apply(run, net)
    return make


RECURRENT = {"lstm": nn.LSTM, "gru": nn.GRU, "simple_rnn": nn.RNN}


def bidirectional(o, x):
    inner = Options(o("layer"))
    made = recurrent(RECURRENT[inner.layer["type"]], True, o("merge", "concat"))(inner, x)
    refuse_left(inner)
    return made


def multi_head_attention(o, x):
    if o("causal", False):
        mask = nn.Transformer.generate_square_subsequent_mask(x.shape[1])
    else:
        mask = None
    net = nn.MultiheadAttention(x.shape[-1], o("heads", 1), o("dropout", 0.0), batch_first=True)
    return Apply(lambda x, m: m(x, x, x, need_weights=False, attn_mask=mask, is_causal=mask is not None)[0], net)


def transformer_encoder_layer(o, x):
    activation = o("activation", {"type": "relu"})["type"]
    if activation not in ("relu", "gelu"):
        raise Refused(f"the activation {activation}")
    mask = nn.Transformer.generate_square_subsequent_mask(x.shape[1]) if o("causal", False) else None
    net = nn.TransformerEncoderLayer(x.shape[-1], o("heads", 1), o("feed_forward", 2048), o("dropout", 0.1), activation,
                                     o("epsilon", 1e-5), batch_first=True, norm_first=o("norm_first", False))
    return Apply(lambda x, m: m(x, src_mask=mask, is_causal=mask is not None), net)


class Positions(nn.Module):
    def __init__(self, steps, features):
        super().__init__()
        self.weight = nn.Parameter(0.02 * torch.randn(steps, features))

    def forward(self, x):
        return x + self.weight


def normalize(o, x):
    def constant(values):
        found = torch.as_tensor(values, dtype=torch.float32)
        return found.reshape(-1, 1, 1) if x.dim() == 4 else found
    scale, mean, std = o("scale", 1 / 255), constant(o("mean", 0)), constant(o("std", 1))
    return Apply(lambda x: (x * scale - mean) / std)


def rescale(o, x):
    scale, shift = o("scale", 1 / 255), o("shift", 0)
    return Apply(lambda x: x * scale + shift) if shift else Apply(lambda x: x * scale)


def residual(o, x):
    body, shortcut = module(o("body"), x), module(o("shortcut", []), x)
    return Apply(lambda x, b, s: b(x) + s(x), body, shortcut)


def concat(o, x):
    axis = 1 if x.dim() == 4 else -1
    return Apply(lambda x, *branches: torch.cat([b(x) for b in branches], axis),
                 *(module(branch, x) for branch in o("branches")))


LAYERS = {
    "dense": dense, "conv2d": conv2d, "conv1d": conv1d, "conv_transpose2d": conv_transpose2d,
    "separable_conv2d": separable_conv2d, "batch_norm": batch_norm, "layer_norm": layer_norm, "group_norm": group_norm,
    "dropout": lambda o, x: nn.Dropout(o("rate", 0.5)), "flatten": lambda o, x: nn.Flatten(),
    "embedding": lambda o, x: nn.Embedding(o("vocabulary"), o("features")),
    "max_pool2d": pool2d(nn.MaxPool2d, float("-inf")), "avg_pool2d": pool2d(nn.AvgPool2d, 0.0),
    "max_pool1d": pool1d(nn.MaxPool1d, float("-inf")), "avg_pool1d": pool1d(nn.AvgPool1d, 0.0),
    "adaptive_avg_pool2d": lambda o, x: nn.AdaptiveAvgPool2d(o.pair("output", 1)),
    "global_avg_pool2d": lambda o, x: Apply(lambda x: x.mean((2, 3))),
    "global_max_pool2d": lambda o, x: Apply(lambda x: x.amax((2, 3))),
    "global_avg_pool1d": lambda o, x: Apply(lambda x: x.mean(1)), "global_max_pool1d": lambda o, x: Apply(lambda x: x.amax(1)),
    "lstm": recurrent(nn.LSTM), "gru": recurrent(nn.GRU), "simple_rnn": recurrent(nn.RNN), "bidirectional": bidirectional,
    "multi_head_attention": multi_head_attention, "transformer_encoder_layer": transformer_encoder_layer,
    "positional_embedding": lambda o, x: Positions(*x.shape[1:]),
    "upsample2d": lambda o, x: nn.Upsample(scale_factor=o.pair("scale", 2),
                                           mode="bilinear" if o("bilinear", False) else "nearest"),
    "softmax": lambda o, x: nn.Softmax(1 if x.dim() == 4 else -1),
    "log_softmax": lambda o, x: nn.LogSoftmax(1 if x.dim() == 4 else -1),
    "normalize": normalize, "rescale": rescale, "residual": residual, "concat": concat,
    "sequential": lambda o, x: module(o("layers"), x),
    **{name: (lambda o, x, make=make: make(o)) for name, make in ACTIVATIONS.items()},
}


def refuse_left(options):
    if options.left:
        raise Refused(f"{', '.join(sorted(options.left))} of {options.layer['type']}")


def module(layers, x):
    """The layers in order; `x`: two samples as they come in, of which only the shape counts."""
    made = []
    for layer in layers:
        options = Options(layer)
        if layer["type"] not in LAYERS:
            raise Refused(f"the layer {layer['type']}")
        made.append(LAYERS[layer["type"]](options, x))
        refuse_left(options)
        with torch.no_grad():
            x = made[-1](x)
    return nn.Sequential(*made)
