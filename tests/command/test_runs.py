# SPDX-License-Identifier: Apache-2.0
import csv
import http.client
import json
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
        self.assert_error("'runs' is no folder", "runs")
        (self.folder / "runs").mkdir()
        self.assert_error("there is no run in 'runs'", "runs")
        (self.folder / "runs/x").mkdir()
        (self.folder / "runs/x/history.jsonl").write_text('{"epoch": 1, "train_loss": 2}\nhalf a li')
        (self.folder / "runs/x/summary.json").write_text("[]")
        out, _ = self.run_linnet("runs")
        self.assertRegex(out.splitlines()[1], r"^x +stopped +1 +train +2\.0000 +2\.0000 ")


if __name__ == "__main__":
    unittest.main()
