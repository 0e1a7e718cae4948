#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The ResNet-50 of resnet50_cifar.py with 100 classes; 23,712,932 parameters."""
import protocol
import resnet50_cifar

if __name__ == "__main__":
    protocol.run("resnet50-cifar100", 128, 23712932, lambda: resnet50_cifar.network(classes=100),
                 protocol.cross_entropy())
