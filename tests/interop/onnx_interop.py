# SPDX-License-Identifier: Apache-2.0
"""The ONNX importer and exporter beside the packages onnx and onnxruntime.

The node tests of the package `onnx` run through the importer: those in onnx_node_passes.txt must
pass. A pass that is not listed is printed; LINNET_ONNX_UPDATE=1 adds it to the list.
"""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import numpy
import onnx
from onnx import numpy_helper

HERE = pathlib.Path(__file__).resolve().parent
LINNET = os.environ.get("LINNET_COMMAND", "linnet")
PROGRAMS = pathlib.Path(LINNET).resolve().parent
RUNNER = PROGRAMS / "run_onnx_models"
EXPORTER = PROGRAMS / "export_onnx_models"
PASSES = HERE / "onnx_node_passes.txt"


def node_cases():
    """The package's tests of single operators, by name, of its own domain and with plain tensors."""
    from onnx.backend.test.case.node import collect_testcases

    cases = {}
    for case in collect_testcases(None):
        domains = {node.domain for node in case.model.graph.node}
        if domains - {"", "ai.onnx"}:
            continue
        inputs, outputs = case.data_sets[0]
        if inputs and all(isinstance(x, (numpy.ndarray, numpy.generic)) and x.dtype.kind not in "OSUc"
                          for x in [*inputs, *outputs]):
            cases[case.name] = case
    return cases


def with_constants(case, constants):
    """The case's model with its last inputs as initializers, as files of networks have weights."""
    model = onnx.ModelProto()
    model.CopyFrom(case.model)
    inputs = list(case.data_sets[0][0])
    kept = len(inputs) - constants
    for info, array in zip(list(model.graph.input)[kept:], inputs[kept:]):
        tensor = numpy_helper.from_array(numpy.asarray(array), info.name)
        tensor.data_type = info.type.tensor_type.elem_type
        model.graph.initializer.append(tensor)
        model.graph.input.remove(info)
    return model, inputs[:kept]


