#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Predictions of resnet50-features from its ONNX file."""
import protocol

if __name__ == "__main__":
    protocol.run(__file__)
