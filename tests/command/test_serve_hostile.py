# SPDX-License-Identifier: Apache-2.0
"""Clients of `linnet serve` that are slow, large, deep or ambiguous."""
import contextlib
import json
import re
import signal
import socket
import threading
import time
import unittest

import command
import serving

PREDICT = b"POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
HEALTH = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"


class ServeHostile(serving.ServeTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.train_images()

    def open(self, data=b""):
        """A connection that has sent some bytes."""
        connection = socket.create_connection(("127.0.0.1", self.port), timeout=30)
        self.addCleanup(connection.close)
        connection.sendall(data)
        return connection

    def talk(self, data, end=True):
        """All that comes back for some bytes; `end`: and no more will be sent."""
        connection = self.open(data)
        if end:
            connection.shutdown(socket.SHUT_WR)
        answer = b""
        while more := connection.recv(65536):
            answer += more
        return answer.decode()

    def statuses(self, text):
        return [int(status) for status in re.findall(r"^HTTP/1\.1 (\d+) ", text, re.M)]

    def wait_for_end(self, seconds):
        self.server.send_signal(signal.SIGTERM)
        return self.server.wait(timeout=seconds)

    def test_slow_clients_stop_nobody_and_end_with_the_server(self):
        self.serve_images("--drain", 1)
        for _ in range(140):  # more than one address may have
            self.open(b"POST /predict HTTP/1.1\r\nHost: localhost\r\nX: ")
        begin = time.monotonic()
        for _ in range(20):
            self.assertEqual(self.predict(self.sample), self.wanted)
        self.assertLess(time.monotonic() - begin, 5)
        self.assertEqual(self.wait_for_end(10), 0)

    def test_a_request_has_a_deadline(self):
        self.serve_images("--request-time", 1)
        silent, slow = self.open(), self.open(b"POST /predict HTTP/1.1\r\n")
        begin = time.monotonic()
        with self.assertRaises(OSError):  # one line a while does not help
            while time.monotonic() - begin < 30:
                slow.sendall(b"X: y\r\n")
                time.sleep(0.2)
        self.assertLess(time.monotonic() - begin, 10)
        self.assertEqual(silent.recv(10), b"")
        late = self.talk(PREDICT + b"Content-Length: 10\r\n\r\nabc", end=False)
        self.assertEqual(self.statuses(late), [408])
        self.assertIn("the whole request did not arrive within 1 s", late)

    def test_one_address_has_a_share_of_the_connections(self):
        self.serve_images("--peer-connections", 4, "--connections", 6)
        slow = [self.open(HEALTH[:-2]) for _ in range(4)]
        self.assertEqual(self.statuses(self.talk(HEALTH)), [200])
        with contextlib.suppress(ConnectionResetError):  # the oldest one made room
            self.assertEqual(slow[0].recv(10), b"")
        slow[3].sendall(HEALTH[-2:])
        self.assertIn(b"200 OK", slow[3].recv(1000))

    def test_what_is_under_way_is_answered_when_the_server_ends(self):
        self.serve_images()
        body = json.dumps(self.sample).encode()
        connection = self.open(PREDICT + b"Content-Length: %d\r\n\r\n" % len(body) + body[:100])
        idle = self.open(HEALTH)
        self.assertIn(b"200 OK", idle.recv(1000))
        self.server.send_signal(signal.SIGTERM)
        self.assertEqual(idle.recv(1000), b"")
        connection.sendall(body[100:])
        answer = connection.recv(100000).decode()
        self.assertIn("200 OK", answer)
        self.assertIn("Connection: close", answer)
        connection.close()
        self.assertEqual(self.server.wait(timeout=5), 0)

    def test_deep_json(self):
        self.serve_images()
        for body in ('{"inputs":' + "[" * 1000000 + "]" * 1000000 + "}",
                     '{"other":' + '{"a":' * 1000000 + "1" + "}" * 1000000 + "}", "[" * 1000000):
            status, error = self.predict(body)
            self.assertEqual(status, 400, error)
        self.assertEqual(self.predict(self.sample), self.wanted)

    def test_the_memory_of_a_request_is_bounded(self):
        self.serve_images()
        self.predict(self.sample)
        before = self.memory("VmRSS")
        empty = "[]," * (8 * 1000 * 1000 // 3) + "[]"
        for body, status in (('{"inputs":[%s]}' % empty, 400), ('{"inputs":[[%s]]}' % empty, 400),
                             ('{"other":[%s],"inputs":[]}' % empty, 200),
                             ('{"inputs":[[%s]]}' % ("0," * 4000000 + "0"), 400),
                             ('{"texts":["%s"]}' % ("a " * 4000000), 400)):
            self.assertEqual(self.ask("POST", "/predict", body, "application/json")[0], status)
            self.assertLess(self.memory("VmHWM") - before, 8 * 8 << 20, body[:20])

    def ask_together(self, requests):
        """The statuses of requests (body, media type) that are sent at once."""
        statuses = [None] * len(requests)

        def ask(i):
            statuses[i] = self.ask("POST", "/predict", *requests[i])[0]
        threads = [threading.Thread(target=ask, args=(i,)) for i in range(len(requests))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return statuses

    def test_the_memory_of_images_is_bounded(self):
        self.serve_images("--max-body", 1)  # so --max-memory is 16
        self.predict(self.sample)
        before = self.memory("VmRSS")
        large = command.png(bytes(3000 * 4000), 3000, 4000)
        self.assertLess(len(large), 60000)
        statuses = self.ask_together([(large, "image/png")] * 4)
        self.assertEqual(statuses, [200] * 4)  # one after the other
        self.assertLess(self.memory("VmHWM") - before, (16 + 8 + 4) << 20)
        for pixels, high, wide in ((bytes(65535), 1, 65535), (bytes(65535), 65535, 1), (b"x", 1, 1)):
            self.assertEqual(len(self.predict(command.png(pixels, high, wide), "image/png")), 1)
        status, error = self.predict(command.png(bytes(5000 * 4000), 5000, 4000), "image/png")
        self.assertEqual(status, 413)
        self.assertRegex(error, r"^the image may need \d+ bytes of memory; a request may need at most 16777216 "
                                r"\(--max-memory\)$")
        _, error = self.run_linnet("serve", self.models / "run", "--max-body", 2, "--max-memory", 31, status=2)
        self.assertIn("--max-memory 31 is less than 16 times --max-body 2", error)

    def test_requests_that_wait_for_memory_do_not_hold_up_the_end(self):
        self.serve_images("--max-body", 1, "--drain", 0)
        large = command.png(bytes(3000 * 4000), 3000, 4000)
        request = PREDICT.replace(b"application/json", b"image/png") + b"Content-Length: %d\r\n\r\n" % len(large) + large
        connections = [self.open(request) for _ in range(40)]
        self.assertIn(b"200 OK", connections[0].recv(1000))  # the others wait
        begin = time.monotonic()
        self.assertEqual(self.wait_for_end(30), 0)
        self.assertLess(time.monotonic() - begin, 1)

    def test_the_memory_of_tables_is_bounded(self):
        (self.folder / "t.csv").write_text("a,b\n" + "".join(f"{i % 7},{i % 7 * 2}\n" for i in range(60)))
        self.run_linnet("train", "t.csv", "--target", "b", "--epochs", 1, "--out", "table", "--device", "cpu")
        self.serve("table", "--max-body", 3)
        self.predict("a\n1\n", "text/csv")
        before = self.memory("VmRSS")
        fields = "," * 2400000 + "\n"
        self.assertEqual(self.ask_together([(fields, "text/csv")] * 4), [413] * 4)
        self.assertLess(self.memory("VmHWM") - before, 4 * 2 * len(fields) + (4 << 20))  # bodies, as they come
        self.assertRegex(self.predict(fields, "text/csv")[1],
                         r"^2 rows and 2400002 fields need up to \d+ bytes of memory; those of a body of 2400001 bytes "
                         r"may need 19200008 \(8 times its size, or --max-body if that is more\)$")
        names = "a" + "," * 500000 + "\n1" + "," * 500000 + "\n"
        self.assertEqual(self.predict(names, "text/csv")[0], 413)
        self.assertEqual(self.predict('x"' + fields, "text/csv")[0], 413)  # no quote that opens
        wide = "a" + ",b" * 60000 + "\n1" + ",1" * 60000 + "\n"
        self.assertEqual(self.predict(wide, "text/csv")[1], "'the rows' has 60001 columns; expected at most 72")
        self.assertLess(self.memory("VmHWM") - before, 4 * 2 * len(fields) + (4 << 20))
        for rows in ("a\r\n1\r\n2\r\n", "\ufeffa\n1\n2", 'a\n"1"\n2\n', "a,b\n1,\n2,\n"):
            self.assertEqual(len(self.predict(rows.encode(), "text/csv")), 2, rows)
        self.assertEqual(self.predict("", "text/csv")[0], 400)
        rows = {"rows": [{"a": i % 7} for i in range(900)]}
        self.assertEqual(self.ask_together([(json.dumps(rows), "application/json")] * 4), [200] * 4)

    def test_ambiguous_requests_are_refused(self):
        self.serve_images()
        chunked = b"Transfer-Encoding: chunked\r\n"
        for header, status in (
                (b"Content-Length: 2\r\nContent-Length: 2\r\n", 400),
                (b"Content-Length: 2\r\nContent-Length: 7\r\n", 400),
                (b"Content-Length: 2, 2\r\n", 400), (b"Content-Length: +2\r\n", 400),
                (b"Content-Length: 0x2\r\n", 400), (b"Content-Length: -2\r\n", 400),
                (b"Content-Length: \r\n", 400), (b"Content-Length : 2\r\n", 400),
                (b"Content-Length: 99999999999999999999\r\n", 400),
                (b"Content-Length: 2\r\n" + chunked, 400), (chunked + b"Content-Length: 2\r\n", 400),
                (chunked + chunked, 400), (b"Transfer-Encoding: xchunked\r\n", 501),
                (b"Transfer-Encoding: chunked, identity\r\n", 501),
                (b"X: a\rContent-Length: 2\r\n", 400), (b"X: a\nContent-Length: 2\r\n", 400),
                (b"Host: other\r\nContent-Length: 2\r\n", 400), (b"X: %s\r\n" % (b"x" * 20000), 431)):
            answer = self.talk(PREDICT + header + b"\r\n{}" + HEALTH)
            self.assertEqual(self.statuses(answer), [status], header)  # and what follows is not read
            self.assertIn("Connection: close", answer)
            self.assertIn('{"error":', answer)
        self.assertEqual(self.statuses(self.talk(b"GET / HTTP/1.1\r\n\r\n")), [400])
        for body in (b"-2\r\n{}\r\n0\r\n\r\n", b"2\n{}\n0\n\n", b"0x2\r\n{}\r\n0\r\n\r\n", b"2\r\n{}x\r\n0\r\n\r\n",
                     b"fffffffffffffffff2\r\n{}\r\n0\r\n\r\n"):
            self.assertNotIn(200, self.statuses(self.talk(PREDICT + chunked + b"\r\n" + body)), body)
        body = json.dumps(self.sample).encode()
        whole = b"%x\r\n%s\r\n%x;a=b\r\n%s\r\n0\r\n\r\n" % (9, body[:9], len(body) - 9, body[9:])
        self.assertEqual(self.statuses(self.talk(PREDICT + b"Transfer-Encoding: Chunked\r\n\r\n" + whole + HEALTH)),
                         [200, 200])

    def test_pipelined_requests_get_their_answers_in_order(self):
        self.serve_images()
        body = json.dumps(self.sample).encode()
        post = PREDICT + b"Content-Length: %d\r\n\r\n" % len(body) + body
        answer = self.talk((post + b"\r\n" + HEALTH + b"GET /nowhere HTTP/1.1\r\nHost: localhost\r\n\r\n") * 30)
        self.assertEqual(self.statuses(answer), [200, 200, 404] * 30)
        self.assertEqual(re.findall(r"^ok$|predictions", answer, re.M), ["predictions", "ok"] * 30)
        last = self.talk(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n" + HEALTH)
        self.assertEqual(self.statuses(last), [200])

    def test_pages_of_others_are_not_answered(self):
        self.serve_images("--allow-host", "models.example")

        def status(host, origin=None):
            return self.ask("GET", "/healthz", headers={"Host": host, **({"Origin": origin} if origin else {})})[0]
        for host in ("localhost", f"127.0.0.1:{self.port}", "[::1]:8080", "LOCALHOST", "192.168.1.5", "Models.Example"):
            self.assertEqual(status(host), 200, host)
        for host in ("evil.example", "localhost.evil.example", "127.0.0.1.evil.example:80"):
            self.assertEqual(status(host), 403, host)
        self.assertEqual(status("127.0.0.1", "http://127.0.0.1:8080"), 200)
        self.assertEqual(status("127.0.0.1:80", "https://models.example"), 200)
        for origin in ("http://evil.example", "null", "http://127.0.0.2"):
            self.assertEqual(status("127.0.0.1", origin), 403, origin)
        self.assertEqual(self.statuses(self.talk(b"GET http://evil.example/healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")),
                         [403])

    def test_methods_and_media_types(self):
        self.serve_images()
        for method, path, allowed in (("GET", "/predict", "POST"), ("POST", "/healthz", "GET, HEAD"),
                                      ("DELETE", "/", "GET, HEAD")):
            answer = self.talk(b"%s %s HTTP/1.1\r\nHost: localhost\r\n\r\n" % (method.encode(), path.encode()))
            self.assertEqual(self.statuses(answer), [405])
            self.assertIn(f"\r\nAllow: {allowed}\r\n", answer)
        head = self.talk(b"HEAD /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n" + HEALTH)
        self.assertEqual(self.statuses(head), [200, 200])
        self.assertEqual(head.count("ok\n"), 1)
        for kind in ("Application/JSON", "application/json ; charset=utf-8", "APPLICATION/JSON;charset=utf-8"):
            self.assertEqual(self.predict(self.sample, kind), self.wanted)
        self.assertEqual(self.predict("x", "text/html")[0], 415)
        self.assertEqual(self.ask("GET", "/healthz?x=1")[0], 200)

    def test_arrays_have_the_shape_of_the_sample(self):
        self.serve_images()
        flat = self.sample["inputs"][0]
        rows = [flat[i * 28:i * 28 + 28] for i in range(28)]
        for inputs in ([[v] for v in row] for row in rows), rows, [rows]:  # axes of 1 may be missing
            self.assertEqual(self.predict({"inputs": [list(inputs)]}), self.wanted)
        shape = "expected a sample of the shape (28, 28, 1), or its 784 numbers in one array; got "
        for sample, sentence in (
                ([flat[i * 56:i * 56 + 56] for i in range(14)], shape + "(14, 56)"),
                ([flat[i * 4:i * 4 + 4] for i in range(196)], shape + "(196, 4)"),
                (rows[:27], shape + "(27, 28)"),
                ([rows[0] + rows[1][:1], rows[1][1:], *rows[2:]],
                 "arrays of a sample have 29 and 27 elements; expected the shape (28, 28, 1)"),
                ([*flat[:28], *rows[1:]], "a sample mixes numbers and arrays; expected the shape (28, 28, 1)"),
                ([*rows[:27], *rows[27]], "a sample mixes numbers and arrays; expected the shape (28, 28, 1)"),
                ([], "expected 784 numbers for a sample of (28, 28, 1); got 0"),
                ([[]], shape + "(1, 0)"),
                (flat + [0], "expected 784 numbers for a sample of (28, 28, 1); got 785")):
            self.assertEqual(self.predict({"inputs": [sample]}), (400, "input 'input': " + sentence))


if __name__ == "__main__":
    unittest.main()
