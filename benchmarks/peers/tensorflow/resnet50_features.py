#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The ResNet-50 of resnet50_cifar10.py on (224, 224, 3), cut after the global
average pool; 23,508,032 parameters. Forward only: run it with --infer."""
import sys

import protocol
import resnet50_cifar10


def network():
    return resnet50_cifar10.network(classes=0, size=224, pixels=protocol.imagenet_pixels)


if __name__ == "__main__":
    if "--infer" not in sys.argv:
        sys.exit("the network has nothing to train; use --infer")
    protocol.run(__file__, network, None)
