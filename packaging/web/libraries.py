#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds what linnet.wasm or linnet.exe links: libraries.py FOLDER [windows].

FOLDER gets include/, lib/ and cmake/ of fmt, Highway, zlib and utf8proc, of Debian's source packages, headers of
nlohmann-json and DLPack, of this system's packages, and sources.json with all versions, the compiler's too. Needs emcc,
the network, and no root. windows: by MinGW instead, and with GoogleTest, musl's iconv, CLI11 and toml++."""
import json
import shutil
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "wheels"))
import archives  # noqa: E402
import parts  # noqa: E402

# Release, upstream version, patches that are left out, CMake's options.
SOURCES = {
    "fmtlib": ("trixie", "10.1.1", (), ("-DFMT_TEST=OFF", "-DFMT_DOC=OFF")),
    "highway": ("trixie", "1.2.0", (), ("-DBUILD_TESTING=OFF", "-DHWY_ENABLE_TESTS=OFF", "-DHWY_ENABLE_EXAMPLES=OFF",
                                        "-DHWY_ENABLE_CONTRIB=OFF")),
    "utf8proc": ("bookworm", "2.8.0", (), ()),
    "zlib": ("bookworm", "1:1.2.13.dfsg", (), ()),
}
HEADERS = {"nlohmann": "nlohmann-json3-dev", "dlpack": "libdlpack-dev", "CLI": "libcli11-dev", "toml++": "libtomlplusplus-dev"}
ICONV = ("trixie", "1.2.5", (), ())


class Web:
    """Emscripten."""
    sources = SOURCES
    headers = ("nlohmann", "dlpack")
    runtime = ("emscripten",)  # packages of what the compiler links
    flags = "-O2 -msimd128 -fwasm-exceptions"
    cc, ar = "emcc", "emar"
    cmake = ("emcmake", "cmake")
    more_flags = ""


class Windows:
    """MinGW of Debian."""
    sources = SOURCES | {"googletest": ("bookworm", "1.12.1", (), ()), "musl": ICONV}
    headers = (*Web.headers, "CLI", "toml++")
    runtime = ("g++-mingw-w64-x86-64-posix", "mingw-w64-x86-64-dev")
    flags = "-O2"
    cc, ar = "x86_64-w64-mingw32-gcc-posix", "x86_64-w64-mingw32-ar"
    more_flags = " -Wa,-muse-unaligned-vector-move -Wa,-mbig-obj"  # CMAKE_CXX_FLAGS takes the toolchain's away
    cmake = ("cmake", f"-DCMAKE_TOOLCHAIN_FILE={HERE.parents[1]}/cmake/toolchain-windows.cmake")


# Libraries of a few C files, whose own builds make more than an archive.
FILES = {"utf8proc": ("utf8proc", ("utf8proc",), ("utf8proc.h",)),
         "zlib": ("z", ("adler32", "compress", "crc32", "deflate", "inffast", "inflate", "inftrees", "trees", "uncompr",
                        "zutil"), ("zlib.h", "zconf.h"))}


def with_cmake(target, name, work, prefix):
    archives.run(*target.cmake, "-S", work / "source", "-B", work / "build", "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
                 f"-DCMAKE_INSTALL_PREFIX={prefix}", "-DCMAKE_INSTALL_LIBDIR=lib",
                 f"-DCMAKE_CXX_FLAGS={target.flags}{target.more_flags}", *target.sources[name][3])
    archives.run("ninja", "-C", work / "build", "install")


def of_files(target, name, work, prefix):
    archive, files, headers = FILES[name]
    objects = [work / f"{file}.o" for file in files]
    for file in objects:
        archives.run(target.cc, *target.flags.split(), "-w", "-DUTF8PROC_STATIC", "-DHAVE_UNISTD_H", "-c",
                     work / "source" / f"{file.stem}.c", "-o", file)
    archives.run(target.ar, "rcs", prefix / f"lib/lib{archive}.a", *objects)
    for header in headers:
        shutil.copyfile(work / "source" / header, prefix / "include" / header)


def iconv(target, _, work, prefix):
    """musl's iconv.c, as packaging/static builds it."""
    header = (work / "source/include/iconv.h").read_text(encoding="utf-8").replace("<features.h>", "<stddef.h>")
    (prefix / "include/iconv.h").write_text(header.replace("#include <bits/alltypes.h>\n", ""), encoding="utf-8")
    objects = [work / f"{name}.o" for name in ("iconv", "iconv_close")]
    for made in objects:
        archives.run(target.cc, "-std=gnu11", *target.flags.split(), "-w", "-I", HERE.parent / "windows/iconv", "-I",
                     prefix / "include", "-c", work / f"source/src/locale/{made.stem}.c", "-o", made)
    archives.run(target.ar, "rcs", prefix / "lib/libiconv.a", *objects)


def main(prefix, target):
    archives.SOURCES, archives.STATIC, archives.PYTHONS = target.sources, {}, {}
    for folder in ("lib", "include"):
        (prefix / folder).mkdir(parents=True, exist_ok=True)
    for name in target.headers:
        shutil.copytree(Path("/usr/include", name), prefix / "include" / name, dirs_exist_ok=True)
    record = prefix / "sources.json"
    done = json.loads(record.read_text(encoding="utf-8")) if record.exists() else {}
    for package in (*(HEADERS[name] for name in target.headers), *target.runtime):
        name, version = parts.installed(package)
        parts.copy_licence(package, prefix / "licenses" / name)
        done[name] = {"version": version, "built_as": package}
    record.write_text(json.dumps(done, indent=1) + "\n", encoding="utf-8")
    for name, wanted in target.sources.items():
        built_as = repr((wanted, target.flags))
        if done.get(name, {}).get("built_as") == built_as:
            continue
        work = prefix / "work" / name
        version = archives.unpacked(name, work, prefix)
        print(f"Building {name} {version}", flush=True)
        (of_files if name in FILES else iconv if name == "musl" else with_cmake)(target, name, work, prefix)
        licence = prefix / "licenses" / name / "copyright"
        licence.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(work / "source/debian/copyright", licence)
        done[name] = {"version": version, "built_as": built_as}
        record.write_text(json.dumps(done, indent=1) + "\n", encoding="utf-8")
        shutil.rmtree(work)


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3) or sys.argv[2:] not in ([], ["windows"]):
        raise SystemExit(__doc__.splitlines()[0])
    main(Path(sys.argv[1]).resolve(), Windows if sys.argv[2:] else Web)
