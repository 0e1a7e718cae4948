# SPDX-License-Identifier: Apache-2.0
"""`linnet search`: methods, the table of runs, the best run, and going on after a stop."""
import json
import shutil
import unittest

import command

CONFIG = """[data]
path = "points"
validation = 0.25
[network]
input = [4]
layers = [{type = "dense", units = %s}, {type = "relu"}, {type = "dense", units = 2}]
[optimizer]
kind = "adam"
learning_rate = %s
[training]
epochs = %s
batch = 8
threads = 1
device = "cpu"
[search]
%s
"""
UNITS = "{search = [2, 8]}"
RATE = "{search = {from = 1e-4, to = 1e-1, log = true}}"


class Search(command.CommandTest):
    def setUp(self):
        super().setUp()
        command.write_points(self.folder / "points", train=96)

    def write(self, units=UNITS, rate=RATE, epochs=3, search=""):
        (self.folder / "net.toml").write_text(CONFIG % (units, rate, epochs, search))

    def search(self, *arguments, out="found"):
        return self.run_json("search", "net.toml", "--out", out, *arguments)

    def score(self, run, key="validation_loss"):
        return min(epoch[key] for epoch in self.history(run))

    def test_random(self):
        self.write(search="runs = 4\nseed = 3")
        found = self.search()
        self.assertEqual(len(found["runs"]), 4)
        scores = [run["score"] for run in found["runs"]]
        self.assertEqual(scores, sorted(scores))
        for run in found["runs"]:
            self.assertEqual(run["score"], self.score(self.folder / "found" / run["run"]))
            values = run["values"]
            self.assertIn(values["network.layers[0].units"], (2, 8))
            self.assertGreaterEqual(values["optimizer.learning_rate"], 1e-4)
            self.assertLessEqual(values["optimizer.learning_rate"], 1e-1)
        rates = {run["values"]["optimizer.learning_rate"] for run in found["runs"]}
        self.assertEqual(len(rates), 4)
        best = self.folder / "found" / found["runs"][0]["run"]
        self.assertEqual((self.folder / "found/best/model.safetensors").read_bytes(),
                         (best / "model.safetensors").read_bytes())
        self.run_linnet("evaluate", "found/best", "--data", "points")
        # Its values are those of the training.
        summary = json.loads((best / "summary.json").read_text())
        units = found["runs"][0]["values"]["network.layers[0].units"]
        self.assertEqual(summary["parameters"], 4 * units + units + 2 * units + 2)
        self.assertEqual(found["runs"], self.search(out="again")["runs"])
        self.write(search="runs = 4\nseed = 4")
        self.assertNotEqual(found["runs"], self.search(out="other")["runs"])
        self.assertIn("run-001", (self.folder / "found/search.html").read_text())

    def test_a_stopped_search_goes_on(self):
        self.write(search="runs = 3")
        whole = self.search()
        kept = (self.folder / "found/run-001/model.safetensors").stat().st_mtime_ns
        shutil.rmtree(self.folder / "found/run-003")
        (self.folder / "found/run-002/summary.json").unlink()  # as if killed at its end
        out, err = self.run_linnet("search", "net.toml", "--out", "found")
        self.assertRegex(err, r"run-001 of 3: .* \(from before\)\n")
        self.assertNotRegex(err, r"run-003 of 3: .* \(from before\)")
        self.assertEqual(json.loads((self.folder / "found/search.json").read_text())["runs"],
                         whole["runs"])
        self.assertEqual((self.folder / "found/run-001/model.safetensors").stat().st_mtime_ns, kept)
        self.assertRegex(out.splitlines()[0],
                         r"^run +validation_loss +epochs +network.layers\[0\].units +optimizer.learning_rate$")
        self.assertEqual(len(out.splitlines()), 4)
        self.write(search="runs = 3\nseed = 1")
        self.assert_error("the folder 'found' holds another search (search.toml); name another folder "
                          "with --out", "search", "net.toml", "--out", "found")

    def test_short_runs_are_not_saved_after_each_epoch(self):
        self.write(search="runs = 2")
        found = self.search()
        self.write(epochs='3\ncheckpoint_every = "epoch"', search="runs = 2")
        self.assertEqual(self.search(out="saved")["runs"], found["runs"])
        for run in ("run-001", "run-002"):
            files = [len(list((self.folder / out / run).glob("checkpoints/*.safetensors"))) for out in ("found", "saved")]
            self.assertEqual(files[0], 1)
            self.assertGreater(files[1], 1)
            self.assertEqual((self.folder / "found" / run / "model.safetensors").read_bytes(),
                             (self.folder / "saved" / run / "model.safetensors").read_bytes())

    def test_a_finished_search_gets_more_runs(self):
        for search in ("runs = %d", 'method = "halving"\nruns = %d\nfactor = 2'):
            out, at_once = f"found-{len(search)}", f"whole-{len(search)}"
            self.write(search=search % 4)
            self.search(out=at_once)
            whole = json.loads((self.folder / at_once / "search.json").read_text())
            self.write(search=search % 2)
            self.search(out=out)
            kept = {p: p.stat().st_mtime_ns for p in (self.folder / out).glob("run-*/model.safetensors")}
            self.write(search="# two more\n" + search % 4)
            more = self.search(out=out)
            self.assertEqual(more["runs"], whole["runs"])
            for run in more["runs"] + [{"run": "best"}]:
                self.assertEqual((self.folder / out / run["run"] / "model.safetensors").read_bytes(),
                                 (self.folder / at_once / run["run"] / "model.safetensors").read_bytes())
            self.assertEqual({p: p.stat().st_mtime_ns for p in kept}, kept, "trained again")
            self.assertEqual(self.search(out=out)["runs"], whole["runs"])
            self.write(search=search % 3)
            self.assert_error(f"the search in '{out}' has 4 runs, which cannot become 3: expected at least as "
                              "many, or another folder with --out", "search", "net.toml", "--out", out)
        # --runs says it without another file.
        self.write(search="runs = 2\nseed = 3")
        self.search(out="option")
        self.assertEqual(len(self.search("--runs", 3, out="option")["runs"]), 3)
        self.assert_error("the search in 'option' has 3 runs, which cannot become 2: expected at least as many, "
                          "or another folder with --out", "search", "net.toml", "--out", "option")
        # A grid has as many as it has, or the first ones.
        self.write(search='method = "grid"', epochs=1)
        first = self.search("--runs", 3, out="grid")["runs"]
        self.assertEqual(len(first), 3)
        whole = self.search(out="grid")["runs"]
        self.assertEqual(len(whole), 10)
        self.assertEqual([run for run in whole if run["run"] in ("run-001", "run-002", "run-003")], first)

    def test_grid(self):
        self.write(rate="{search = {from = 0.001, to = 0.1, log = true}}", epochs=1,
                   search='method = "grid"\npoints = 3\nmetric = "validation_accuracy"')
        found = self.search()
        values = sorted((run["values"]["network.layers[0].units"],
                         round(run["values"]["optimizer.learning_rate"], 6)) for run in found["runs"])
        self.assertEqual(values, [(u, r) for u in (2, 8) for r in (0.001, 0.01, 0.1)])
        scores = [run["score"] for run in found["runs"]]
        self.assertEqual(scores, sorted(scores, reverse=True))

    def test_halving(self):
        self.write(epochs=9, search='method = "halving"\nruns = 9\nfactor = 3')
        found = self.search()
        epochs = [run["epochs"] for run in found["runs"]]
        self.assertEqual(sorted(epochs, reverse=True), [9] + [3] * 3 + [1] * 9)
        self.assertEqual(found["runs"][0]["epochs"], 9)
        # Those that went on are the best of the round before.
        first = sorted((run for run in found["runs"] if run["epochs"] == 1), key=lambda r: r["score"])
        went_on = {run["run"][:7] for run in found["runs"] if run["epochs"] == 3}
        self.assertEqual({run["run"][:7] for run in first[:3]}, went_on)

    def test_growing(self):
        self.write(units="{search = {from = 1, to = 64}}", rate="0.05", epochs=4,
                   search='method = "grow"')
        runs = sorted(self.search()["runs"], key=lambda run: run["run"])
        units = [run["values"]["network.layers[0].units"] for run in runs]
        self.assertEqual(units, [1, 2, 4, 8, 16, 32, 64][:len(units)])
        scores = [run["score"] for run in runs]
        self.assertEqual(scores[:-1], sorted(scores[:-1], reverse=True))
        if len(units) < 7:
            self.assertGreaterEqual(scores[-1], scores[-2])

    def write_table(self, search='method = "select"', data='ignore = "number"'):
        rows = ["a,noise,b,number,more noise,y"]
        for i in range(240):
            a, b, c, d = (((i * k) % 97) / 48 - 1 for k in (13, 29, 41, 71))
            rows.append(f"{a:.4f},{c:.4f},{b:.4f},{i % 7},{d:.4f},{10 * a - 3 * b:.4f}")
        (self.folder / "rows.csv").write_text("\n".join(rows) + "\n")
        (self.folder / "net.toml").write_text(
            f'[data]\nfile = "rows.csv"\ntarget = "y"\n{data}\n[training]\nepochs = 12\nthreads = 1\n'
            f'device = "cpu"\n[search]\n{search}\n')

    def test_trials_of_a_table_train_side_by_side(self):
        rows = "".join(f"{i % 7},{i % 11},{(i % 7) * 0.5 - (i % 11) * 0.25}\n" for i in range(150))
        (self.folder / "rows.csv").write_text("a,b,y\n" + rows)
        (self.folder / "net.toml").write_text(
            '[data]\nfile = "rows.csv"\ntarget = "y"\n[network]\nlayers = [{type = "dense", units = 16}, '
            '{type = "relu"}, {type = "dropout", rate = {search = [0.1, 0.3]}}, {type = "dense", units = 1}]\n'
            '[optimizer]\nkind = "adam"\n'
            f'learning_rate = {RATE}\n[training]\nepochs = 4\ndevice = "cpu"\n[search]\nruns = 5\n')
        found = {}
        for threads in (1, 2, 4):
            out = f"found-{threads}"
            found[threads] = self.search("--threads", str(threads), out=out)
            for run in found[threads]["runs"]:
                self.assertEqual((self.folder / out / run["run"] / "model.safetensors").read_bytes(),
                                 (self.folder / "found-1" / run["run"] / "model.safetensors").read_bytes())
            self.assertEqual(found[threads]["runs"], found[1]["runs"])
        # One of them is gone: the search goes on with it.
        shutil.rmtree(self.folder / "found-2/run-003")
        out, err = self.run_linnet("search", "net.toml", "--out", "found-2", "--threads", "2")
        self.assertRegex(err, r"(?s)run-001 of 5: [^\n]* \(from before\)\n.*run-003 of 5: [^\n]*[^)]\n.*run-005 of 5: ")
        self.assertEqual(json.loads((self.folder / "found-2/search.json").read_text())["runs"], found[1]["runs"])

    def test_selecting_columns(self):
        self.write_table()
        found = self.search()
        runs = found["runs"]
        self.assertEqual([run["run"] for run in runs], ["run-001", "run-002", "run-003", "run-004"])
        self.assertEqual([sorted(run["importance"]) for run in runs],
                         [["a", "b", "more noise", "noise"],
                          sorted({"a", "b", "more noise", "noise"} - set(runs[1]["left_out"])),
                          ["a", "b"], ["a"]])
        self.assertEqual(runs[3]["left_out"], runs[2]["left_out"] + ["b"])
        for run, after in zip(runs, runs[1:]):
            least = min(run["importance"], key=run["importance"].get)
            self.assertEqual(after["left_out"], run["left_out"] + [least])
        best = min(runs, key=lambda run: run["score"])
        self.assertEqual((self.folder / "found/best/model.safetensors").read_bytes(),
                         (self.folder / "found" / best["run"] / "model.safetensors").read_bytes())
        self.assertLess(runs[2]["score"], runs[3]["score"], "y needs b")
        # As the training itself would have it.
        self.run_linnet("train", "rows.csv", "--target", "y", "--ignore", "number", "--epochs", "12",
                        "--threads", "1", *(f"--ignore={name}" for name in runs[2]["left_out"]),
                        "--out", "plain")
        self.assertEqual(self.score(self.folder / "plain"), runs[2]["score"])
        # A search that was stopped goes on; its table has a line a step.
        shutil.rmtree(self.folder / "found/run-003")
        out, err = self.run_linnet("search", "net.toml", "--out", "found")
        self.assertRegex(err, r"run-002 of 4: .*, without '(more )?noise' \(from before\)\n")
        self.assertEqual(json.loads((self.folder / "found/search.json").read_text())["runs"], runs)
        self.assertEqual([line.split()[0] for line in out.splitlines()],
                         ["run"] + [run["run"] for run in runs])
        self.write_table(search='method = "select"\nruns = 2')
        self.assertEqual(self.search(out="two")["runs"], runs[:2])

    def test_adding_columns(self):
        self.write_table(search='method = "forward"')
        found = self.search()
        runs = sorted(found["runs"], key=lambda run: run["run"])
        names = ["a", "noise", "b", "more noise"]
        self.assertEqual([run["columns"] for run in runs[:4]], [[name] for name in names])
        self.assertEqual([set(run["columns"]) for run in runs[4:7]],
                         [{"a", name} for name in names if name != "a"], "a is the best alone")
        self.assertEqual([set(run["columns"]) for run in runs[7:9]],
                         [{"a", "b", "noise"}, {"a", "b", "more noise"}], "b is the best beside a")
        for run in runs:
            self.assertEqual(sorted(run["columns"] + run["left_out"]), sorted(names))
        self.assertEqual(found["runs"][0]["score"], min(run["score"] for run in runs))
        self.assertLessEqual({"a", "b"}, set(found["runs"][0]["columns"]))
        # A search that was stopped goes on.
        shutil.rmtree(self.folder / "found/run-006")
        out, err = self.run_linnet("search", "net.toml", "--out", "found")
        self.assertRegex(err, r"run-005 of 10: .*, with 'a', 'noise' \(from before\)\n")
        self.assertRegex(err, "the best run is kept in found/best; with 'a', ")
        self.assertEqual(json.loads((self.folder / "found/search.json").read_text())["runs"], found["runs"])
        self.assertRegex(out.splitlines()[0], "^run +validation_loss +epochs +columns$")
        self.write_table(search='method = "forward"\nruns = 2')
        self.assertEqual(len(self.search(out="two")["runs"]), 2)

    def test_breeding_sets_of_columns(self):
        self.write_table(search='method = "genetic"\nruns = 12\nseed = 1')
        found = self.search()
        sets = [tuple(run["columns"]) for run in sorted(found["runs"], key=lambda run: run["run"])]
        self.assertEqual(sets[0], ("a", "noise", "b", "more noise"))
        self.assertEqual((len(sets), len(set(sets))), (12, 12))
        self.assertLessEqual({"a", "b"}, set(found["runs"][0]["columns"]))
        self.write_table(search='method = "genetic"\nruns = 15\nseed = 1')
        more = self.search()
        self.assertEqual(len(more["runs"]), 15, "all sets of 4 columns")
        self.assertEqual({run["run"]: run for run in more["runs"]} | {run["run"]: run for run in found["runs"]},
                         {run["run"]: run for run in more["runs"]})

    def test_what_cannot_be_selected(self):
        for method in ("select", "forward", "genetic"):
            self.write_table(search=f'method = "{method}"')
            text = (self.folder / "net.toml").read_text()
            (self.folder / "net.toml").write_text(text.replace('target = "y"', 'task = "novelty"'))
            self.assert_error(f'method = "{method}" compares losses, which depend on the columns of a novelty; name '
                              "a target in [data]", "search", "net.toml", "--out", method)
        self.write_table(data="validation = 0")
        self.assert_error('method = "select" measures columns on the validation set; validation in '
                          "[data] is 0", "search", "net.toml", "--out", "found")
        self.write_table(data='seed = { search = [1, 2] }')
        self.assert_error('method = "select" leaves out columns of a table; \'data.seed\' is searched by '
                          "another method", "search", "net.toml", "--out", "found")
        self.write(units=4, rate=0.1, search='method = "select"')
        self.assert_error('method = "select" leaves out columns of a table: [data] names its file and '
                          "target, without folds", "search", "net.toml", "--out", "third")

    def test_a_metric_that_no_training_has_is_refused_first(self):
        rows = "".join(f"{i * i},{i / 4:.2f}\n" for i in range(60))
        (self.folder / "rows.csv").write_text("x,y\n" + rows)

        def error(sentence, data="", search=""):
            (self.folder / "rows.toml").write_text(
                f'[data]\nfile = "rows.csv"\ntarget = "y"\n{data}\n[optimizer]\nkind = "adam"\n'
                f'learning_rate = {RATE}\n[training]\nepochs = 1\n[search]\n{search}\nruns = 2\n')
            self.assert_error(sentence, "search", "rows.toml", "--out", "none")
            self.assertFalse((self.folder / "none/run-001").exists(), "nothing trained")
            shutil.rmtree(self.folder / "none")
        error('metric = "validation_accuracy" is the share of right classes, and the training learns no '
              "classes; expected validation_loss or train_loss", search='metric = "validation_accuracy"')
        error("'folds' in [data] measures without keeping a model, and a search keeps its best one; leave "
              "'folds' out", data="folds = 3")

    def test_what_is_wrong_is_said(self):
        self.assert_error("'rows.csv' is a table; expected a configuration (TOML) with file = \"rows.csv\" in "
                          "[data] and [search]", "search", "rows.csv")

        def error(sentence):
            self.assert_error(sentence, "search", "net.toml", "--out", "found")
        self.write(units=4, rate=0.1)
        error("'net.toml' searches nothing; write e.g. batch = { search = [16, 32, 64] } in [training]")
        self.write(search="tries = 3")
        error("net.toml:16:1: unknown key 'tries' in [search]")
        self.write(units="{search = {from = 4, to = 2}}")
        error("net.toml:6:46: 'from' of 'network.layers[0].units' is below 'to'; got 4 and 2")
        self.write(units="{search = {from = 2.5, to = 8}}", search='method = "grow"')
        error("'network.layers[0].units' cannot grow: expected { from = 8, to = 1024 }, whole numbers of "
              "at least 1")
        (self.folder / "net.toml").write_text(
            (CONFIG % (UNITS, 0.1, 1, "runs = 1")).replace("validation = 0.25\n", ""))
        error("the training in 'found/run-001' has no validation_loss, by which the search chooses: hold "
              "samples out with validation = 0.1 in [data]")


if __name__ == "__main__":
    unittest.main()
