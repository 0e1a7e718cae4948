# SPDX-License-Identifier: Apache-2.0
import http.client
import json
import re
import signal
import socket
import threading
import time
import unittest

import command
import serving


class Serve(serving.ServeTest):
    def images_model(self):
        _, folder = self.train()
        pixels, labels = command.patterns(100, 2)
        return folder, [pixels[i * 784:(i + 1) * 784] for i in range(100)], labels

    def test_an_image_is_answered_as_predict_answers_it(self):
        folder, images, _ = self.images_model()
        (self.folder / "one.png").write_bytes(command.png(images[3]))
        wanted = self.run_json("predict", folder, "one.png")["predictions"][0]
        wanted.pop("input")
        self.serve(folder)
        self.assertEqual(self.predict(command.png(images[3]), "image/png"), [wanted])
        numbers = {"inputs": [list(images[3])]}
        self.assertEqual(self.predict(numbers), [wanted])
        nested = {"inputs": [[[[v] for v in images[3][r * 28:r * 28 + 28]] for r in range(28)]]}
        self.assertEqual(self.predict(nested), [wanted])
        self.assertEqual(self.stop(), (0, ""))

    def test_a_model_with_views_is_answered_as_predict_answers_it(self):
        _, folder = self.train("--tta", "flip,shift=1")
        image = command.patterns(100, 2)[0][3 * 784:4 * 784]
        (self.folder / "one.png").write_bytes(command.png(image))
        wanted = self.run_json("predict", folder, "one.png")["predictions"][0]
        wanted.pop("input")
        self.serve(folder)
        self.assertEqual(self.predict(command.png(image), "image/png"), [wanted])
        self.assertEqual(self.predict({"inputs": [list(image)]}), [wanted])
        self.assertEqual(self.predict({"inputs": [list(image)] * 40}), [wanted] * 40)
        self.assertEqual(self.stop(), (0, ""))
        _, plain = self.train(out="plain")
        once = self.run_json("predict", plain, "one.png")["predictions"][0]
        self.assertNotEqual(once["outputs"], wanted["outputs"])
        self.assertEqual(self.run_json("predict", plain, "one.png", "--tta", "flip,shift=1")["predictions"][0]["outputs"],
                         wanted["outputs"])

    def test_rows_of_a_table_are_answered_as_predict_answers_them(self):
        quoted = '"a ""b"", c"'
        rows = ["size,colour,kind"]
        for i in range(60):
            rows.append(f"{i % 7},{'red' if i % 2 else quoted},{'big' if i % 7 > 3 else 'small'}")
        (self.folder / "rows.csv").write_text("\n".join(rows) + "\n")
        self.run_linnet("train", "rows.csv", "--target", "kind", "--epochs", 3, "--out", "run", "--device",
                        "cpu")
        (self.folder / "new.csv").write_text(f"size,colour\n6,{quoted}\nNA,red\n")
        wanted = self.run_json("predict", "run", "new.csv")["predictions"]
        for one in wanted:
            one.pop("input")
        self.serve("run")
        self.assertEqual(self.predict({"rows": [{"size": 6, "colour": 'a "b", c'},
                                                {"colour": "red", "size": None, "more": [1]}]}), wanted)
        self.assertEqual(self.predict((self.folder / "new.csv").read_text(), "text/csv"), wanted)
        self.assertEqual(json.loads(self.ask("POST", "/predict", '{"rows": []}', "application/json")[1]),
                         {"targets": ["kind"], "predictions": []})
        self.assertEqual(self.predict({"rows": []}), [])
        description = json.loads(self.ask("GET", "/model")[1])
        self.assertEqual((description["takes"], description["columns"]), ("rows", ["size", "colour"]))
        self.assertEqual(description["targets"], ["kind"])
        self.assertEqual(description["fields"],
                         [{"name": "size", "kind": "integer", "range": [0.0, 6.0]},
                          {"name": "colour", "kind": "category", "categories": ['a "b", c', "red"]}])
        known, far, unknown = self.predict({"rows": [{"size": 6, "colour": "red"}, {"size": 6.5, "colour": None},
                                                     {"size": -1, "colour": "blue"}]})
        self.assertNotIn("notes", known)
        self.assertEqual(far["notes"], ["'size' is 6.5; the model learned from 0 to 6"])
        self.assertEqual(unknown["notes"], ["'size' is -1; the model learned from 0 to 6",
                                            "'colour' is 'blue', which the model does not know"])
        self.assertEqual(self.predict({"rows": [{"size": 6, "colour": "red"}, {"sizes": 6, "colour": "red"}]}),
                         (400, "row 2 has no column 'size', from which the model learned; did you mean 'sizes'?"))
        self.assertEqual(self.predict({"rows": [{"size": "x", "colour": "red"}]}),
                         (400, "'the rows', row 1 (line 2), column 'size': expected a finite number; got 'x'"))
        self.assertEqual(self.predict({"rows": [{"size": [1], "colour": "red"}]}),
                         (400, "row 1, column 'size': expected a number, a string or null; got an array"))
        self.assertEqual(self.predict({"rows": 3}), (400, "'rows' must be an array of objects; got number"))
        self.assertEqual(self.stop(), (0, ""))

    def test_dates_are_taken_as_the_training_wrote_them_and_as_iso(self):
        rows = ["day;kind"] + [f"{1 + i % 28:02d}.{1 + i // 28:02d}.2024;{'big' if i < 40 else 'small'}"
                               for i in range(80)]
        (self.folder / "rows.csv").write_text("\n".join(rows) + "\n")
        self.run_linnet("train", "rows.csv", "--target", "kind", "--epochs", 2, "--out", "run", "--device", "cpu")
        self.serve("run")
        self.assertEqual(json.loads(self.ask("GET", "/model")[1])["fields"], [{"name": "day", "kind": "date"}])
        own, iso = self.predict({"rows": [{"day": "03.02.2024"}, {"day": "2024-02-03"}]})
        self.assertEqual(own, iso)

    def test_several_models_and_their_replacement(self):
        command.write_points(self.folder / "points")
        (self.folder / "net.toml").write_text(command.POINTS % "")
        for out, seed in (("a", 1), ("b", 2), ("c", 3)):
            self.run_linnet("train", "net.toml", "--out", out, "--epochs", 1, "--device", "cpu", "--seed", seed)
        self.serve("a", "second=b/model.safetensors")
        body = json.dumps({"inputs": [[0.5, -1, 2, 0]]})

        def outputs(path):
            status, text = self.ask("POST", path, body, "application/json")
            self.assertEqual(status, 200, text)
            return json.loads(text)["predictions"][0]["outputs"]
        self.assertEqual(json.loads(self.ask("GET", "/models")[1]), {"models": ["a", "second"]})
        self.assertEqual(self.ask("GET", "/models/second/model")[1], self.ask("GET", "/model")[1])
        self.assertIn("<title>Linnet</title>", self.ask("GET", "/models/second/")[1])
        first, second = outputs("/predict"), outputs("/models/second/predict")
        self.assertEqual(outputs("/models/a/predict"), first)
        self.assertNotEqual(first, second)
        self.assertEqual(self.ask("GET", "/models/other/model")[0], 404)

        failed, ending = [], threading.Event()

        def ask():
            while not ending.is_set():
                if (one := outputs("/predict")) not in (first, third):
                    failed.append(one)
        (self.folder / "third").write_bytes((self.folder / "c/model.safetensors").read_bytes())
        third = json.loads(self.run_linnet_predict("third"))
        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        (self.folder / "third").rename(self.folder / "a/model.safetensors")
        deadline = time.monotonic() + 30
        while outputs("/predict") != third and time.monotonic() < deadline:
            time.sleep(0.05)
        (self.folder / "damaged").write_text("x")
        (self.folder / "damaged").rename(self.folder / "a/model.safetensors")
        time.sleep(1.5)
        ending.set()
        for thread in threads:
            thread.join()
        self.assertEqual(failed, [])
        self.assertEqual((outputs("/predict"), outputs("/models/second/predict")), (third, second))
        self.server.send_signal(signal.SIGHUP)
        time.sleep(2)
        self.assertEqual(outputs("/predict"), third)
        status, err = self.stop()
        self.assertEqual(status, 0)
        lines = err.splitlines()
        self.assertEqual(lines[0], "linnet: 'a/model.safetensors' was replaced; the new model is served")
        self.assertRegex(lines[1], r"^linnet: 'a/model.safetensors' was replaced, but the new model cannot be served: "
                                   r".+; the old one goes on$")
        self.assertRegex(lines[2], r"^linnet: 'a/model.safetensors' is loaded again after SIGHUP, but the new model .+")
        self.assertEqual(lines[3:], ["linnet: 'b/model.safetensors' is loaded again after SIGHUP; the new model is "
                                     "served"])
        self.assert_error("two models are called 'b'; NAME=MODEL gives one another name", "serve", "b", "b")
        self.assert_error("'x y=a': the name of a model may have letters, digits, '.', '-' and '_'; got 'x y'", "serve",
                          "x y=a")

    def run_linnet_predict(self, model):
        """The outputs of a model for the point that the test asks for, as JSON."""
        command.npy(self.folder / "point.npy", "<f4", (1, 4), [0.5, -1, 2, 0])
        return json.dumps(self.run_json("predict", model, "point.npy")["predictions"][0]["outputs"])

    def test_an_access_log(self):
        folder, images, _ = self.images_model()
        for form in ("text", "json", "off"):
            self.serve(folder, "--access-log", form)
            self.assertEqual(self.ask("GET", "/healthz?secret=1")[0], 200)
            self.assertEqual(self.predict("{")[0], 400)
            with socket.create_connection(("127.0.0.1", self.port)) as connection:
                connection.sendall(b"\x1b[31m\r\n\r\n")
                connection.recv(1000)
            status, err = self.stop()
            self.assertEqual(status, 0)
            lines = err.splitlines()
            self.assertEqual(len(lines), 0 if form == "off" else 3, err)
            if form == "text":
                time_text = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"
                for line, rest in zip(lines, ("GET /healthz 200 3", "POST /predict 400 \\d+", "- - 400 \\d+")):
                    self.assertRegex(line, rf"^{time_text} 127\.0\.0\.1 {rest} bytes \d+\.\d ms$")
            if form == "json":
                entries = [json.loads(line) for line in lines]
                self.assertEqual([(e["peer"], e["method"], e["path"], e["status"]) for e in entries],
                                 [("127.0.0.1", "GET", "/healthz", 200), ("127.0.0.1", "POST", "/predict", 400),
                                  ("127.0.0.1", "", "", 400)])

    def test_series_are_forecast_as_predict_forecasts_them(self):
        rows = ["day;shop;open;sales"]
        for i in range(60):
            day = f"{1 + i % 28:02d}.{1 + i // 28:02d}.2024"
            rows += [f"{day};{shop};{'yes' if i % 7 else 'no'};{k + i % 7},5" for k, shop in enumerate(("a", "b"))]
        (self.folder / "sales.csv").write_text("\n".join(rows) + "\n")
        self.run_linnet("train", "sales.csv", "--target", "sales", "--time", "day", "--entity", "shop", "--past", 7,
                        "--future", 2, "--network", "mlp", "--epochs", 2, "--out", "run", "--device", "cpu")
        wanted = self.run_json("predict", "run", "sales.csv")["forecast"]
        self.assertEqual(len(wanted), 4)
        self.serve("run")
        description = json.loads(self.ask("GET", "/model")[1])
        self.assertEqual([description[key] for key in ("takes", "columns", "past", "future", "targets")],
                         ["series", ["shop", "day", "sales", "open"], 7, 2, ["sales"]])

        def forecast(body, kind="application/json"):
            status, text = self.ask("POST", "/predict", body if kind == "text/csv" else json.dumps(body), kind)
            return json.loads(text)["forecast"] if status == 200 else (status, json.loads(text)["error"])
        self.assertEqual(forecast((self.folder / "sales.csv").read_text(), "text/csv"), wanted)
        last = [dict(zip(rows[0].split(";"), row.split(";"))) for row in rows[-14:]]
        for row in last:
            row["sales"] = float(row["sales"].replace(",", "."))
        self.assertEqual(forecast({"rows": last}), wanted)
        found = {}
        threads = [threading.Thread(target=lambda i=i: found.update({i: forecast({"rows": last})})) for i in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(list(found.values()), [wanted] * 8)
        self.assertEqual(forecast({"rows": last[4:]}),
                         (400, "'the rows' holds 6 steps of the series 'a' up to its last value of 'sales'; the model "
                               "needs 7"))
        self.assertEqual(forecast({"rows": []}), (400, "'rows' must be an array of objects, at least one"))
        self.assertEqual(forecast("x", "text/plain"),
                         (415, "a model of series forecasts after the rows of a table: expected the Content-Type "
                               "text/csv or application/json; got 'text/plain'"))
        self.assertEqual(self.stop(), (0, ""))

    def test_requests_of_many_threads_get_their_own_answers(self):
        folder, images, _ = self.images_model()
        self.serve(folder, "--batch", 8)
        alone = [self.predict({"inputs": [list(image)]})[0]["class"] for image in images]
        found = {}

        def ask(first):
            for i in range(first, 100, 10):
                found[i] = self.predict({"inputs": [list(images[i]), list(images[99 - i])]})
        threads = [threading.Thread(target=ask, args=(i,)) for i in range(10)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for i, answers in found.items():
            self.assertEqual([a["class"] for a in answers], [alone[i], alone[99 - i]])
        _, metrics = self.ask("GET", "/metrics")
        self.assertIn('linnet_requests_total{path="/predict",status="200"} 200\n', metrics)
        self.assertIn("linnet_samples_total 300\n", metrics)
        self.assertIn('linnet_predict_seconds_bucket{le="+Inf"} 200\n', metrics)
        self.assertIn("linnet_waiting_samples 0\n", metrics)
        self.assertLess(int(re.search(r"linnet_batches_total (\d+)", metrics)[1]), 300)

    def test_connections_wait_in_a_queue_when_the_server_is_busy(self):
        folder, images, _ = self.images_model()
        self.serve(folder)
        self.server.send_signal(signal.SIGSTOP)
        try:  # a connection that is dropped tries again after 1 s
            sockets = [socket.create_connection(("127.0.0.1", self.port), timeout=0.9)
                       for _ in range(64)]
        finally:
            self.server.send_signal(signal.SIGCONT)
        for each in sockets:
            each.close()
        self.assertEqual(len(self.predict({"inputs": [list(images[0])]})), 1)

    def test_what_is_wrong_is_said(self):
        folder, images, _ = self.images_model()
        self.serve(folder, "--max-body", 1, "--max-queue", 4)
        for body, kind, sentence in (
                ("{", "application/json", "the body is not valid JSON (byte 2)"),
                ("[]", "application/json", "expected a JSON object; got array"),
                ("{}", "application/json", "expected a key 'inputs'"),
                ({"inputs": 3}, "application/json", "'inputs' must be an array of samples; got number"),
                ({"inputs": [[1, 2]]}, "application/json",
                 "input 'input': expected 784 numbers for a sample of (28, 28, 1); got 2"),
                ({"inputs": ["x"]}, "application/json", "input 'input': expected numbers; got string"),
                ({"inputs": {"x": []}}, "application/json", "unknown input 'x'"),
                ({"inputs": [[1e300] * 784]}, "application/json",
                 "input 'input': 1e+300 does not fit into 32 bits"),
                ('{"inputs": [[1e999]]}', "application/json",
                 "the body holds a number that is too large (byte 18)"),
                ('{"inputs": [' + "[" * 50 + "]" * 50 + "]}", "application/json",
                 "input 'input': expected arrays nested at most 8 deep"),
                ('{"inputs": [], "inputs": []}', "application/json",
                 "expected one of 'inputs', 'texts' and 'rows'; got 'inputs' and 'inputs'"),
                ('{"inputs": [{"a": 1}]}', "application/json", "input 'input': expected numbers; got object"),
                (b"\x89PNG\r\n", "image/png", None),
                ("a text", "text/plain", "the model takes no texts; its input is (28, 28, 1)")):
            status, error = self.predict(body, kind)
            self.assertEqual(status, 400, error)
            if sentence:
                self.assertEqual(error, sentence)
        self.assertEqual(self.predict({"inputs": [list(images[0])] * 5}),
                         (413, "a request may have at most 4 samples (--max-samples, --max-queue)"))
        self.assertEqual(self.predict("x", "text/html"),
                         (415, "expected the Content-Type application/json, image/*, text/plain or text/csv; "
                               "got 'text/html'"))
        self.assertEqual(self.predict(b"x" * (2 << 20), "image/png"), (413, "the request's body is too large"))
        self.assertEqual(self.ask("GET", "/nowhere")[0], 404)
        self.assertEqual(self.predict({"inputs": []}), [])
        self.assertEqual(len(self.predict({"inputs": [list(images[0])] * 4})), 4)
        self.assertEqual(self.ask("GET", "/healthz"), (200, "ok\n"))
        for host, port, reason in (("127.0.0.1", self.port, "the port is in use"),
                                   ("192.0.2.1", 0, "this machine has no such address")):
            self.assert_error(f"cannot listen on {host}:{port}: {reason}", "serve", folder, "--host", host, "--port",
                              port)
        _, err = self.run_linnet("serve", folder, "--host", "nowhere.invalid", status=2)
        self.assertRegex(err, r"^linnet: error: cannot listen on 'nowhere.invalid': the host is unknown \(.+\)\n$")

    def test_a_connection_is_kept(self):
        folder, images, _ = self.images_model()
        self.serve(folder)
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        self.addCleanup(connection.close)
        connection.connect()
        socket = connection.sock
        for _ in range(200):
            connection.request("GET", "/healthz")
            self.assertEqual(connection.getresponse().read(), b"ok\n")
            self.assertIs(connection.sock, socket)

    def test_numbers_and_the_page(self):
        command.write_points(self.folder / "points")
        (self.folder / "net.toml").write_text(command.POINTS % "")
        self.run_linnet("train", "net.toml", "--out", "run", "--epochs", 1,
                        "--device", "cpu")
        self.serve("run")
        model = json.loads(self.ask("GET", "/model")[1])
        self.assertEqual(model["takes"], "numbers")
        self.assertEqual(model["inputs"], [{"name": "input", "shape": [4], "type": "f32"}])
        answer, = self.predict({"inputs": [[0.5, -1, 2, 0]]})
        self.assertEqual(len(answer["outputs"]), 2)
        status, page = self.ask("GET", "/")
        self.assertEqual(status, 200)
        self.assertIn("<title>Linnet</title>", page)


if __name__ == "__main__":
    unittest.main()
