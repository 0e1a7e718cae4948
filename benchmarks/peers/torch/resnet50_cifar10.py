#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ResNet-50 v1.5 (He et al., 2016; the stride in the 3x3) on (32, 32, 3); 23,528,522 parameters."""
from torch import nn
from torch.nn import functional

import protocol


def convolution(inputs, outputs, kernel, stride=1):
    return protocol.he(nn.Conv2d(inputs, outputs, kernel, stride, padding=kernel // 2, bias=False))


class Bottleneck(nn.Module):
    def __init__(self, inputs, width, stride):
        super().__init__()
        outputs = 4 * width
        self.body = nn.Sequential(
            convolution(inputs, width, 1), nn.BatchNorm2d(width), nn.ReLU(inplace=True),
            convolution(width, width, 3, stride), nn.BatchNorm2d(width), nn.ReLU(inplace=True),
            convolution(width, outputs, 1), nn.BatchNorm2d(outputs))
        nn.init.zeros_(self.body[-1].weight)  # Linnet's first weights, as the last layer's
        self.shortcut = nn.Identity()
        if stride != 1 or inputs != outputs:
            self.shortcut = nn.Sequential(convolution(inputs, outputs, 1, stride),
                                          nn.BatchNorm2d(outputs))

    def forward(self, x):
        return functional.relu(self.body(x) + self.shortcut(x), inplace=True)


def network(classes=10):
    """Ends in 2,048 features if there are no classes."""
    layers = [convolution(3, 64, 7, 2), nn.BatchNorm2d(64), nn.ReLU(inplace=True),
              nn.MaxPool2d(3, 2, padding=1)]
    inputs = 64
    for stage, blocks in enumerate((3, 4, 6, 3)):
        width = 64 << stage
        for block in range(blocks):
            layers.append(Bottleneck(inputs, width, 2 if stage > 0 and block == 0 else 1))
            inputs = 4 * width
    layers += [nn.AdaptiveAvgPool2d(1), nn.Flatten()]
    if classes:
        last = protocol.glorot(nn.Linear(inputs, classes))
        nn.init.normal_(last.weight, std=0.01)
        layers.append(last)
    return nn.Sequential(*layers)


def forward(model, images):
    return model(protocol.pixels(images))


if __name__ == "__main__":
    protocol.run(__file__, network, forward,
                 functional.cross_entropy)
