# SPDX-License-Identifier: Apache-2.0
"""The static program (packaging/static): what it has instead of the system's C library, its check and its packing."""
import io
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest
import unittest.mock
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
STATIC = ROOT / "packaging/static"
sys.path.insert(0, str(STATIC))
import check_static  # noqa: E402
import pack_static  # noqa: E402

# Without start.c this opens the library, and looks up names by what nsswitch.conf says.
PROGRAM = r"""
#include <dlfcn.h>
#include <netdb.h>
#include <sys/socket.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
int main() {
  void* opened = dlopen("libz.so.1", RTLD_NOW);
  std::printf("%d %s\n", opened != nullptr, opened ? "" : dlerror());
  std::printf("%d\n", dlerror() != nullptr);
  Dl_info info;
  std::printf("%d\n", dladdr(reinterpret_cast<void*>(&main), &info));
  addrinfo wanted{}, *found = nullptr;
  wanted.ai_flags = AI_NUMERICSERV;
  std::string lines;
  std::thread([&] {
    for (const char* host : {"127.0.0.1", "here.example"}) {
      lines += getaddrinfo(host, "80", &wanted, &found) == 0 ? "found " : "unknown ";
    }
  }).join();
  const char* certificates = std::getenv("SSL_CERT_FILE");
  std::printf("%s\n%s\n", lines.c_str(), certificates ? certificates : "none");
}
"""

# Every code point and back, and what is not UTF-8.
CODES = r"""
#include <stdio.h>
#include <string.h>
#include "locale_impl.h"
int main(void) {
  mbstate_t state = {0};
  CURRENT_LOCALE = UTF8_LOCALE;
  for (unsigned code = 0; code < 0x120000; ++code) {
    char text[5] = {0};
    const int size = wctomb(text, (wchar_t)code);
    const int is_character = code < 0x110000 && (code < 0xD800 || code > 0xDFFF);
    wchar_t back = 0;
    if ((size > 0) != is_character) return 1;
    if (size < 0) continue;
    fwrite(text, 1, (size_t)size, stdout);
    if (mbrtowc(&back, text, (size_t)size, &state) != (size_t)size || back != (wchar_t)code) return 2;
    if (size > 1 && mbrtowc(&back, text, (size_t)size - 1, &state) != (size_t)-2) return 3;
  }
  const char* const wrong[] = {"\x80", "\xC0\x80", "\xC1\xBF", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xF0\x8F\xBF\xBF",
                               "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF", "\xC3("};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
    wchar_t code;
    if (mbrtowc(&code, wrong[i], strlen(wrong[i]), &state) != (size_t)-1) return 4;
  }
  return 0;
}
"""


def run(*command, **options):
    return subprocess.run([str(word) for word in command], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          check=False, **options)


class InFolder(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="linnet-static-")
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)

    def build(self, text, *flags, compiler="g++", name="program"):
        source = self.folder / f"{name}.{'cpp' if compiler == 'g++' else 'c'}"
        source.write_text(text, encoding="utf-8")
        done = run(compiler, "-O1", "-Wall", "-Werror", *flags, source, "-o", self.folder / name)
        self.assertEqual(done.returncode, 0, done.stdout)
        return self.folder / name


