# SPDX-License-Identifier: Apache-2.0
"""export_side.py ARCHITECTURE EXPORTER FILE: writes a model of timm with drawn weights as ONNX, and FILE.npz with two
images and what onnxruntime answers. Prints one line of JSON."""
import json
import logging
import sys
import warnings

import numpy as np
import onnxruntime
import timm
import torch

LARGEST = 128  # pixels of a side, where the architecture takes any


def main():
    warnings.filterwarnings("ignore")
    logging.disable(logging.CRITICAL)
    name, exporter, path = sys.argv[1:]
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = timm.create_model(name, pretrained=False, num_classes=10).eval()
    for module in model.modules():  # statistics and last layers that change something
        if isinstance(module, torch.nn.BatchNorm2d):
            module.running_mean.normal_(0, 0.1)
            module.running_var.uniform_(0.5, 1.5)
        if isinstance(module, torch.nn.Linear) and not module.weight.any():
            torch.nn.init.normal_(module.weight, 0, 0.02)
    side = model.default_cfg["input_size"][1]
    if not model.default_cfg.get("fixed_input_size", False):
        side = min(side, LARGEST)
    images = torch.randn(2, 3, side, side)
    if exporter == "torchscript":
        torch.onnx.export(model, (images,), path, dynamo=False, input_names=["x"], dynamic_axes={"x": {0: "n"}},
                          opset_version=17)
    else:
        torch.onnx.export(model, (images,), path, dynamo=True, input_names=["x"], verbose=False, external_data=False,
                          dynamic_shapes=({0: torch.export.Dim("n")},))
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    answers = onnxruntime.InferenceSession(path, options).run(None, {"x": images.numpy()})[0]
    np.savez(path + ".npz", images=images.numpy(), answers=answers)
    print(json.dumps({"side": side, "parameters": sum(p.numel() for p in model.parameters())}))


main()
