# SPDX-License-Identifier: Apache-2.0
"""What the tests of `linnet serve` share."""
import http.client
import json
import pathlib
import re
import signal
import subprocess
import tempfile

import command


class ServeTest(command.CommandTest):
    def serve(self, *arguments):
        """A server on a free port; its address ends up in self.port."""
        self.server = subprocess.Popen([command.LINNET, "serve", *map(str, arguments), "--port", "0"],
                                       cwd=self.folder, stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE, text=True)
        self.addCleanup(self.stop)
        line = self.server.stdout.readline()
        self.port = int(re.fullmatch(r"http://127\.0\.0\.1:(\d+)/\n", line)[1])

    def stop(self):
        """Ends the server politely; returns its status and what it wrote to standard error."""
        if self.server.poll() is None:
            self.server.send_signal(signal.SIGTERM)
        _, err = self.server.communicate(timeout=60)
        return self.server.returncode, err

    def ask(self, method, path, body=None, kind=None, headers=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, path, body, {**({"Content-Type": kind} if kind else {}), **(headers or {})})
            response = connection.getresponse()
            return response.status, response.read().decode()
        finally:
            connection.close()

    def predict(self, body, kind="application/json"):
        """The predictions, or the sentence of an error with its status."""
        if not isinstance(body, (bytes, str)):
            body = json.dumps(body)
        status, text = self.ask("POST", "/predict", body, kind)
        answer = json.loads(text)
        return answer["predictions"] if status == 200 else (status, answer["error"])

    def memory(self, name):
        """A number of bytes of the server, VmRSS or VmHWM (the most so far)."""
        status = pathlib.Path(f"/proc/{self.server.pid}/status").read_text()
        return int(re.search(rf"^{name}:\s+(\d+) kB", status, re.M)[1]) << 10

    @classmethod
    def train_images(cls):
        """A model of images, trained once; `sample` is a request, `wanted` its answer."""
        temporary = tempfile.TemporaryDirectory(prefix="linnet-serve-")
        cls.addClassCleanup(temporary.cleanup)
        cls.models = pathlib.Path(temporary.name)
        command.write_mnist(cls.models / "patterns")
        subprocess.run([command.LINNET, "train", "--workload", "mnist-cnn", "--data", "patterns", "--epochs", "1",
                        "--batch", "32", "--device", "cpu", "--out", "run"], cwd=cls.models, check=True,
                       capture_output=True)
        cls.pixels = command.patterns(100, 2)[0]
        cls.sample = {"inputs": [list(cls.pixels[:784])]}
        (cls.models / "one.png").write_bytes(command.png(cls.pixels[:784]))
        out = subprocess.run([command.LINNET, "predict", "run", "one.png", "--json"], cwd=cls.models, check=True,
                             capture_output=True, text=True).stdout
        cls.wanted = json.loads(out)["predictions"]
        cls.wanted[0].pop("input")

    def serve_images(self, *arguments):
        self.serve(self.models / "run", *arguments)