class Runner:
    """The program that imports models and computes them, one after the other."""

    def __init__(self):
        self.start()

    def start(self):
        self.process = subprocess.Popen([RUNNER], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)

    def run(self, folder):
        """What it says: "ok", or "refused: ..."."""
        self.process.stdin.write(f"{folder}\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().strip()
        if not answer:
            self.process.wait()
            status = self.process.returncode
            self.start()
            return f"crashed with status {status}"
        return answer

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()


def with_types(array):
    """As .npy files that the runner reads: f4, f8, u1, i4, i8 and bool."""
    if array.dtype in (numpy.float32, numpy.float64, numpy.uint8, numpy.int32, numpy.int64):
        return array
    if array.dtype == numpy.bool_:
        return array.astype(numpy.uint8)
    if array.dtype.kind == "f" or str(array.dtype) in ("bfloat16",):
        return array.astype(numpy.float32)
    return array.astype(numpy.int64)


def outcome(runner, folder, case, constants, batch_axis):
    """"pass", "differs ..." or what the runner said."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    model, inputs = with_constants(case, constants)
    wanted = case.data_sets[0][1]
    onnx.save(model, folder / "model.onnx")
    for i, array in enumerate(inputs):
        numpy.save(folder / f"input_{i}.npy", with_types(numpy.asarray(array)))
    if not batch_axis:
        (folder / "no_batch").touch()
    answer = runner.run(folder)
    if answer != "ok":
        return answer
    for i, array in enumerate(wanted):
        path = folder / f"output_{i}.npy"
        if not path.exists():
            return f"refused: output {i} is not given"
        got = numpy.load(path)
        want = numpy.asarray(array).astype(numpy.float64)
        if got.shape != want.shape:
            return f"differs: {got.shape} for {want.shape}"
        rtol = 1e-2 if str(array.dtype) == "bfloat16" else max(case.rtol, 1e-3)
        if not numpy.allclose(got.astype(numpy.float64), want, rtol=rtol,
                              atol=max(case.atol, 1e-5), equal_nan=True):
            return f"differs by {numpy.nanmax(numpy.abs(got - want))}"
    return "pass"


class NodeTests(unittest.TestCase):
    def test_the_listed_ones_pass_and_none_is_mis_run(self):
        listed = set(PASSES.read_text().split()) if PASSES.exists() else set()
        cases = node_cases()
        passes, differ, refused = set(), {}, {}
        with tempfile.TemporaryDirectory() as parent:
            runner = Runner()
            for name, case in cases.items():
                count = len(case.data_sets[0][0])
                answers = []
                # With all inputs, and with all but the first as weights; with the first axis as the
                # batch, and with one sample.
                for constants in dict.fromkeys((0, count - 1)):
                    for batch_axis in (True, False):
                        answers.append(outcome(runner, pathlib.Path(parent) / "case", case,
                                               constants, batch_axis))
                        if answers[-1] == "pass":
                            break
                    if answers[-1] == "pass":
                        break
                if answers[-1] == "pass":
                    passes.add(name)
                wrong = [a for a in answers if not a.startswith(("pass", "refused"))]
                if wrong:
                    differ[name] = wrong[0]
                if answers[-1] != "pass":
                    refused[name] = " | ".join(dict.fromkeys(answers))
            runner.close()
        print(f"\nnode tests: {len(passes)} of {len(cases)} pass, {len(refused)} are refused")
        if os.environ.get("LINNET_ONNX_VERBOSE"):
            for name, answer in sorted(refused.items()):
                print(f"  {name}: {answer}")
        new = sorted(passes - listed)
        if new and os.environ.get("LINNET_ONNX_UPDATE"):
            PASSES.write_text("".join(f"{name}\n" for name in sorted(listed | passes)))
        elif new:
            print(f"{len(new)} newly pass; LINNET_ONNX_UPDATE=1 adds them:", *new)
        self.assertEqual(differ, {}, "computed, but not as ONNX defines it")
        self.assertEqual(sorted((listed - passes) & set(cases)), [], "passed before")


def as_defined():
    """Options of onnxruntime that compute each operator as ONNX defines it: the int8 products that its
    optimizer makes saturate at 16 bits on processors without VNNI."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return options


class Export(unittest.TestCase):
    def same_in_onnxruntime(self, file, opset):
        """Checks a file; returns its model, its inputs by name and its outputs' names."""
        import onnxruntime

        folder = file.parent
        model = onnx.load(file)
        onnx.checker.check_model(model, full_check=True)
        self.assertEqual(model.ir_version, 7 if opset < 15 else 8 if opset < 19 else 9 if opset < 21 else 10)
        self.assertEqual([o.version for o in model.opset_import], [opset])
        for value in [*model.graph.input, *model.graph.output]:
            self.assertEqual(value.type.tensor_type.shape.dim[0].dim_param, "N")
        session = onnxruntime.InferenceSession(
            file, as_defined() if folder.name.endswith("_int8") else None,
            providers=["CPUExecutionProvider"])
        inputs = {i.name: numpy.load(folder / f"input_{i.name}.npy") for i in session.get_inputs()}
        outputs = [o.name for o in session.get_outputs()]
        for rows in (3, 2):
            given = {name: x[:rows] for name, x in inputs.items()}
            for name, got in zip(outputs, session.run(outputs, given)):
                want = numpy.load(folder / f"output_{name}.npy")[:rows]
                self.assertEqual(got.shape, want.shape)
                # A sum's last bit may be another level, which all later layers see.
                atol = 0.02 * numpy.abs(want).max() if folder.name.endswith("_int8") else 1e-4
                numpy.testing.assert_allclose(got, want, rtol=1e-4, atol=atol, err_msg=str(file))
        return model, inputs, outputs

    def test_models_are_valid_and_equal_in_onnxruntime(self):
        with tempfile.TemporaryDirectory() as parent:
            written = subprocess.run([EXPORTER, parent], stdout=subprocess.PIPE, text=True,
                                     check=True).stdout.split()
            self.assertGreaterEqual(len(written), 17)
            runner = Runner()
            self.addCleanup(runner.close)
            in_all_opsets = 0
            for folder in map(pathlib.Path, written):
                with self.subTest(folder.name):
                    others = sorted(folder.glob("model_*.onnx"))
                    in_all_opsets += len(others) == 8
                    if len(others) == 2 and os.environ.get("LINNET_INTEROP_QUICK"):
                        others = []
                    for file in others:
                        self.same_in_onnxruntime(file, int(file.stem.split("_")[1]))
                    model, inputs, outputs = self.same_in_onnxruntime(folder / "model.onnx", 17)
                    if folder.name.endswith("_int8"):
                        operators = [node.op_type for node in model.graph.node]
                        self.assertGreater(operators.count("QuantizeLinear"), 1)
                        self.assertIn(onnx.TensorProto.INT8, {w.data_type for w in model.graph.initializer})
                    # And back through the importer.
                    for i, name in enumerate(inputs):
                        numpy.save(folder / f"input_{i}.npy", inputs[name])
                    self.assertEqual(runner.run(folder), "ok")
                    for i, name in enumerate(outputs):
                        want = numpy.load(folder / f"output_{name}.npy")
                        got = numpy.load(folder / f"output_{i}.npy")
                        atol = 0.02 * numpy.abs(want).max() if folder.name.endswith("_int8") else 1e-4
                        numpy.testing.assert_allclose(got, want, rtol=1e-4, atol=atol)
            self.assertGreaterEqual(in_all_opsets, 8)


class Commands(unittest.TestCase):
    """`linnet convert` and `linnet export` of ONNX files."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="linnet-onnx-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def linnet(self, *arguments):
        return subprocess.run([LINNET, *map(str, arguments)], capture_output=True, text=True)

    def test_a_file_becomes_a_model_and_a_file_again(self):
        import onnxruntime

        fixtures = HERE.parent / "fixtures" / "onnx"
        model, file = self.folder / "model.safetensors", self.folder / "model.onnx"
        done = self.linnet("convert", fixtures / "cnn.onnx", "-o", model, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["inputs"][0]["axes"], [2, 3, 1])
        done = self.linnet("export", model, "--onnx", file)
        self.assertEqual(done.returncode, 0, done.stderr)
        onnx.checker.check_model(onnx.load(file), full_check=True)
        session = onnxruntime.InferenceSession(file, providers=["CPUExecutionProvider"])
        got = session.run(None, {"input_0": numpy.load(fixtures / "cnn_input_0.npy")})[0]
        numpy.testing.assert_allclose(got, numpy.load(fixtures / "cnn_y.npy"), rtol=1e-4, atol=1e-4)

    def test_derivatives_are_an_output(self):
        import onnxruntime

        table, file = self.folder / "t.csv", self.folder / "model.onnx"
        rng = numpy.random.default_rng(1)
        x = rng.uniform(-1, 1, (60, 2))
        numpy.savetxt(table, numpy.column_stack([x, numpy.sin(x[:, 0]) * x[:, 1]]), delimiter=",", header="a,b,y", comments="")
        net = self.folder / "net.toml"
        net.write_text('[network]\nlayers = [{type = "dense", units = 8}, {type = "tanh"}, {type = "dense", units = 1}]\n')
        done = self.linnet("train", net, "--data", table, "--target", "y", "--epochs", 3, "--threads", 1, "--device", "cpu",
                           "--out", self.folder / "run")
        self.assertEqual(done.returncode, 0, done.stderr)
        done = self.linnet("export", self.folder / "run", "--onnx", file, "--jacobian")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("with the output 'jacobian'", done.stdout)
        onnx.checker.check_model(onnx.load(file), full_check=True)
        session = onnxruntime.InferenceSession(file, providers=["CPUExecutionProvider"])
        name, at = session.get_inputs()[0].name, rng.uniform(-1, 1, (4, 2)).astype(numpy.float32)
        y, jacobian = session.run(None, {name: at})
        self.assertEqual(jacobian.shape, (4, 1, 2))
        for k in range(2):
            move = numpy.zeros(2, numpy.float32)
            move[k] = 0.02
            up, down = (session.run(None, {name: at + sign * move})[0] for sign in (1, -1))
            numpy.testing.assert_allclose(jacobian[:, 0, k], ((up - down) / 0.04)[:, 0], atol=2e-3)

    def test_mistakes_are_named(self):
        node = onnx.helper.make_node("Det", ["x"], ["y"], name="the_node")
        value = [onnx.helper.make_tensor_value_info(name, 1, ["N", 3, 3]) for name in "xy"]
        graph = onnx.helper.make_graph([node], "g", value[:1], value[1:])
        onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)]),
                  self.folder / "det.onnx")
        model = self.folder / "m.safetensors"
        for arguments, sentence in [
                ((self.folder / "det.onnx", "-o", model), "[Det 'the_node'] this operator"),
                ((self.folder / "det.onnx", "-o", model, "--network", "resnet50"), "leave it out"),
                ((self.folder / "det.onnx", "-o", model, "--shape", "x=3,a"), "--shape: expected"),
                ((self.folder / "det.onnx", "-o", self.folder / "m.onnx"), "is .safetensors"),
                ((self.folder / "none.onnx", "-o", model), "No such file")]:
            done = self.linnet("convert", *arguments)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(sentence, done.stderr)
            self.assertFalse(model.exists())

    def test_squeezenet_is_what_it_was(self):
        import onnxruntime

        data = pathlib.Path(os.environ.get("LINNET_DATA", HERE.parents[2] / "shared" / "data"))
        given = data / "models" / "squeezenet1.0_dc_fp32.onnx"
        if not given.exists():
            self.skipTest(f"{given} is not there; LINNET_DATA may name the folder of the data")
        model, file = self.folder / "squeezenet.safetensors", self.folder / "squeezenet.onnx"
        self.assertEqual(self.linnet("convert", given, "-o", model).returncode, 0)
        self.assertEqual(self.linnet("export", model, "--onnx", file).returncode, 0)
        images = numpy.load(data / "models" / "squeezenet_ref_input.npy")
        session = onnxruntime.InferenceSession(file, providers=["CPUExecutionProvider"])
        got = session.run(None, {"input": images})[0]
        want = numpy.load(data / "models" / "squeezenet_ref_logits.npy")
        numpy.testing.assert_allclose(got, want, atol=1e-3)


if __name__ == "__main__":
    unittest.main()
