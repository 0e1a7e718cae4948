# SPDX-License-Identifier: Apache-2.0
"""Times predictions of a network that PyTorch exported, on two threads.

    onnx_side.py export NETWORK FOLDER          writes NETWORK-batch.onnx and NETWORK-one.onnx
    onnx_side.py onnxruntime|openvino NETWORK FOLDER

The batch of each file is fixed, which is faster in both engines than an open one."""
import sys
from pathlib import Path

import numpy

import timing
from networks import ALL


def samples(chosen):
    """{name of the file: its input in PyTorch's layout}"""
    inputs, _ = chosen.data()
    if inputs.ndim == 4:
        inputs = inputs.transpose(0, 3, 1, 2)
    return {size: numpy.ascontiguousarray(inputs[:count]) for size, count in (("batch", chosen.batch), ("one", 1))}


def export(chosen, folder):
    import torch  # noqa: PLC0415, the engines need no PyTorch

    from torch_module import module  # noqa: PLC0415

    torch.backends.mha.set_fastpath_enabled(False)  # its fused operator has no ONNX form
    model = module(chosen.name).eval()
    for size, values in samples(chosen).items():
        torch.onnx.export(model, (torch.from_numpy(values),), folder / f"{chosen.name}-{size}.onnx", dynamo=True,
                          external_data=False, verbose=False)


def onnxruntime_run(file, values):
    """A function without arguments that predicts `values`."""
    import onnxruntime  # noqa: PLC0415

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = 2, 1
    session = onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])
    feed = {session.get_inputs()[0].name: values}
    return lambda: session.run(None, feed)


def openvino_run(file, values):
    import openvino  # noqa: PLC0415

    compiled = openvino.Core().compile_model(file, "CPU", {
        "INFERENCE_NUM_THREADS": 2, "NUM_STREAMS": 1, "PERFORMANCE_HINT": "LATENCY", "INFERENCE_PRECISION_HINT": "f32"})
    request = compiled.create_infer_request()
    request.set_input_tensor(openvino.Tensor(values))
    return request.infer


def main():
    engine, name, folder = sys.argv[1], sys.argv[2], Path(sys.argv[3])
    chosen = ALL[name]
    if engine == "export":
        export(chosen, folder)
        return
    prepare = {"onnxruntime": onnxruntime_run, "openvino": openvino_run}[engine]
    runs = {size: prepare(folder / f"{name}-{size}.onnx", values) for size, values in samples(chosen).items()}
    timing.report_predictions(chosen.batch, runs["batch"], runs["one"])


main()
