#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The ResNet-50 of resnet50_cifar10.py with 100 classes; 23,712,932 parameters."""
import resnet50_cifar10
from protocol import chainer, run

if __name__ == "__main__":
    run(__file__, lambda: resnet50_cifar10.network(classes=100),
        chainer.functions.softmax_cross_entropy)
