#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Unpacks Debian 12's libraries for ARM64 into a folder: sysroot.py FOLDER.

FOLDER becomes what a cross compiler takes with --sysroot and qemu-aarch64-static with -L: the packages of
tools/packages.txt that Linnet compiles or runs with, and all that they depend on. packages.json lists them with their
versions, and which package a program depends on that needs a library ("shlibs", deb-shlibs(5)). Neither dpkg's state nor apt's lists of this machine change. Needs the network, and no root."""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "packaging/wheels"))
from archives import KEYRING, mirror, run  # noqa: E402

RELEASE = "bookworm"
RUN_TIME = ("ca-certificates", "libgomp1")  # what nothing of the list depends on
TOP = ("bin", "sbin", "lib")  # links into usr/, as on a Debian machine


def wanted(text):
    """Returns the libraries that tools/packages.txt requires, in whose text they stand: names that end in -dev."""
    names = [line.split("#")[0].strip() for line in text.splitlines() if "# optional" not in line]
    return sorted(name for name in names if name.endswith("-dev")) + [*RUN_TIME]


def options(folder):
    """Returns apt's options for lists, cache and state of its own, in which nothing is installed."""
    for name in ("lists/partial", "cache/archives/partial"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    (folder / "status").write_text("", encoding="utf-8")
    (folder / "sources.list").write_text(f"deb [arch=arm64 signed-by={KEYRING}] {mirror()} {RELEASE} main\n", encoding="utf-8")
    values = {"Dir::Etc::SourceList": folder / "sources.list", "Dir::Etc::SourceParts": "/dev/null",
              "Dir::State::Lists": folder / "lists", "Dir::State::Status": folder / "status", "Dir::Cache": folder / "cache",
              "APT::Architecture": "arm64", "APT::Architectures::": "arm64", "APT::Sandbox::User": "",
              "APT::Install-Recommends": "false"}
    return [word for name, value in values.items() for word in ("-o", f"{name}={value}")]


def unpack(package, root):
    """Unpacks a .deb as dpkg does, through the links of TOP."""
    with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", package], stdout=subprocess.PIPE) as reader:
        subprocess.run(["tar", "-x", "--keep-directory-symlink", "--no-same-owner", "-C", root], stdin=reader.stdout, check=True)
    if reader.returncode != 0:
        raise SystemExit(f"sysroot.py: dpkg-deb cannot read {package}")


def make_links_relative(root):
    """Makes links that begin at / lead into the sysroot, where a linker finds them."""
    for folder, folders, files in os.walk(root):
        for name in folders + files:
            path = Path(folder, name)
            if path.is_symlink() and os.readlink(path).startswith("/"):
                target = os.path.relpath(root / os.readlink(path).lstrip("/"), folder)
                path.unlink()
                path.symlink_to(target)


def shlibs(package):
    """Returns the lines by which a package says what depends on it for a library: name, version, dependency."""
    said = subprocess.run(["dpkg-deb", "--info", package, "shlibs"], check=False, capture_output=True, text=True)
    return [line for line in said.stdout.splitlines() if len(line.split(maxsplit=2)) == 3 and not line.startswith("udeb:")]


def make(folder):
    names = wanted((ROOT / "tools/packages.txt").read_text(encoding="utf-8"))
    record = folder / "packages.json"
    if record.exists() and json.loads(record.read_text(encoding="utf-8"))["wanted"] == names:
        return
    work = folder.with_name(folder.name + ".work")
    shutil.rmtree(folder, ignore_errors=True)
    apt = options(work)
    run("apt-get", *apt, "update", "-q")
    run("apt-get", *apt, "install", "-q", "-y", "--download-only", *names)
    folder.mkdir(parents=True)
    for name in TOP:
        (folder / "usr" / name).mkdir(parents=True)
        (folder / name).symlink_to(f"usr/{name}")
    packages = sorted((work / "cache/archives").glob("*.deb"))
    for package in packages:
        unpack(package, folder)
    make_links_relative(folder)
    versions = dict(re.match(r"(.+?)_(.+)_", package.name).groups() for package in packages)
    written = {"wanted": names, "versions": versions, "shlibs": [line for package in packages for line in shlibs(package)]}
    record.write_text(json.dumps(written, indent=1) + "\n", encoding="utf-8")
    shutil.rmtree(work)
    print(f"{len(packages)} packages of {RELEASE} in {folder}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    make(parser.parse_args().folder.resolve())
