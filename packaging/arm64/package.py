#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes .deb files for ARM64 of a build folder: package.py BUILD.

dpkg-shlibdeps asks this machine's dpkg which package has a library, and that knows none of the sysroot's. So this looks
the libraries that a file needs up in what the sysroot's packages say (packages.json, "shlibs")."""
import argparse
import json
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def parts_of(soname):
    """Returns a library's name and version as deb-shlibs(5) has them."""
    found = re.fullmatch(r"(.+)\.so\.(.+)", soname) or re.fullmatch(r"(.+)-([0-9.]+)\.so", soname)
    if not found:
        raise SystemExit(f"package.py: expected a library such as libpng16.so.16; got {soname}")
    return found[1], found[2]


def dependencies(sonames, shlibs):
    """Returns what a package depends on whose file needs these libraries, by lines of deb-shlibs(5)."""
    table = {tuple(line.split(maxsplit=2)[:2]): line.split(maxsplit=2)[2] for line in shlibs}
    missing = [name for name in sonames if parts_of(name) not in table]
    if missing:
        raise SystemExit(f"package.py: no package of the sysroot has {', '.join(missing)}")
    return sorted({word.strip() for name in sonames for word in table[parts_of(name)].split(",")})


def needed(path):
    """Returns the libraries that a file names, without the loader, which is libc6's."""
    text = subprocess.run(["aarch64-linux-gnu-readelf", "--dynamic", "--wide", path], check=True, capture_output=True,
                          text=True, env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"}).stdout
    names = re.findall(r"\(NEEDED\).*\[(.+?)\]", text)
    return [name for name in names if not name.startswith("ld-linux")]


def main(build):
    shlibs = json.loads((ROOT / ".cache/arm64/packages.json").read_text(encoding="utf-8"))["shlibs"]
    configured = (build / "CPackConfig.cmake").read_text(encoding="utf-8")
    words = ["cpack", "--config", "CPackConfig.cmake", "-D", "CPACK_DEBIAN_PACKAGE_ARCHITECTURE=arm64",
             "-D", "CPACK_DEBIAN_PACKAGE_SHLIBDEPS=OFF"]
    for component, path in (("LIBRARY", "lib/liblinnet.so"), ("COMMAND", "bin/linnet")):
        opened = re.search(rf'CPACK_DEBIAN_{component}_PACKAGE_DEPENDS "(.+?)"', configured)
        whole = dependencies(needed(build / path), shlibs) + ([opened[1]] if opened else [])
        words += ["-D", f"CPACK_DEBIAN_{component}_PACKAGE_DEPENDS={', '.join(whole)}"]
    subprocess.run(words, cwd=build, check=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=Path)
    main(parser.parse_args().build.resolve())
