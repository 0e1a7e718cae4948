# SPDX-License-Identifier: Apache-2.0
"""Engines that predict by an ONNX file: onnxruntime and OpenVINO, on the CPU, with the file that `linnet
bench --mode infer --export` wrote. --precision int8, and a mode of that name, quantize it first as onnxruntime's
documentation advises: calibrated on samples, int8 weights by channel; OpenVINO reads the same file. Samples are f32 in the layout of the file before the
clock starts, which Linnet's are not. Each call predicts a batch into memory that is bound once where the
engine allows it."""
import os
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).resolve().parents[1] / "common"))
import peer  # noqa: E402

MODES = ("onnxruntime", "onnxruntime-int8", "openvino", "openvino-int8")
CALIBRATION = 64  # samples


def samples_of(data):
    """f32, images as (N, C, H, W)."""
    samples = data.samples.astype(np.float32)
    return np.ascontiguousarray(samples.transpose(0, 3, 1, 2)) if data.images else samples


def quantized(model, samples):
    """The path of an int8 copy, which later processes on the same data find."""
    found = model.with_name("int8.onnx")
    if not found.exists():
        with tempfile.TemporaryDirectory(dir=model.parent) as folder:
            quantize(str(model), samples, folder).rename(found)
    return found


def quantize(model, samples, folder):
    """Writes an int8 copy into a folder; returns its path."""
    from onnxruntime import quantization

    class Reader(quantization.CalibrationDataReader):
        def __init__(self, name):
            self.left = iter([{name: samples[i:i + 1]} for i in range(min(CALIBRATION, len(samples)))])

        def get_next(self):
            return next(self.left, None)

    import onnx
    name = onnx.load(model).graph.input[0].name
    prepared, found = str(Path(folder, "prepared.onnx")), Path(folder, "int8.onnx")
    quantization.quant_pre_process(model, prepared, skip_symbolic_shape=True)
    quantization.quantize_static(prepared, str(found), Reader(name), per_channel=True,
                                 activation_type=quantization.QuantType.QUInt8,
                                 weight_type=quantization.QuantType.QInt8)
    return found


class OnnxRuntime:
    def __init__(self, model, threads):
        import onnxruntime
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        self.session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        self.into, self.out = self.session.get_inputs()[0].name, self.session.get_outputs()[0].name
        self.versions = {"onnxruntime": onnxruntime.__version__}

    def predict(self, batch):
        binding = self.session.io_binding()
        binding.bind_cpu_input(self.into, batch)
        binding.bind_output(self.out)
        self.session.run_with_iobinding(binding)
        return binding.get_outputs()[0].numpy()


class OpenVino:
    def __init__(self, model, threads, batch, precision):
        import openvino
        core = openvino.Core()
        network = core.read_model(model)
        shape = network.inputs[0].partial_shape
        if batch:
            shape[0] = batch
            network.reshape(shape)
        hints = {"INFERENCE_NUM_THREADS": threads, "PERFORMANCE_HINT": "LATENCY",
                 "INFERENCE_PRECISION_HINT": "bf16" if precision == "bf16" else "f32"}
        self.request = core.compile_model(network, "CPU", hints).create_infer_request()
        self.tensor = openvino.Tensor
        self.versions = {"openvino": openvino.__version__}

    def predict(self, batch):
        self.request.set_input_tensor(self.tensor(batch, shared_memory=True))
        self.request.infer()
        return self.request.get_output_tensor().data


class Run:
    """One model on samples in memory, as peer.Epochs has it."""

    def __init__(self, options):
        self.options = options
        data = peer.Data(options.data)
        model = options.data / "model.onnx"
        if not model.exists():
            sys.exit(f"{options.workload}: {data.about.get('no_model', 'there is no model.onnx in --data')}")
        self.data_seconds, self.samples = data.seconds, samples_of(data)
        self.epoch_samples = peer.epoch_samples(options, len(self.samples))
        self.threads = options.threads or len(os.sched_getaffinity(0))
        if options.precision == "int8" or options.mode.endswith("-int8"):
            model = quantized(model, self.samples)
        if options.mode.startswith("openvino"):
            whole = self.epoch_samples % options.batch == 0
            self.engine = OpenVino(str(model), self.threads, options.batch if whole else 0, options.precision)
        else:
            self.engine = OnnxRuntime(str(model), self.threads)
        self.outputs = None

    def epoch(self):
        """Seconds of a pass over the samples, and no loss."""
        start = time.perf_counter()
        for begin, end in peer.bounds(self.epoch_samples, self.options.batch):
            self.outputs = self.engine.predict(self.samples[begin:end])
        return time.perf_counter() - start, None

    def finite(self):
        return self.outputs is not None and bool(np.isfinite(self.outputs).all())

    def about(self):
        return {"framework": self.options.mode, "mode": self.options.mode, "device": "cpu",
                "parameters": self.options.parameters, "threads": self.threads,
                "versions": {**self.engine.versions, "numpy": np.__version__, "python": sys.version.split()[0]}}


def run(program):
    """Runs the whole program of this path, `__file__`."""
    started = time.perf_counter()
    options = peer.parser(program, "an engine for ONNX files", MODES,
                          precisions=(*peer.PRECISIONS, "int8")).parse_args()
    if not options.infer or options.device != "cpu":
        sys.exit(f"{options.workload}: {options.mode} only predicts, on the CPU")
    if options.precision == "bf16" and options.mode != "openvino":
        sys.exit(f"{options.workload}: {options.mode} has no bf16 on the CPU")
    peer.report(Run(options), started)
