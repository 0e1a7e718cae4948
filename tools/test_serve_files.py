# SPDX-License-Identifier: Apache-2.0
"""Unit, proxy and container of `linnet serve` (packaging/serve): their own programs accept them, where they are installed,
and they agree on names, ports and sizes."""
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

SERVE = Path(__file__).resolve().parents[1] / "packaging/serve"


def text_of(name):
    return (SERVE / name).read_text(encoding="utf-8")


def value(unit, key):
    return re.search(rf"^{key}=(.*)$", unit, re.MULTILINE)[1]


class ServeFiles(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="linnet-serve-")
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)

    @unittest.skipUnless(shutil.which("systemd-analyze"), "systemd-analyze is not installed")
    def test_systemd_takes_the_unit(self):
        # Where Linnet is not installed, any program stands for it.
        unit = self.folder / "linnet.service"
        unit.write_text(text_of("linnet.service").replace("/usr/bin/linnet", "/bin/true").replace("Documentation=man:", "#"))
        result = subprocess.run(["systemd-analyze", "verify", unit], capture_output=True, text=True, check=False)
        self.assertEqual((result.stdout + result.stderr, result.returncode), ("", 0))

    @unittest.skipUnless(shutil.which("nginx") and shutil.which("openssl"), "nginx or openssl is not installed")
    def test_nginx_takes_the_configuration(self):
        key, certificate = self.folder / "key", self.folder / "pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate,
                        "-subj", "/CN=models.example.org"], capture_output=True, check=True)
        text = text_of("nginx.conf").replace("/etc/ssl/models.key", str(key)).replace("/etc/ssl/models.pem", str(certificate))
        text = text.replace("listen 443 ssl", f"listen unix:{self.folder}/socket ssl")
        whole = self.folder / "nginx.conf"
        whole.write_text(f"pid {self.folder}/pid;\nerror_log stderr;\nevents {{}}\nhttp {{\naccess_log off;\n{text}}}\n")
        result = subprocess.run(["nginx", "-t", "-p", self.folder, "-c", whole], capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertNotIn("[warn]", result.stderr)

    def test_a_stop_takes_longer_than_the_drain(self):
        source = (SERVE.parents[1] / "apps/linnet/commands/serve.cpp").read_text(encoding="utf-8")
        drain = int(re.search(r"drain_seconds = (\d+);", source)[1])
        self.assertGreater(int(value(text_of("linnet.service"), "TimeoutStopSec")), drain)

    def test_proxy_and_unit_name_the_same_server(self):
        command = value(text_of("linnet.service"), "ExecStart")
        proxy = text_of("nginx.conf")
        self.assertIn(f"server_name {re.search('--allow-host ([^ ]+)', command)[1]};", proxy)
        self.assertIn("server 127.0.0.1:8080;", proxy)
        self.assertNotIn("--port", command)
        self.assertNotIn("--max-body", command)
        self.assertIn("client_max_body_size 8m;", proxy)

    def test_the_container_ends_as_an_ordinary_user_without_a_compiler(self):
        text = text_of("Dockerfile")
        self.assertRegex(text, r"(?m)^USER [1-9]\d*$")
        self.assertNotRegex(text, r"\b(build-essential|g\+\+|gcc|cmake|git)\b")
        self.assertEqual(re.findall(r"(?m)^(?:ENTRYPOINT|CMD) .*", text), ['ENTRYPOINT ["linnet"]', 'CMD ["--help"]'])


if __name__ == "__main__":
    unittest.main()
