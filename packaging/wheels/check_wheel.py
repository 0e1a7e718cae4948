#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares wheels with their tags: check_wheel.py [--whole] WHEEL...

Each shared object and program asks for no symbol of glibc, libgcc or libstdc++ that is newer than a system of the
tag's glibc has, and for no library that is neither in the wheel nor on every Linux. --whole: it also holds what a
released wheel of linnet must: the command, its launcher, licences and list of parts, and no C++ library of the system.
Uses readelf alone, so it needs no package of PyPI."""
import argparse
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

LIMIT = 20_000_000  # bytes
TAG = re.compile(r"manylinux_(\d+)_(\d+)_(?:x86_64|aarch64)")
# What came with a glibc, at most: PEP 600's "any system of that age". GCC 8 with 2.28, GCC 12 with 2.36.
NEWEST = [((2, 28), {"GLIBCXX": "3.4.24", "CXXABI": "1.3.11", "GCC": "7.0.0"}),
          ((2, 31), {"GLIBCXX": "3.4.28", "CXXABI": "1.3.12", "GCC": "7.0.0"}),
          ((2, 34), {"GLIBCXX": "3.4.29", "CXXABI": "1.3.13", "GCC": "7.0.0"}),
          ((2, 36), {"GLIBCXX": "3.4.30", "CXXABI": "1.3.13", "GCC": "12.0.0"}),
          ((2, 99), {"GLIBCXX": "3.4.99", "CXXABI": "1.3.99", "GCC": "99.0.0"})]
SYSTEM = re.compile(r"lib(c|m|dl|rt|pthread|gcc_s|stdc\+\+|z|expat)\.so\.\d+|ld-linux-[\w-]+\.so\.\d+")  # PEP 600's
NVIDIA = re.compile(r"lib(cublasLt|cublas|cudnn|cuda)\.so\.\d+")  # of linnet-cuda: from NVIDIA's wheels and driver
WHOLE = [r"linnet/bin/linnet", r"linnet-[^/]*\.data/scripts/linnet",
         r"linnet-[^/]*\.dist-info/licenses/LICENSE", r"linnet-[^/]*\.dist-info/licenses/[^/]+/copyright",
         r"linnet-[^/]*\.dist-info/sboms/linnet\.cdx\.json"]


def number(version):
    return tuple(int(part) for part in version.split("."))


def elf_faults(path, name, limits, own):
    """Returns sentences about the ELF file at `path`; own: the names of the wheel's libraries."""
    text = subprocess.run(["readelf", "--dynamic", "--version-info", "--wide", path], check=True, capture_output=True,
                          text=True).stdout
    for needed in re.findall(r"\(NEEDED\)\s+Shared library: \[(.+?)\]", text):
        if needed not in own and not SYSTEM.fullmatch(needed) and not NVIDIA.fullmatch(needed):
            yield f"{name} needs {needed}, which is not in the wheel"
    # Sections "Version needs": what others define; lines `Name: GLIBC_2.34  Flags: none  Version: 5`.
    needs = text.partition("Version needs section")[2]
    newest = {}
    for family, version in re.findall(r"Name: (GLIBC|GLIBCXX|CXXABI|GCC)_([\d.]+)\s", needs):
        newest[family] = max(newest.get(family, (0,)), number(version))
    for family, version in sorted(newest.items()):
        if version > number(limits[family]):
            needed = ".".join(map(str, version))
            yield f"{name} needs {family}_{needed}; systems of the tag have {family}_{limits[family]}"
    for other in sorted(set(re.findall(r"Name: (GLIBC_ABI_\w+)", needs))):
        yield f"{name} needs {other}, which glibc has since 2.36"


def faults(path, whole=False):
    """Returns sentences about what is wrong with the wheel at `path`."""
    tags = TAG.findall(path.stem.rpartition("-")[2])
    if not tags:
        return [f"{path.name} has no tag manylinux_2_N_x86_64 or _aarch64"]
    glibc = min((int(major), int(minor)) for major, minor in tags)
    limits = next(newest for version, newest in NEWEST if glibc <= version) | {"GLIBC": f"{glibc[0]}.{glibc[1]}"}
    found = []
    if path.stat().st_size > LIMIT:
        found.append(f"it has {path.stat().st_size} bytes; expected at most {LIMIT}")
    with zipfile.ZipFile(path) as wheel, tempfile.TemporaryDirectory() as work:
        names = wheel.namelist()
        own = {Path(name).name for name in names}
        for name in names:
            with wheel.open(name) as file:
                if file.read(4) != b"\x7fELF":
                    continue
            copy = wheel.extract(name, work)
            found += elf_faults(copy, name, limits, own)
            if whole and re.search(rb"libstdc\+\+\.so", Path(copy).read_bytes()):
                found.append(f"{name} needs the system's libstdc++; expected it to be linked statically")
        for wanted in WHOLE if whole else []:
            if not any(re.fullmatch(wanted, name) for name in names):
                found.append(f"there is no file {wanted}")
        for info in wheel.infolist():
            program = "/bin/" in info.filename or "/scripts/" in info.filename
            if program and not info.is_dir() and not info.external_attr >> 16 & 0o100:
                found.append(f"{info.filename} is not executable")
    return found


def main(paths, whole):
    failed = False
    for path in paths:
        found = faults(path, whole)
        failed = failed or bool(found)
        print(f"{path.name}: {path.stat().st_size:,} bytes, {'not ' if found else ''}as its tag says")
        for sentence in found:
            print(f"  {sentence}")
    return int(failed)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--whole", action="store_true")
    parser.add_argument("wheels", type=Path, nargs="+")
    arguments = parser.parse_args()
    os.environ["LC_ALL"] = "C"
    sys.exit(main(arguments.wheels, arguments.whole))
