#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The ResNet-50 of resnet50_cifar10.py with 100 classes; 23,712,932 parameters."""
import protocol
import resnet50_cifar10

if __name__ == "__main__":
    protocol.run(__file__, lambda: resnet50_cifar10.network(classes=100),
                 protocol.cross_entropy())
