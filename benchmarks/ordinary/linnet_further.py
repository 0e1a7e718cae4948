# SPDX-License-Identifier: Apache-2.0
"""The eighteen further networks in Linnet."""
import linnet as ln

from networks import DILATIONS, RESNEXT_STAGES, VGG11_FILTERS


def conv_norm(filters, kernel=3, stride=1, groups=1, activation=ln.ReLU):
    layers = [ln.Conv2d(filters, kernel=kernel, stride=stride, padding=kernel // 2, groups=groups, bias=False),
              ln.BatchNorm()]
    return layers + [activation()] if activation else layers


def through(x, layers):
    for layer in layers:
        x = x | layer
    return x


def lenet():
    return ln.sequential((28, 28, 1), [
        ln.Conv2d(6, kernel=5, padding=2), ln.Tanh(), ln.AvgPool2d(2), ln.Conv2d(16, kernel=5), ln.Tanh(),
        ln.AvgPool2d(2), ln.Flatten(), ln.Dense(120), ln.Tanh(), ln.Dense(84), ln.Tanh(), ln.Dense(10)])


def vgg11():
    layers = []
    for filters in VGG11_FILTERS:
        layers += [ln.MaxPool2d()] if filters == "pool" else [ln.Conv2d(filters, padding=1), ln.ReLU()]
    return ln.sequential((32, 32, 3), layers + [ln.Flatten(), ln.Dense(512), ln.ReLU(), ln.Dropout(0.5),
                                                ln.Dense(10)])


def densenet():
    network = ln.FunctionalNetwork()
    x = network.input("x", (32, 32, 3)) | ln.Conv2d(24, padding=1, bias=False)
    for narrowed in (96, 84, None):
        for _ in range(6):
            y = through(x, [ln.BatchNorm(), ln.ReLU(), ln.Conv2d(12, padding=1, bias=False)])
            x = ln.concat([x, y], 2)
        if narrowed:
            x = through(x, [ln.BatchNorm(), ln.ReLU(), ln.Conv2d(narrowed, kernel=1, bias=False), ln.AvgPool2d(2)])
    return network.build({"y": through(x, [ln.BatchNorm(), ln.ReLU(), ln.GlobalAvgPool2d(), ln.Dense(10)])})


def resnext():
    layers, channels = conv_norm(64), 64
    for filters, stride in RESNEXT_STAGES:
        body = [*conv_norm(filters // 2, 1), *conv_norm(filters // 2, 3, stride, 16),
                *conv_norm(filters, 1, activation=None)]
        shortcut = conv_norm(filters, 1, stride, activation=None) if filters != channels else []
        layers += [ln.Residual(body, shortcut), ln.ReLU()]
        channels = filters
    return ln.sequential((32, 32, 3), layers + [ln.GlobalAvgPool2d(), ln.Dense(10)])


def inverted_residuals():
    network = ln.FunctionalNetwork()
    x = through(network.input("x", (56, 56, 3)), conv_norm(24, activation=ln.SiLU))
    for _ in range(3):
        y = through(x, conv_norm(144, 1, activation=ln.SiLU) + conv_norm(144, 3, 1, 144, ln.SiLU))
        excited = through(y, [ln.GlobalAvgPool2d(), ln.Dense(6), ln.SiLU(), ln.Dense(144), ln.Sigmoid()])
        x = x + through(y * ln.reshape(excited, (1, 1, 144)), conv_norm(24, 1, activation=None))
    return network.build({"y": x | ln.GlobalAvgPool2d() | ln.Dense(10)})


def mixer():
    network = ln.FunctionalNetwork()
    x = through(network.input("x", (32, 32, 3)), [ln.Conv2d(128, kernel=4, stride=4), ln.Reshape((64, 128))])
    for _ in range(4):
        turned = ln.transpose(x | ln.LayerNorm(), (1, 0))
        x = x + ln.transpose(through(turned, [ln.Dense(32), ln.GELU(), ln.Dense(64)]), (1, 0))
        x = x + through(x, [ln.LayerNorm(), ln.Dense(512), ln.GELU(), ln.Dense(128)])
    return network.build({"y": through(x, [ln.LayerNorm(), ln.GlobalAvgPool1d(), ln.Dense(10)])})


def unet():
    network = ln.FunctionalNetwork()
    x, skips = network.input("x", (64, 64, 3)), []
    for filters in (16, 32, 64):
        skips.append(through(x, conv_norm(filters) + conv_norm(filters)))
        x = skips[-1] | ln.MaxPool2d()
    x = through(x, conv_norm(128) + conv_norm(128))
    for filters in (64, 32, 16):
        x = ln.concat([x | ln.ConvTranspose2d(filters, kernel=2, stride=2), skips.pop()], 2)
        x = through(x, conv_norm(filters) + conv_norm(filters))
    return network.build({"y": x | ln.Conv2d(1, kernel=1)})


def conv_autoencoder():
    layers = []
    for filters in (32, 64, 128):
        layers += [ln.Conv2d(filters, stride=2, padding=1), ln.LeakyReLU(0.01)]
    for filters in (64, 32):
        layers += [ln.UpSample2d(2), ln.Conv2d(filters, padding=1), ln.LeakyReLU(0.01)]
    return ln.sequential((64, 64, 3), layers + [ln.UpSample2d(2), ln.Conv2d(1, padding=1), ln.Sigmoid()])


def generator():
    layers = [ln.Dense(2048), ln.Reshape((4, 4, 128)), ln.BatchNorm(), ln.ReLU()]
    for filters in (64, 32):
        layers += [ln.ConvTranspose2d(filters, kernel=4, stride=2, padding=1, bias=False), ln.BatchNorm(), ln.ReLU()]
    return ln.sequential(100, layers + [ln.ConvTranspose2d(3, kernel=4, stride=2, padding=1), ln.Tanh()])


def bidirectional_gru():
    return ln.sequential((100, 32), [ln.Bidirectional(ln.GRU(64, return_sequences=True)),
                                     ln.Bidirectional(ln.GRU(64)), ln.Dense(5)])


def two_lstms():
    return ln.sequential((64, 64), [ln.LSTM(256, return_sequences=True), ln.LSTM(256), ln.Dense(5)])


def simple_rnn():
    return ln.sequential((100, 32), [ln.SimpleRNN(128), ln.Dense(5)])


def wavenet():
    layers = [ln.Conv1d(32, 1)]
    for dilation in DILATIONS:
        layers.append(ln.Residual([ln.Conv1d(32, 3, padding="same", dilation=dilation), ln.ReLU(), ln.Conv1d(32, 1)]))
    return ln.sequential((1024, 1), layers + [ln.ReLU(), ln.GlobalAvgPool1d(), ln.Dense(5)])


def text_cnn():
    network = ln.FunctionalNetwork()
    x = network.input("x", (200,), "i32") | ln.Embedding(20000, 128)
    pooled = [through(x, [ln.Conv1d(100, kernel), ln.ReLU(), ln.GlobalMaxPool1d()]) for kernel in (3, 4, 5)]
    return network.build({"y": ln.concat(pooled, 0) | ln.Dropout(0.5) | ln.Dense(2)})


def character_model():
    blocks = [ln.TransformerEncoderLayer(4, 512, dropout=0.1, activation=ln.GELU(), norm_first=True, causal=True)
              for _ in range(4)]
    return ln.sequential(256, [ln.Embedding(96, 128), ln.PositionalEmbedding(), *blocks, ln.LayerNorm(),
                               ln.Dense(96)], dtype="i32")


def long_attention():
    blocks = [ln.TransformerEncoderLayer(8, 256, dropout=0.0, norm_first=True) for _ in range(2)]
    return ln.sequential(1024, [ln.Embedding(96, 128), ln.PositionalEmbedding(), *blocks, ln.LayerNorm(),
                                ln.Dense(96)], dtype="i32")


def deep_mlp():
    layers = []
    for _ in range(6):
        layers += [ln.Dense(256), ln.BatchNorm(), ln.ReLU(), ln.Dropout(0.1)]
    return ln.sequential(100, layers + [ln.Dense(10)])


def batches_of_eight():
    return ln.sequential(16, [ln.Dense(64), ln.Tanh(), ln.Dense(64), ln.Tanh(), ln.Dense(4)])