@unittest.skipUnless(sys.platform == "linux" and shutil.which("g++") and shutil.which("readelf"), "no g++ or no readelf")
class Program(InFolder):
    def test_it_opens_nothing_and_looks_up_names(self):
        made = run("gcc", "-O1", "-Wall", "-Wextra", "-Werror", "-c", STATIC / "start.c", "-o", self.folder / "start.o")
        self.assertEqual(made.returncode, 0, made.stdout)
        program = self.build(PROGRAM, self.folder / "start.o", "-static-pie", "-std=c++20")
        self.assertEqual(check_static.elf_faults(program), [])
        wanted = ["0 the static program opens no shared libraries", "0", "0"]
        ran = run(program, env={"SSL_CERT_FILE": "/own.pem"})
        self.assertEqual(ran.returncode, 0, ran.stdout)
        self.assertEqual(ran.stdout.splitlines()[:3], wanted)
        self.assertEqual(ran.stdout.splitlines()[3:], ["found unknown ", "/own.pem"])
        if os.getuid() != 0 and run("unshare", "--map-root-user", "true").returncode != 0:
            self.skipTest("the kernel lets this user have no namespace")
        root = self.folder / "root"
        root.mkdir()
        shutil.copy(program, root / "linnet")
        self.assertEqual(self.in_root(root), [*wanted, "found unknown ", "none"])
        for name, text in (("ssl/cert.pem", ""), ("hosts", "127.0.0.1 here.example\n"), ("nsswitch.conf", "hosts: other\n")):
            (root / "etc" / name).parent.mkdir(parents=True, exist_ok=True)
            (root / "etc" / name).write_text(text, encoding="utf-8")
        self.assertEqual(self.in_root(root), [*wanted, "found found ", "/etc/ssl/cert.pem"])

    def in_root(self, root):
        ran = run(*check_static.root_words(root), env={})
        self.assertEqual(ran.returncode, 0, ran.stdout)
        return ran.stdout.splitlines()

    def test_what_a_program_asks_for(self):
        text = "int main() {}\n"
        self.assertRegex(" ".join(check_static.elf_faults(self.build(text))), "interpreter /lib.*needs the library libc.so.6")
        self.assertEqual(check_static.elf_faults(self.build(text, "-static-pie", "-Wl,-rpath,/opt")),
                         ["it searches for libraries in /opt"])
        self.assertEqual(check_static.elf_faults(self.build(text, "-static")),
                         ["it has a fixed place in memory; expected a program linked with -static-pie"])

    def test_its_utf8(self):
        program = self.build(CODES, "-I", STATIC / "iconv", compiler="gcc", name="codes")
        ran = subprocess.run([program], check=False, stdout=subprocess.PIPE)
        self.assertEqual(ran.returncode, 0)
        self.assertEqual(ran.stdout, "".join(chr(c) for c in range(0x110000) if not 0xD800 <= c < 0xE000).encode())


class Packing(InFolder):
    def setUp(self):
        super().setUp()
        self.program = self.folder / "program"
        self.program.write_bytes(bytes(range(256)) * 64)
        for name in ("b", "a"):
            (self.folder / f"parts/licenses/{name}").mkdir(parents=True)
            (self.folder / f"parts/licenses/{name}/copyright").write_text(f"{name}'s\n")
        (self.folder / "parts/sboms").mkdir()
        (self.folder / "parts/sboms/linnet.cdx.json").write_text("{}\n")

    def pack(self, name):
        target = self.folder / name / "linnet-1.0-linux.tar.xz"
        target.parent.mkdir()
        pack_static.pack(self.program, self.folder / "parts", target, 1700000000)
        return target.read_bytes()

    def test_equal_contents_give_equal_bytes(self):
        first = self.pack("one")
        os.utime(self.program, (1, 1))
        self.program.chmod(0o600)
        self.assertEqual(self.pack("two"), first)
        with tarfile.open(fileobj=io.BytesIO(first)) as archive:
            found = {info.name.removeprefix("linnet-1.0-linux/"): info for info in archive.getmembers()}
            self.assertEqual([*found], ["LICENSE", "licenses/a", "licenses/b", "linnet", "linnet.cdx.json"])
            self.assertEqual([found[name].mode for name in ("linnet", "LICENSE")], [0o755, 0o644])
            self.assertEqual({info.mtime for info in found.values()}, {1700000000})
            self.assertEqual(archive.extractfile(found["linnet"]).read(), self.program.read_bytes())

    def test_what_is_too_large(self):
        limit = unittest.mock.patch.object(pack_static, "LIMIT", 4000)
        time = unittest.mock.patch.dict(os.environ, {"SOURCE_DATE_EPOCH": "0"})
        with limit, time, self.assertRaisesRegex(SystemExit, "expected at most 4,000"):
            pack_static.main(self.program, self.folder / "parts", self.folder / "linnet.tar.xz")


if __name__ == "__main__":
    unittest.main()
