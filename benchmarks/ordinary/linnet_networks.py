# SPDX-License-Identifier: Apache-2.0
"""The ten networks in Linnet."""
import linnet as ln

from networks import MOBILENET_STAGES, RESNET18_STAGES


def table_mlp():
    return ln.sequential(32, [ln.Dense(128), ln.ReLU(), ln.Dense(128), ln.ReLU(), ln.Dense(1)])


def autoencoder():
    return ln.sequential(784, [ln.Dense(512), ln.ReLU(), ln.Dense(64), ln.ReLU(), ln.Dense(512), ln.ReLU(),
                               ln.Dense(784)])


def keras_cnn():
    layers = []
    for filters in (32, 64, 128):
        for _ in range(2):
            layers += [ln.Conv2d(filters, padding="same"), ln.BatchNorm(), ln.ReLU()]
        layers += [ln.MaxPool2d(), ln.Dropout(0.2)]
    layers += [ln.Flatten(), ln.Dense(128), ln.ReLU(), ln.Dropout(0.5), ln.Dense(10)]
    return ln.sequential((32, 32, 3), layers)


def resnet18():
    layers = [ln.Conv2d(64, padding="same", bias=False), ln.BatchNorm(), ln.ReLU()]
    channels = 64
    for filters, stride in RESNET18_STAGES:
        body = [ln.Conv2d(filters, stride=stride, padding=1, bias=False), ln.BatchNorm(), ln.ReLU(),
                ln.Conv2d(filters, padding=1, bias=False), ln.BatchNorm()]
        shortcut = [ln.Conv2d(filters, kernel=1, stride=stride, bias=False), ln.BatchNorm()]
        layers += [ln.Residual(body) if filters == channels else ln.Residual(body, shortcut), ln.ReLU()]
        channels = filters
    return ln.sequential((32, 32, 3), layers + [ln.GlobalAvgPool2d(), ln.Dense(10)])


def mobilenet():
    layers = [ln.Conv2d(32, padding=1, bias=False), ln.BatchNorm(), ln.ReLU()]
    channels = 32
    for filters, stride in MOBILENET_STAGES:
        layers += [ln.Conv2d(channels, stride=stride, padding=1, groups=channels, bias=False), ln.BatchNorm(),
                   ln.ReLU(), ln.Conv2d(filters, kernel=1, bias=False), ln.BatchNorm(), ln.ReLU()]
        channels = filters
    return ln.sequential((32, 32, 3), layers + [ln.GlobalAvgPool2d(), ln.Dense(10)])


def lstm():
    return ln.sequential(200, [ln.Embedding(20000, 128), ln.LSTM(128), ln.Dense(2)], dtype="i32")


def transformer():
    blocks = [ln.TransformerEncoderLayer(4, 512, dropout=0.1) for _ in range(2)]
    return ln.sequential(128, [ln.Embedding(20000, 128), ln.PositionalEmbedding(), *blocks,
                               ln.GlobalAvgPool1d(), ln.Dense(2)], dtype="i32")


def conv1d():
    layers = []
    for filters in (64, 128, 128):
        layers += [ln.Conv1d(filters, 9, padding="same"), ln.BatchNorm(), ln.ReLU(), ln.MaxPool1d(2)]
    return ln.sequential((512, 8), layers + [ln.GlobalAvgPool1d(), ln.Dense(5)])


def convnext():
    def block(filters):
        return ln.Residual([ln.Conv2d(filters, kernel=7, padding=3, groups=filters), ln.LayerNorm(),
                            ln.Conv2d(4 * filters, kernel=1), ln.GELU(), ln.Conv2d(filters, kernel=1)])
    return ln.sequential((64, 64, 3), [
        ln.Conv2d(64, kernel=4, stride=4), ln.LayerNorm(), block(64), block(64), ln.LayerNorm(),
        ln.Conv2d(128, kernel=2, stride=2), block(128), block(128),
        ln.GlobalAvgPool2d(), ln.LayerNorm(), ln.Dense(10)])


def vit():
    blocks = [ln.TransformerEncoderLayer(4, 512, dropout=0.1, activation=ln.GELU(), norm_first=True)
              for _ in range(4)]
    return ln.sequential((32, 32, 3), [ln.Conv2d(128, kernel=4, stride=4), ln.Reshape((64, 128)),
                                       ln.PositionalEmbedding(), *blocks, ln.GlobalAvgPool1d(), ln.Dense(10)])
