#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds what wheels link and Debian has no archive of: archives.py FOLDER [--static | --python NAME].

FOLDER gets include/, lib/ and cmake/ of oneDNN (a shared library, which module and command share) and archives of fmt,
Highway, libcurl and toml++, all of Debian's source packages, patched by Debian, and sources.json with their versions.
Linked with the stubs of old_libraries.py in FOLDER/stubs. What was interrupted goes on where it stopped, in FOLDER/work.
Needs the network, and no root. --static: oneDNN is an archive, too, and without stubs (packaging/static). --python: unpacks the source of Debian's python3.11 or python3.13 into FOLDER/source
instead, for systems that are older (tools/chroot.sh)."""
import argparse
import json
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
PIC = ("-DCMAKE_POSITION_INDEPENDENT_CODE=ON", "-DBUILD_SHARED_LIBS=OFF")
# Release, upstream version, patches that are left out (they want packages of that release), CMake's options.
# fmt, Highway and curl are of the release whose headers Linnet is compiled with. Bookworm's oneDNN is of 2022.
SOURCES = {
    "fmtlib": ("bookworm", "9.1.0", (), (*PIC, "-DFMT_TEST=OFF", "-DFMT_DOC=OFF")),
    "highway": ("bookworm", "1.0.3", (), (*PIC, "-DBUILD_TESTING=OFF", "-DHWY_ENABLE_EXAMPLES=OFF",
                                          "-DHWY_ENABLE_CONTRIB=OFF", "-DHWY_SYSTEM_GTEST=ON")),
    # Linnet reads by HTTP, HTTPS and from files. OpenSSL finds the certificates: see `linnet` beside this.
    "curl": ("bookworm", "7.88.1", (), (
        *PIC, "-DBUILD_CURL_EXE=OFF", "-DBUILD_TESTING=OFF", "-DCURL_USE_OPENSSL=ON", "-DCURL_CA_FALLBACK=ON",
        "-DCURL_CA_BUNDLE=none", "-DCURL_CA_PATH=none", "-DCURL_USE_LIBSSH2=OFF", "-DCURL_USE_LIBPSL=OFF",
        "-DUSE_NGHTTP2=OFF", "-DUSE_LIBIDN2=OFF", "-DCURL_BROTLI=OFF", "-DCURL_ZSTD=OFF", "-DENABLE_MANUAL=OFF",
        *(f"-DCURL_DISABLE_{name}=ON" for name in (
            "ALTSVC DICT FTP GOPHER IMAP LDAP LDAPS MQTT NTLM POP3 RTSP SMB SMTP TELNET TFTP").split()))),
    # Linnet calls convolutions, matrix products and reorders, each of them on one of its own threads.
    "onednn": ("trixie", "3.7.2", ("system-spdlog.patch", "system-gtest.patch"), (
        "-DONEDNN_LIBRARY_TYPE=SHARED", "-DONEDNN_CPU_RUNTIME=SEQ", "-DONEDNN_GPU_RUNTIME=NONE",
        "-DONEDNN_ENABLE_PRIMITIVE=CONVOLUTION;MATMUL;REORDER", "-DONEDNN_BUILD_GRAPH=OFF", "-DONEDNN_BUILD_TESTS=OFF",
        "-DONEDNN_BUILD_EXAMPLES=OFF", "-DONEDNN_ENABLE_JIT_PROFILING=OFF", "-DONEDNN_ENABLE_ITT_TASKS=OFF",
        "-DONEDNN_ARCH_OPT_FLAGS=", "-DCMAKE_CXX_FLAGS_RELEASE=-O2 -DNDEBUG",
        "-DCMAKE_PROJECT_INCLUDE=onednn.cmake")),
}
# glibc's iconv opens a library for each encoding; musl's has them in one source file.
STATIC = {"onednn": (*SOURCES["onednn"][:3], (*PIC, "-DONEDNN_LIBRARY_TYPE=STATIC", *SOURCES["onednn"][3][1:])),
          "musl": ("trixie", "1.2.5", (), ())}
PYTHONS = {"python3.11": ("bookworm", "3.11.2", (), ()), "python3.13": ("trixie", "3.13.5", (), ())}
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"


def run(*command, **options):
    done = subprocess.run(command, check=False, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)
    if done.returncode != 0:
        raise SystemExit(f"archives.py: {' '.join(map(str, command))} failed:\n{done.stdout[-3000:]}")
    return done.stdout


def mirror():
    """Returns the address that this machine's Debian packages come from."""
    lines = run("apt-get", "indextargets", "--format", "$(ORIGIN)|$(LABEL)|$(REPO_URI)", "Created-By: Packages")
    found = re.search(r"^Debian\|Debian\|(\S+)$", lines, re.MULTILINE)
    return found[1] if found else "http://deb.debian.org/debian"


