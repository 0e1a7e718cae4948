#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The ResNet-50 of resnet50_cifar.py with 100 classes; 23,712,932 parameters."""
import resnet50_cifar
from protocol import chainer, run

if __name__ == "__main__":
    run("resnet50-cifar100", 128, 23712932, lambda: resnet50_cifar.network(classes=100),
        chainer.functions.softmax_cross_entropy)
