# SPDX-License-Identifier: Apache-2.0
import json
import unittest

import command


class Profile(command.CommandTest):
    def setUp(self):
        super().setUp()
        self.data = self.folder / "patterns"
        command.write_mnist(self.data, train=64, test=10)
        self.arguments = ("profile", "--workload", "mnist-cnn", "--data", self.data, "--batch", 16,
                          "--steps", 3, "--threads", 1, "--device", "cpu")

    def test_json(self):
        profile = self.run_json(*self.arguments)
        self.assertEqual((profile["batch"], profile["steps"]), (16, 3))
        self.assertEqual((profile["device"], profile["threads"]), ("cpu", 1))
        operators = profile["operators"]
        self.assertTrue(all(op["seconds"] > 0 for op in operators))
        self.assertAlmostEqual(sum(op["share"] for op in operators), 1)
        self.assertAlmostEqual(sum(op["seconds"] for op in operators), profile["operator_seconds"])
        self.assertIn(operators[0]["operator"], ("gather_batch", "small_cnn"))
        self.assertGreater(profile["step_seconds"], 0)
        for op in operators:
            self.assertAlmostEqual(op["of_ceiling"],
                                   max(op["flops_per_second"] / profile["flops_ceiling"],
                                       op["bytes_per_second"] / profile["bytes_ceiling"]))
        self.assertGreater(sum(op["flops"] for op in operators), 16 * 2 * 28 * 28 * 16 * 9)

    def test_table_is_sorted_by_time(self):
        out, _ = self.run_linnet(*self.arguments)
        table, roof, sentence = out.split("\n\n")
        header, *rows = table.splitlines()
        self.assertEqual(header.split(),
                         ["operator", "layer", "engine", "µs", "%", "GFLOP/s", "GB/s", "%", "of", "roof"])
        self.assertRegex(roof, r"^roof: the lower of [0-9]+ GFLOP/s in f32 and [0-9.]+ GB/s from memory")
        times = [float(row.split()[-5]) for row in rows]
        self.assertEqual(times, sorted(times, reverse=True))
        self.assertEqual(len(rows), len(self.run_json(*self.arguments)["operators"]))
        self.assertTrue(any(row.startswith("optimizer_update ") for row in rows), table)
        self.assertRegex(sentence, r"^a step of 16 samples on cpu takes [0-9.]+ µs \(mean of 3\);")

    def test_trace_has_a_complete_event_an_operator(self):
        profile = self.run_json(*self.arguments, "--trace", "step.json")
        trace = json.loads((self.folder / "step.json").read_text())
        events = [event for event in trace["traceEvents"] if event["ph"] == "X"]
        self.assertEqual([event["name"] for event in events],
                         [f"{op['operator']} {op['layer']}" for op in profile["operators"]])
        end = 0
        for event, op in zip(events, profile["operators"]):
            self.assertLessEqual(set(("ts", "dur", "pid", "tid", "cat", "args")), set(event))
            self.assertAlmostEqual(event["dur"], 1e6 * op["seconds"])
            self.assertGreaterEqual(event["ts"], end - 1e-6)
            end = event["ts"] + event["dur"]

    def test_configuration(self):
        profile = self.run_json("profile", command.EXAMPLES / "mnist.toml", "--data", self.data,
                                "--batch", 8, "--steps", 1)
        self.assertEqual((profile["name"], profile["batch"]), ("mnist", 8))

    def test_predictions(self):
        profile = self.run_json("profile", "mnist-cnn", "--inference", "--batch", 4, "--steps", 2)
        self.assertEqual((profile["name"], profile["mode"], profile["data"]),
                         ("mnist-cnn", "infer", None))
        operators = [op["operator"] for op in profile["operators"]]
        self.assertIn("dense", operators)
        self.assertFalse([name for name in operators if "grad" in name or "update" in name])
        self.assert_error("--data is for trainings; --inference times zeros: leave it out", "profile",
                          "mnist-cnn", "--inference", "--data", self.data)

    def test_kernels_are_operators_of_the_same_shapes(self):
        (self.folder / "twice.toml").write_text("""[network]
input = [28, 28, 1]
layers = [{type = "conv2d", filters = 4, padding = "same"}, {type = "tanh"},
          {type = "conv2d", filters = 4, padding = "same"}, {type = "tanh"},
          {type = "conv2d", filters = 4, padding = "same"}, {type = "tanh"}, {type = "flatten"},
          {type = "dense", units = 10}]
""")
        profile = self.run_json("profile", "twice.toml", "--synthetic", "--batch", 8, "--steps", 2, "--threads", 1)
        convolutions = {op["shapes"]: op for op in profile["kernels"] if op["operator"] == "conv2d"}
        twice = convolutions["(8, 28, 28, 4), (4, 3, 3, 4) -> (8, 28, 28, 4)"]
        self.assertEqual({shapes: op["count"] for shapes, op in convolutions.items()},
                         {"(8, 28, 28, 1), (4, 3, 3, 1) -> (8, 28, 28, 4)": 1, twice["shapes"]: 2})
        same = [op for op in profile["operators"] if op["shapes"] == twice["shapes"] and op["operator"] == "conv2d"]
        self.assertAlmostEqual(sum(op["seconds"] for op in same) / 2, twice["seconds"])
        self.assertAlmostEqual(sum(op["share"] for op in same), twice["share"])
        self.assertAlmostEqual(twice["flops"] / twice["seconds"], twice["flops_per_second"])
        self.assertEqual(sum(op["count"] for op in profile["kernels"]), len(profile["operators"]))
        out, _ = self.run_linnet("profile", "twice.toml", "--synthetic", "--batch", 8, "--steps", 2, "--kernels")
        header, *rows = out.split("\n\n")[0].splitlines()
        self.assertEqual(header.split()[:4], ["operator", "engine", "shapes", "times"])
        self.assertEqual(len(rows), len(profile["kernels"]))

    def test_scaling(self):
        scaling = self.run_json(*self.arguments, "--scaling", "--to-threads", "1,2,32")
        self.assertEqual([point["threads"] for point in scaling["points"]], [1, 2, 32])
        self.assertEqual((scaling["judged"], scaling["batch"], scaling["mode"]), (32, 16, "train"))
        alone, two, many = scaling["points"]
        self.assertEqual((alone["speedup"], alone["efficiency"]), (1, 1))
        self.assertLessEqual(two["speedup"], 2)
        self.assertAlmostEqual(many["efficiency"], many["speedup"] / 32)
        self.assertAlmostEqual(sum(op["seconds"] for op in scaling["operators"]), alone["seconds"])
        self.assertAlmostEqual(sum(op["lost"] for op in scaling["operators"]), 1 - many["efficiency"])
        out, _ = self.run_linnet(*self.arguments, "--scaling")
        points, operators, sentence = out.split("\n\n")
        self.assertEqual([line.split()[0] for line in points.splitlines()[1:]], ["4", "8", "16", "32", "64", "128"])
        self.assertTrue(operators.startswith("what stops 32 threads"), operators)
        self.assertIn("an upper bound", sentence)

    def test_options_that_do_not_go_together(self):
        self.assert_error("--synthetic needs no data; leave out --data", *self.arguments, "--synthetic")
        self.assert_error("--trace is for the times of operators; --scaling prints none: leave it out", *self.arguments, "--scaling", "--trace", "x")
        _, err = self.run_linnet("profile", "mnist-cnn", "--all-workloads", status=2)
        self.assertIn("--all-workloads measures each workload at its own batch sizes", err)
        self.run_linnet(*self.arguments, "--scaling", "--to-threads", "0", status=2)

    def test_a_folder_named_like_a_workload_does_not_hide_it(self):
        (self.folder / "mnist-cnn").mkdir()
        self.assertEqual(self.run_json("profile", "mnist-cnn", "--inference", "--batch", 1,
                                       "--steps", 1)["name"], "mnist-cnn")

    def test_what_does_not_fit_names_the_batch_that_would(self):
        _, err = self.run_linnet("profile", "mnist-cnn", "--inference", "--batch", 10**9, status=2)
        self.assertRegex(err, r"a batch of 1000000000 needs .* a batch of \d+ would fit")

    def test_errors(self):
        self.assert_error("expected at least 65 samples, one batch; the data set 'patterns' has 64",
                          *self.arguments[:5], "--batch", 65)
        _, err = self.run_linnet(*self.arguments, "--trace", "missing/step.json", status=2)
        self.assertIn("missing/step.json", err)
        self.run_linnet("profile", "--workload", "mnist-cnn", "--steps", 0, status=2)


if __name__ == "__main__":
    unittest.main()
