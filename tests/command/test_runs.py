# SPDX-License-Identifier: Apache-2.0
import csv
import http.client
import json
import os
import re
import signal
import time
import unittest

import command


class Runs(command.CommandTest):
    def test_a_table_a_page_and_json(self):
        self.train("--log", "csv,tensorboard", out="runs/first")
        self.train("--lr", 0.001, out="runs/second", epochs=3)
        out, _ = self.run_linnet("runs")
        rows = [re.split(r"\s{2,}", line) for line in out.splitlines()]
        self.assertEqual([row[:4] for row in rows],
                         [["run", "state", "epochs", "part"], ["first", "done", "2", "test"],
                          ["second", "done", "3", "test"]])
        out, _ = self.run_linnet("runs", "runs/second", "runs", "--json", "--html", "page.html")
        runs = json.loads(out)
        self.assertEqual([run["name"] for run in runs], ["first", "second"])
        self.assertEqual(runs[1]["epochs"], self.history(self.folder / "runs/second"))
        self.assertIsNone(runs[0]["progress"])
        page = (self.folder / "page.html").read_text()
        data = re.search(r"const DATA = (\[.*\]);\n", page)[1]
        self.assertEqual(json.loads(data.replace("<\\/", "</")), runs)
        with open(self.folder / "runs/first/history.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([float(row["test_loss"]) for row in rows],
                         [line["test_loss"] for line in runs[0]["epochs"]])
        self.assertEqual(len(list((self.folder / "runs/first").glob("events.out.tfevents.*"))), 1)
        self.assertEqual(list((self.folder / "runs/first").glob("progress*")), [])

    def test_a_running_training_is_seen(self):
        command.write_mnist(self.folder / "patterns")
        training = self.start("train", "--workload", "mnist-cnn", "--data", "patterns", "--epochs",
                              100000, "--threads", 1, "--device", "cpu", "--out", "runs/long")
        self.addCleanup(lambda: training.poll() is None and training.kill())
        history = self.folder / "runs/long/history.jsonl"
        while not history.exists():
            self.assertIsNone(training.poll())
            time.sleep(0.05)
        server = self.start("runs", "--serve", "--port", 0)
        port = int(re.fullmatch(r"http://127\.0\.0\.1:(\d+)/\n", server.stdout.readline())[1])

        def get(path):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
            connection.request("GET", path)
            body = connection.getresponse().read()
            connection.close()
            return body
        deadline = time.monotonic() + 60
        while True:
            run, = json.loads(get("/runs.json"))
            if run["progress"]:
                break
            self.assertLess(time.monotonic(), deadline, run["state"])
            time.sleep(0.1)
        self.assertEqual(run["state"], "running")
        self.assertEqual(run["progress"]["epochs"], 100000)
        self.assertGreater(run["progress"]["peak_bytes"], 1 << 20)
        self.assertIn(b"<title>Linnet: trainings</title>", get("/"))
        server.send_signal(signal.SIGINT)
        self.assertEqual(server.communicate(timeout=60)[1], "")
        self.assertEqual(server.returncode, 0)
        training.kill()
        training.communicate()
        state, = json.loads(self.run_linnet("runs", "--json")[0])
        self.assertEqual((state["state"], state["progress"]), ("stopped", None))

    def test_what_is_wrong_is_said(self):
        self.assert_error("'runs' is not a folder", "runs")
        (self.folder / "runs").mkdir()
        self.assert_error("there is no run in 'runs'", "runs")
        (self.folder / "runs/x").mkdir()
        (self.folder / "runs/x/history.jsonl").write_text('{"epoch": 1, "train_loss": 2}\nhalf a li')
        (self.folder / "runs/x/summary.json").write_text("[]")
        out, _ = self.run_linnet("runs")
        self.assertRegex(out.splitlines()[1], r"^x +stopped +1 +train +2\.0000 +2\.0000 ")

    def test_what_cannot_be_read_is_named(self):
        runs = self.folder / "runs"
        (runs / "good").mkdir(parents=True)
        (runs / "good/history.jsonl").write_text('{"epoch": 1, "train_loss": 2}\n')
        (runs / "nothing").symlink_to("nowhere")
        (runs / "loop").symlink_to("loop")
        (runs / "up").symlink_to("..")
        (runs / "file").write_text("")
        for name in ("dangling", "looping", "pipe", "folder", "lock"):
            (runs / name).mkdir()
        (runs / "dangling/history.jsonl").symlink_to("nowhere")
        (runs / "looping/history.jsonl").symlink_to("history.jsonl")
        os.mkfifo(runs / "pipe/history.jsonl")
        (runs / "folder/summary.json").mkdir()
        (runs / "lock/history.jsonl").write_text("")
        os.mkfifo(runs / "lock/.linnet-lock")  # whose reader would wait for ever
        out, err = self.run_linnet("runs")
        self.assertEqual([line.split()[0] for line in out.splitlines()],
                         ["run", "dangling", "folder", "good", "lock", "looping", "pipe"])
        sentences = [
            "cannot read 'runs/dangling/history.jsonl': it is a link to 'nowhere', which does not exist",
            "cannot read 'runs/folder/summary.json': Is a directory",
            "cannot read 'runs/looping/history.jsonl': Too many levels of symbolic links",
            "cannot read 'runs/pipe/history.jsonl': it is a pipe (FIFO), not a regular file"]
        self.assertEqual(err.splitlines(), [f"linnet: {sentence}" for sentence in sentences])
        found = json.loads(self.run_linnet("runs", "--json")[0])
        self.assertEqual([problem for run in found for problem in run["problems"]], sentences)
        self.assert_error("'runs/nothing' is a link to 'nowhere', which is not a folder", "runs",
                          "runs/nothing")
        self.assert_error("'runs/loop' is a link to 'loop', which is not a folder", "runs", "runs/loop")
        self.assert_error("'runs/file' is not a folder", "runs", "runs/file")

    @unittest.skipIf(os.geteuid() == 0, "root may read everything")
    def test_what_may_not_be_read_is_named(self):
        for name in ("a", "b"):
            (self.folder / "runs" / name).mkdir(parents=True)
            (self.folder / "runs" / name / "history.jsonl").write_text("")
        (self.folder / "runs/a/history.jsonl").chmod(0)
        (self.folder / "runs/b").chmod(0)
        self.addCleanup((self.folder / "runs/b").chmod, 0o700)
        _, err = self.run_linnet("runs")
        self.assertEqual(err, "linnet: cannot read the folder 'runs/b': Permission denied\n"
                              "linnet: cannot read 'runs/a/history.jsonl': Permission denied\n")
        self.assert_error("cannot read the folder 'runs/b': Permission denied", "runs", "runs/b")


if __name__ == "__main__":
    unittest.main()
