#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""DenseNet-121 (Huang et al., 2017) with 14 answers on (224, 224, 3), binary
cross-entropy, Adam 1e-4; 6,968,206 parameters. Training crops and flips at random."""
import torch
from torch import nn
from torch.nn import functional

import protocol

GROWTH = 32


def convolution(inputs, outputs, kernel, stride=1):
    return protocol.he(nn.Conv2d(inputs, outputs, kernel, stride, padding=kernel // 2, bias=False))


def norm(channels):
    return [nn.BatchNorm2d(channels), nn.ReLU(inplace=True)]


class DenseLayer(nn.Module):
    def __init__(self, inputs):
        super().__init__()
        self.body = nn.Sequential(*norm(inputs), convolution(inputs, 4 * GROWTH, 1),
                                  *norm(4 * GROWTH), convolution(4 * GROWTH, GROWTH, 3))

    def forward(self, x):
        return torch.cat((x, self.body(x)), 1)


def network():
    channels = 2 * GROWTH
    layers = [convolution(3, channels, 7, 2), *norm(channels), nn.MaxPool2d(3, 2, padding=1)]
    for block, count in enumerate((6, 12, 24, 16)):
        if block > 0:
            layers += [*norm(channels), convolution(channels, channels // 2, 1), nn.AvgPool2d(2)]
            channels //= 2
        for _ in range(count):
            layers.append(DenseLayer(channels))
            channels += GROWTH
    return nn.Sequential(*layers, *norm(channels), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                         protocol.glorot(nn.Linear(channels, 14)))


def resized_crops(x):
    """torchvision's RandomResizedCrop (area 0.08 to 1, ratio 3/4 to 4/3) to the same size, and flips,
    of a whole batch at once."""
    def draw(low, high):
        return torch.empty(len(x), device=x.device).uniform_(low, high)
    area, ratio = draw(0.08, 1), torch.exp(draw(-0.2876820724517809, 0.2876820724517809))
    width, height = (torch.sqrt(area * ratio).clamp(max=1), torch.sqrt(area / ratio).clamp(max=1))
    flip = torch.where(draw(0, 1) < 0.5, -1.0, 1.0)
    zero = torch.zeros_like(width)
    theta = torch.stack((torch.stack((width * flip, zero, (1 - width) * draw(-1, 1)), 1),
                         torch.stack((zero, height, (1 - height) * draw(-1, 1)), 1)), 1)
    grid = functional.affine_grid(theta, list(x.shape), align_corners=False)
    return functional.grid_sample(x, grid, padding_mode="border", align_corners=False)


def forward(model, images):
    x = protocol.imagenet_pixels(images)
    return model(resized_crops(x) if model.training else x)


if __name__ == "__main__":
    protocol.run(__file__, network, forward,
                 functional.binary_cross_entropy_with_logits, protocol.adam(1e-4))
