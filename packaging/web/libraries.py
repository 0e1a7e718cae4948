#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds what linnet.wasm links, with Emscripten: libraries.py FOLDER.

FOLDER gets include/, lib/ and cmake/ of fmt, Highway, zlib and utf8proc, of Debian's source packages, and
sources.json with their versions. Headers of nlohmann-json and DLPack are copied from this system's packages. Needs
emcc, the network, and no root."""
import json
import shutil
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "wheels"))
import archives  # noqa: E402

# Release, upstream version, patches that are left out, CMake's options.
SOURCES = {
    "fmtlib": ("trixie", "10.1.1", (), ("-DFMT_TEST=OFF", "-DFMT_DOC=OFF")),
    "highway": ("trixie", "1.2.0", (), ("-DBUILD_TESTING=OFF", "-DHWY_ENABLE_TESTS=OFF", "-DHWY_ENABLE_EXAMPLES=OFF",
                                        "-DHWY_ENABLE_CONTRIB=OFF")),
    "utf8proc": ("bookworm", "2.8.0", (), ()),
    "zlib": ("bookworm", "1:1.2.13.dfsg", (), ()),
}
FLAGS = "-O2 -msimd128 -fwasm-exceptions"
# Libraries of a few C files, whose own builds make more than an archive.
FILES = {"utf8proc": ("utf8proc", ("utf8proc",), ("utf8proc.h",)),
         "zlib": ("z", ("adler32", "compress", "crc32", "deflate", "inffast", "inflate", "inftrees", "trees", "uncompr",
                        "zutil"), ("zlib.h", "zconf.h"))}
HEADERS = ("nlohmann", "dlpack")


def with_cmake(name, work, prefix):
    archives.run("emcmake", "cmake", "-S", work / "source", "-B", work / "build", "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
                 f"-DCMAKE_INSTALL_PREFIX={prefix}", "-DCMAKE_INSTALL_LIBDIR=lib", f"-DCMAKE_CXX_FLAGS={FLAGS}",
                 *SOURCES[name][3])
    archives.run("ninja", "-C", work / "build", "install")


def of_files(name, work, prefix):
    archive, files, headers = FILES[name]
    objects = [work / f"{file}.o" for file in files]
    for file in objects:
        archives.run("emcc", *FLAGS.split(), "-w", "-DUTF8PROC_STATIC", "-DHAVE_UNISTD_H", "-c",
                     work / "source" / f"{file.stem}.c", "-o", file)
    archives.run("emar", "rcs", prefix / f"lib/lib{archive}.a", *objects)
    for header in headers:
        shutil.copyfile(work / "source" / header, prefix / "include" / header)


def main(prefix):
    archives.SOURCES, archives.STATIC, archives.PYTHONS = SOURCES, {}, {}
    for folder in ("lib", "include"):
        (prefix / folder).mkdir(parents=True, exist_ok=True)
    for name in HEADERS:
        shutil.copytree(Path("/usr/include", name), prefix / "include" / name, dirs_exist_ok=True)
    record = prefix / "sources.json"
    done = json.loads(record.read_text(encoding="utf-8")) if record.exists() else {}
    for name, wanted in SOURCES.items():
        built_as = repr((wanted, FLAGS))
        if done.get(name, {}).get("built_as") == built_as:
            continue
        work = prefix / "work" / name
        version = archives.unpacked(name, work, prefix)
        print(f"Building {name} {version}", flush=True)
        (of_files if name in FILES else with_cmake)(name, work, prefix)
        licence = prefix / "licenses" / name / "copyright"
        licence.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(work / "source/debian/copyright", licence)
        done[name] = {"version": version, "built_as": built_as}
        record.write_text(json.dumps(done, indent=1) + "\n", encoding="utf-8")
        shutil.rmtree(work)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(__doc__.splitlines()[0])
    main(Path(sys.argv[1]).resolve())
