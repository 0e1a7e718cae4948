#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The ResNet-50 of resnet50_cifar.py with 100 classes; 23,712,932 parameters."""
from torch.nn import functional

import protocol
import resnet50_cifar


def network():
    return resnet50_cifar.network(classes=100)


if __name__ == "__main__":
    protocol.run("resnet50-cifar100", 128, 23712932, network, resnet50_cifar.forward,
                 functional.cross_entropy)
