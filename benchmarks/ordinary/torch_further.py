# SPDX-License-Identifier: Apache-2.0
"""The eighteen further networks as PyTorch modules."""
import torch
from torch import nn
from torch.nn import functional

import torch_networks
from networks import DILATIONS, RESNEXT_STAGES, VGG11_FILTERS
from torch_networks import Apply, Positions, Residual


def channels_last():
    return Apply(lambda x: x.permute(0, 2, 3, 1))


def conv_norm(channels, filters, kernel=3, stride=1, groups=1, activation=nn.ReLU):
    layers = torch_networks.conv_norm(channels, filters, kernel, stride, groups)
    return layers + [activation(True)] if activation else layers


def two_convs(channels, filters):
    return nn.Sequential(*conv_norm(channels, filters), *conv_norm(filters, filters))


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.ModuleList([two_convs(3, 16), two_convs(16, 32), two_convs(32, 64)])
        self.middle = two_convs(64, 128)
        self.widen = nn.ModuleList([nn.ConvTranspose2d(2 * f, f, 2, 2) for f in (64, 32, 16)])
        self.up = nn.ModuleList([two_convs(2 * f, f) for f in (64, 32, 16)])
        self.last = nn.Conv2d(16, 1, 1)

    def forward(self, x):
        skips = []
        for down in self.down:
            skips.append(down(x))
            x = functional.max_pool2d(skips[-1], 2)
        x = self.middle(x)
        for widen, up in zip(self.widen, self.up):
            x = up(torch.cat([widen(x), skips.pop()], 1))
        return self.last(x).permute(0, 2, 3, 1)


class InvertedResidual(nn.Module):
    def __init__(self):
        super().__init__()
        self.wide = nn.Sequential(*conv_norm(24, 144, 1, activation=nn.SiLU),
                                  *conv_norm(144, 144, 3, 1, 144, nn.SiLU))
        self.excite = nn.Sequential(nn.Linear(144, 6), nn.SiLU(), nn.Linear(6, 144), nn.Sigmoid())
        self.narrow = nn.Sequential(*conv_norm(144, 24, 1, activation=None))

    def forward(self, x):
        y = self.wide(x)
        return x + self.narrow(y * self.excite(y.mean((2, 3)))[:, :, None, None])


class LastStates(nn.Module):
    """The last state of the last layer, in both directions where there are two."""

    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def forward(self, x):
        state = self.layer(x)[1]
        state = state[0] if isinstance(state, tuple) else state
        return torch.cat([state[-2], state[-1]], 1) if self.layer.bidirectional else state[-1]


class Transformer(nn.Module):
    """Logits of 96 words; in training (N, words, T), as nn.CrossEntropyLoss wants them."""

    def __init__(self, steps, layers, causal):
        super().__init__()
        self.words, self.positions = nn.Embedding(96, 128), Positions(steps, 128)
        self.layers, self.norm, self.last = nn.ModuleList(layers), nn.LayerNorm(128), nn.Linear(128, 96)
        self.mask = nn.Transformer.generate_square_subsequent_mask(steps) if causal else None

    def forward(self, x):
        x = self.positions(self.words(x))
        for layer in self.layers:
            x = layer(x, src_mask=self.mask, is_causal=self.mask is not None)
        x = self.last(self.norm(x))
        return x.transpose(1, 2) if self.training else x