class Apt:
    """Debian's source packages of several releases, without a change to the machine's own lists."""

    def __init__(self, folder):
        self.options = ["-o", f"Dir::Etc::SourceList={folder}/sources.list", "-o", "Dir::Etc::SourceParts=/dev/null",
                        "-o", f"Dir::State::Lists={folder}/lists", "-o", f"Dir::Cache={folder}/cache",
                        "-o", "Dir::State::Status=/dev/null", "-o", "APT::Sandbox::User="]
        for name in ("lists/partial", "cache/archives/partial"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        releases = sorted({source[0] for source in (SOURCES | STATIC | PYTHONS).values()})
        (folder / "sources.list").write_text("".join(
            f"deb-src [signed-by={KEYRING}] {mirror()} {release} main\n" for release in releases), encoding="utf-8")
        run("apt-get", *self.options, "update", "-q")

    def fetch(self, name, folder):
        """Downloads the newest revision of the wanted version, and returns its .dsc and the whole version."""
        release, upstream, _, _ = (SOURCES | PYTHONS)[name]
        known = re.findall(r"^Version: (\S+)$", run("apt-cache", *self.options, "showsrc", name), re.MULTILINE)
        fitting = [v for v in known if re.match(re.escape(upstream) + r"(\+ds\d*)?-", v)]
        if not fitting:
            raise SystemExit(f"archives.py: the mirror has no source of {name} {upstream} in {release}; it has {known}")
        newest = fitting[0]
        for version in fitting[1:]:
            if subprocess.run(["dpkg", "--compare-versions", version, "gt", newest], check=False).returncode == 0:
                newest = version
        run("apt-get", *self.options, "source", "-q", "--download-only", f"{name}={newest}", cwd=folder)
        return next(folder.glob("*.dsc")), newest


def unpack(name, description, target):
    """dpkg-source with Debian's patches, but those that are left out."""
    run("dpkg-source", "--no-check", "--skip-patches", "-x", description, target)
    series = target / "debian/patches/series"
    for patch in series.read_text(encoding="utf-8").split("\n") if series.exists() else []:
        patch = patch.partition("#")[0].strip()
        if patch and patch not in (SOURCES | PYTHONS)[name][2]:
            run("patch", "-p1", "-s", "-i", series.parent / patch, cwd=target)


def unpacked(name, work, prefix):
    """Returns the version of the source in work/source, which it downloads unless an earlier run did."""
    record, wanted = work / "unpacked.json", repr(SOURCES[name])
    if record.exists():
        found = json.loads(record.read_text(encoding="utf-8"))
        if found["built_as"] == wanted:
            return found["version"]
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    description, version = Apt(prefix / "work/apt").fetch(name, work)
    unpack(name, description, work / "source")
    record.write_text(json.dumps({"version": version, "built_as": wanted}), encoding="utf-8")
    return version


def archive(prefix, name, objects):
    path = prefix / f"lib/lib{name}.a"
    path.unlink(missing_ok=True)
    run("ar", "rcsD", path, *objects)


def build_iconv(work, prefix):
    """Makes libiconv.a of musl, against this machine's C library."""
    objects = [work / f"{name}.o" for name in ("iconv", "iconv_close")]
    for made in objects:
        run("cc", "-std=gnu11", "-O2", "-fPIC", "-w", f"-ffile-prefix-map={prefix}/=", "-I", HERE.parent / "static/iconv",
            "-c", work / f"source/src/locale/{made.stem}.c", "-o", made)
    archive(prefix, "iconv", objects)


def build_with_cmake(name, work, prefix):
    stubs = f"-L{prefix}/stubs -static-libstdc++ -Wl,--exclude-libs,ALL -Wl,--gc-sections -Wl,--no-undefined"
    # The folder's name is in no file, and ccache knows what was compiled in another one.
    flags = f"-ffile-prefix-map={prefix}/="
    environment = {"CFLAGS": flags, "CXXFLAGS": flags, "CCACHE_BASEDIR": str(prefix), "CCACHE_NOHASHDIR": "1",
                   "CCACHE_SLOPPINESS": "pch_defines,time_macros"} | os.environ
    run("cmake", "-S", work / "source", "-B", work / "build", "-G", "Ninja", "--log-level=WARNING",
        "-DCMAKE_BUILD_TYPE=Release", f"-DCMAKE_INSTALL_PREFIX={prefix}", "-DCMAKE_INSTALL_LIBDIR=lib",
        f"-DCMAKE_SHARED_LINKER_FLAGS={stubs}",
        *(f"-DCMAKE_{language}_COMPILER_LAUNCHER=ccache" for language in ("C", "CXX") if shutil.which("ccache")),
        *(word.replace("=onednn.cmake", f"={HERE}/onednn.cmake") for word in SOURCES[name][3]), env=environment)
    run("nice", "ninja", "-C", work / "build", *(["-j", os.environ["CMAKE_BUILD_PARALLEL_LEVEL"]]
                                                 if "CMAKE_BUILD_PARALLEL_LEVEL" in os.environ else []), env=environment)
    run("cmake", "--install", work / "build")


def build(name, work, prefix):
    if name == "musl":
        build_iconv(work, prefix)
    else:
        build_with_cmake(name, work, prefix)
    licence = prefix / "licenses" / name / "copyright"
    licence.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(work / "source/debian/copyright", licence)


def tomlplusplus(prefix):
    """Debian's headers hold the library's source."""
    with tempfile.TemporaryDirectory() as work:
        source = Path(work, "toml.cpp")
        source.write_text("#define TOML_IMPLEMENTATION\n#include <toml++/toml.h>\n", encoding="utf-8")
        run("c++", "-std=c++20", "-Os", "-fPIC", "-DTOML_HEADER_ONLY=0", "-c", source, "-o", f"{work}/toml.o")
        archive(prefix, "tomlplusplus", [f"{work}/toml.o"])


def main(prefix):
    (prefix / "lib").mkdir(parents=True, exist_ok=True)
    record = prefix / "sources.json"
    done = json.loads(record.read_text(encoding="utf-8")) if record.exists() else {}
    for name, wanted in SOURCES.items():
        if name in done and done[name]["built_as"] == repr(wanted):
            continue
        work = prefix / "work" / name
        version = unpacked(name, work, prefix)
        print(f"Building {name} {version}", flush=True)
        build(name, work, prefix)
        done[name] = {"version": version, "built_as": repr(wanted)}
        record.write_text(json.dumps(done, indent=1) + "\n", encoding="utf-8")
        shutil.rmtree(work)
    if not (prefix / "lib/libtomlplusplus.a").exists():
        tomlplusplus(prefix)


def python_source(name, folder):
    with tempfile.TemporaryDirectory(dir=folder) as work:
        Path(work, "download").mkdir()
        description, version = Apt(Path(work, "apt")).fetch(name, Path(work, "download"))
        unpack(name, description, folder / "source")
    print(f"{name} {version}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument("--python", choices=PYTHONS)
    kind.add_argument("--static", action="store_true")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    if arguments.python:
        python_source(arguments.python, arguments.folder.resolve())
    else:
        if arguments.static:
            SOURCES.update(STATIC)
        main(arguments.folder.resolve())
