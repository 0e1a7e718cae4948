# SPDX-License-Identifier: Apache-2.0
"""The ten networks as PyTorch modules."""
import torch
from torch import nn
from torch.nn import functional

from networks import MOBILENET_STAGES, RESNET18_STAGES


class Apply(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


class Residual(nn.Module):
    def __init__(self, body, shortcut=()):
        super().__init__()
        self.body, self.shortcut = nn.Sequential(*body), nn.Sequential(*shortcut)

    def forward(self, x):
        return self.body(x) + self.shortcut(x)


class Positions(nn.Module):
    def __init__(self, steps, features):
        super().__init__()
        self.table = nn.Parameter(0.02 * torch.randn(steps, features))

    def forward(self, x):
        return x + self.table


class LastState(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(128, 128, batch_first=True)

    def forward(self, x):
        return self.lstm(x)[0][:, -1]


class ChannelNorm(nn.LayerNorm):
    def forward(self, x):
        return super().forward(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)


class ConvNextBlock(nn.Module):
    def __init__(self, filters):
        super().__init__()
        self.depthwise = nn.Conv2d(filters, filters, 7, padding=3, groups=filters)
        self.norm = nn.LayerNorm(filters)
        self.widen, self.narrow = nn.Linear(filters, 4 * filters), nn.Linear(4 * filters, filters)

    def forward(self, x):
        y = self.norm(self.depthwise(x).permute(0, 2, 3, 1))
        return x + self.narrow(functional.gelu(self.widen(y))).permute(0, 3, 1, 2)


def table_mlp():
    return [nn.Linear(32, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 1)]


def autoencoder():
    return [nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 64), nn.ReLU(), nn.Linear(64, 512), nn.ReLU(),
            nn.Linear(512, 784)]


def conv_norm(channels, filters, kernel, stride=1, groups=1, bias=False):
    return [nn.Conv2d(channels, filters, kernel, stride, kernel // 2, groups=groups, bias=bias),
            nn.BatchNorm2d(filters)]


def keras_cnn():
    layers, channels = [], 3
    for filters in (32, 64, 128):
        for _ in range(2):
            layers += [*conv_norm(channels, filters, 3, bias=True), nn.ReLU(True)]
            channels = filters
        layers += [nn.MaxPool2d(2), nn.Dropout(0.2)]
    return layers + [nn.Flatten(), nn.Linear(2048, 128), nn.ReLU(True), nn.Dropout(0.5), nn.Linear(128, 10)]


def resnet18():
    layers, channels = [*conv_norm(3, 64, 3), nn.ReLU(True)], 64
    for filters, stride in RESNET18_STAGES:
        body = [*conv_norm(channels, filters, 3, stride), nn.ReLU(True), *conv_norm(filters, filters, 3)]
        shortcut = conv_norm(channels, filters, 1, stride) if filters != channels else ()
        layers += [Residual(body, shortcut), nn.ReLU(True)]
        channels = filters
    return layers + [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 10)]


def mobilenet():
    layers, channels = [*conv_norm(3, 32, 3), nn.ReLU(True)], 32
    for filters, stride in MOBILENET_STAGES:
        layers += [*conv_norm(channels, channels, 3, stride, channels), nn.ReLU(True),
                   *conv_norm(channels, filters, 1), nn.ReLU(True)]
        channels = filters
    return layers + [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 10)]


def lstm():
    return [nn.Embedding(20000, 128), LastState(), nn.Linear(128, 2)]


def transformer():
    blocks = [nn.TransformerEncoderLayer(128, 4, 512, 0.1, batch_first=True) for _ in range(2)]
    return [nn.Embedding(20000, 128), Positions(128, 128), *blocks, Apply(lambda x: x.mean(1)),
            nn.Linear(128, 2)]


def conv1d():
    layers, channels = [Apply(lambda x: x.transpose(1, 2))], 8
    for filters in (64, 128, 128):
        layers += [nn.Conv1d(channels, filters, 9, padding=4), nn.BatchNorm1d(filters), nn.ReLU(True),
                   nn.MaxPool1d(2)]
        channels = filters
    return layers + [Apply(lambda x: x.mean(2)), nn.Linear(128, 5)]


def convnext():
    return [nn.Conv2d(3, 64, 4, 4), ChannelNorm(64), ConvNextBlock(64), ConvNextBlock(64), ChannelNorm(64),
            nn.Conv2d(64, 128, 2, 2), ConvNextBlock(128), ConvNextBlock(128),
            nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.LayerNorm(128), nn.Linear(128, 10)]


def vit():
    blocks = [nn.TransformerEncoderLayer(128, 4, 512, 0.1, activation="gelu", batch_first=True, norm_first=True)
              for _ in range(4)]
    return [nn.Conv2d(3, 128, 4, 4), nn.Flatten(2), Apply(lambda x: x.transpose(1, 2)), Positions(64, 128),
            *blocks, Apply(lambda x: x.mean(1)), nn.Linear(128, 10)]