class TextCnn(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(20000, 128)
        self.convs = nn.ModuleList([nn.Conv1d(128, 100, kernel) for kernel in (3, 4, 5)])
        self.last = nn.Sequential(nn.Dropout(0.5), nn.Linear(300, 2))

    def forward(self, x):
        x = self.words(x).transpose(1, 2)
        return self.last(torch.cat([functional.relu(conv(x)).amax(2) for conv in self.convs], 1))


class MixerBlock(nn.Module):
    def __init__(self):
        super().__init__()
        self.steps = nn.Sequential(nn.Linear(64, 32), nn.GELU(), nn.Linear(32, 64))
        self.channels = nn.Sequential(nn.LayerNorm(128), nn.Linear(128, 512), nn.GELU(), nn.Linear(512, 128))
        self.norm = nn.LayerNorm(128)

    def forward(self, x):
        x = x + self.steps(self.norm(x).transpose(1, 2)).transpose(1, 2)
        return x + self.channels(x)


class DenseBlock(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.norm, self.conv = nn.BatchNorm2d(channels), nn.Conv2d(channels, 12, 3, padding=1, bias=False)

    def forward(self, x):
        return torch.cat([x, self.conv(functional.relu(self.norm(x)))], 1)


def lenet():
    return [nn.Conv2d(1, 6, 5, padding=2), nn.Tanh(), nn.AvgPool2d(2), nn.Conv2d(6, 16, 5), nn.Tanh(),
            nn.AvgPool2d(2), nn.Flatten(), nn.Linear(400, 120), nn.Tanh(), nn.Linear(120, 84), nn.Tanh(),
            nn.Linear(84, 10)]


def vgg11():
    layers, channels = [], 3
    for filters in VGG11_FILTERS:
        if filters == "pool":
            layers.append(nn.MaxPool2d(2))
        else:
            layers += [nn.Conv2d(channels, filters, 3, padding=1), nn.ReLU(True)]
            channels = filters
    return layers + [nn.Flatten(), nn.Linear(512, 512), nn.ReLU(True), nn.Dropout(0.5), nn.Linear(512, 10)]


def densenet():
    layers, channels = [nn.Conv2d(3, 24, 3, padding=1, bias=False)], 24
    for narrowed in (96, 84, None):
        layers += [DenseBlock(channels + 12 * i) for i in range(6)]
        channels += 72
        if narrowed:
            layers += [nn.BatchNorm2d(channels), nn.ReLU(True), nn.Conv2d(channels, narrowed, 1, bias=False),
                       nn.AvgPool2d(2)]
            channels = narrowed
    return layers + [nn.BatchNorm2d(channels), nn.ReLU(True), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                     nn.Linear(channels, 10)]


def resnext():
    layers, channels = conv_norm(3, 64), 64
    for filters, stride in RESNEXT_STAGES:
        half = filters // 2
        body = [*conv_norm(channels, half, 1), *conv_norm(half, half, 3, stride, 16),
                *conv_norm(half, filters, 1, activation=None)]
        shortcut = conv_norm(channels, filters, 1, stride, activation=None) if filters != channels else ()
        layers += [Residual(body, shortcut), nn.ReLU(True)]
        channels = filters
    return layers + [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 10)]


def inverted_residuals():
    return [*conv_norm(3, 24, activation=nn.SiLU), *(InvertedResidual() for _ in range(3)),
            nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(24, 10)]


def mixer():
    return [nn.Conv2d(3, 128, 4, 4), nn.Flatten(2), Apply(lambda x: x.transpose(1, 2)),
            *(MixerBlock() for _ in range(4)), nn.LayerNorm(128), Apply(lambda x: x.mean(1)), nn.Linear(128, 10)]


def unet():
    return [UNet()]


def conv_autoencoder():
    layers, channels = [], 3
    for filters in (32, 64, 128):
        layers += [nn.Conv2d(channels, filters, 3, 2, 1), nn.LeakyReLU(0.01, True)]
        channels = filters
    for filters in (64, 32):
        layers += [nn.Upsample(scale_factor=2), nn.Conv2d(channels, filters, 3, padding=1), nn.LeakyReLU(0.01, True)]
        channels = filters
    return layers + [nn.Upsample(scale_factor=2), nn.Conv2d(32, 1, 3, padding=1), nn.Sigmoid(), channels_last()]


def generator():
    layers, channels = [nn.Linear(100, 2048), nn.Unflatten(1, (128, 4, 4)), nn.BatchNorm2d(128), nn.ReLU(True)], 128
    for filters in (64, 32):
        layers += [nn.ConvTranspose2d(channels, filters, 4, 2, 1, bias=False), nn.BatchNorm2d(filters),
                   nn.ReLU(True)]
        channels = filters
    return layers + [nn.ConvTranspose2d(32, 3, 4, 2, 1), nn.Tanh(), channels_last()]


def bidirectional_gru():
    return [LastStates(nn.GRU(32, 64, 2, batch_first=True, bidirectional=True)), nn.Linear(128, 5)]


def two_lstms():
    return [LastStates(nn.LSTM(64, 256, 2, batch_first=True)), nn.Linear(256, 5)]


def simple_rnn():
    return [LastStates(nn.RNN(32, 128, batch_first=True)), nn.Linear(128, 5)]


def wavenet():
    layers = [Apply(lambda x: x.transpose(1, 2)), nn.Conv1d(1, 32, 1)]
    for dilation in DILATIONS:
        layers.append(Residual([nn.Conv1d(32, 32, 3, padding=dilation, dilation=dilation), nn.ReLU(),
                                nn.Conv1d(32, 32, 1)]))
    return layers + [nn.ReLU(), Apply(lambda x: x.mean(2)), nn.Linear(32, 5)]


def text_cnn():
    return [TextCnn()]


def character_model():
    layers = [nn.TransformerEncoderLayer(128, 4, 512, 0.1, activation="gelu", batch_first=True, norm_first=True)
              for _ in range(4)]
    return [Transformer(256, layers, causal=True)]


def long_attention():
    layers = [nn.TransformerEncoderLayer(128, 8, 256, 0.0, batch_first=True, norm_first=True) for _ in range(2)]
    return [Transformer(1024, layers, causal=False)]


def deep_mlp():
    layers, features = [], 100
    for _ in range(6):
        layers += [nn.Linear(features, 256), nn.BatchNorm1d(256), nn.ReLU(True), nn.Dropout(0.1)]
        features = 256
    return layers + [nn.Linear(256, 10)]


def batches_of_eight():
    return [nn.Linear(16, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 4)]
