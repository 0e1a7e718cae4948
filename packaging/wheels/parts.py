#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lists what is linked into artefacts: parts.py [FOLDER...] [--python PYTHON] [--sources FOLDER] [--headers]
[--release ARTEFACTS].

Writes FOLDER/sboms/linnet.cdx.json (CycloneDX 1.5) and FOLDER/licenses/NAME/copyright, which a wheel holds. FOLDER is
that of archives.py, PYTHON an interpreter that has nanobind; without it, the list is of the static program, which holds
the C library. --release: writes ARTEFACTS/linnet.cdx.json instead, of all folders, with the sums of the files there;
--sources adds what a folder of packaging/web/libraries.py names, --headers the headers that Debian packages of Linnet
compile in."""
import argparse
import hashlib
import json
import re
import shutil
import subprocess
from pathlib import Path

# The other archives and headers are those of this machine's packages.
PACKAGES = ("zlib1g-dev liblzma-dev libexpat1-dev libpng-dev libjpeg62-turbo-dev libwebp-dev libutf8proc-dev "
            "libtiff-dev liblerc-dev libjbig-dev libdeflate-dev libzstd-dev libssl-dev libtomlplusplus-dev nlohmann-json3-dev "
            "libcli11-dev libboost1.74-dev libstdc++-12-dev").split()
HEADERS = ["nlohmann-json3-dev", "libcli11-dev", "libboost1.74-dev"]  # shared libraries are what a .deb depends on
MODULE = ["libdlpack-dev"]  # with Python's
PROGRAM = ["libc6-dev"]  # of the static one


def installed(package):
    """Returns the version of an installed package, and of which source."""
    text = subprocess.run(["dpkg-query", "-W", "-f=${source:Package} ${source:Version}", package], check=False,
                          capture_output=True, text=True)
    if text.returncode != 0 or not text.stdout.strip():
        raise SystemExit(f"parts.py: {package} is not installed; run ./dev setup")
    return text.stdout.split()


def shortened(text):
    """Returns a copyright file; of one as large as Boost's, which names each file's owners, the licences alone.

    Boost's licence wants no notice with compiled code."""
    if len(text) < 500_000:
        return text
    paragraphs = [paragraph.strip("\n") for paragraph in text.split("\n\n")]
    return "\n\n".join(p for p in paragraphs if p.startswith("License:")) + "\n"


def copy_licence(package, target):
    """Writes the copyright file of an installed package into the folder."""
    target.mkdir(parents=True, exist_ok=True)
    text = Path(f"/usr/share/doc/{package}/copyright").read_text(encoding="utf-8")
    (target / "copyright").write_text(shortened(text), encoding="utf-8")


def component(name, version, kind):
    purl = f"pkg:pypi/{name}@{version}" if kind == "pypi" else f"pkg:deb/debian/{name}@{version}?arch=source"
    return {"type": "library", "name": name, "version": version, "purl": purl, "bom-ref": purl}


def of_sources(folder):
    """Returns the parts that a folder's sources.json names."""
    named = json.loads((folder / "sources.json").read_text(encoding="utf-8"))
    return [component(name, source["version"], "deb") for name, source in named.items()]


def components(folder, python):
    """Returns the parts, and copies their licences."""
    found = of_sources(folder)
    for package in PACKAGES + (MODULE if python else PROGRAM):
        name, version = installed(package)
        found.append(component(name, version, "deb"))
        copy_licence(package, folder / "licenses" / name)
    return found + (python_components(folder, python) if python else [])


def python_components(folder, python):
    where = ("import importlib.metadata as m; d = m.distribution('nanobind'); "
             "print(d.version); print(d.locate_file('nanobind'))")
    version, place = subprocess.run([python, "-c", where], check=True, capture_output=True, text=True).stdout.split("\n")[:2]
    licences = [*Path(place).parent.glob("nanobind-*.dist-info/licenses/LICENSE")]
    (folder / "licenses/nanobind").mkdir(parents=True, exist_ok=True)
    shutil.copyfile(licences[0], folder / "licenses/nanobind/copyright")
    return [component("nanobind", version, "pypi")]


def unique(parts):
    return sorted({part["bom-ref"]: part for part in parts}.values(), key=lambda part: part["bom-ref"])


def bill(name, version, parts, files=()):
    """Returns a CycloneDX document; files: artefacts, whose sums it holds."""
    main = {"type": "library", "name": name, "version": version, "bom-ref": f"pkg:pypi/{name}@{version}",
            "purl": f"pkg:pypi/{name}@{version}", "licenses": [{"license": {"id": "Apache-2.0"}}]}
    made = [{"type": "file", "name": file.name, "bom-ref": f"file:{file.name}",
             "hashes": [{"alg": "SHA-256", "content": hashlib.sha256(file.read_bytes()).hexdigest()}]} for file in files]
    return {"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1, "metadata": {"component": main},
            "components": parts + made,
            "dependencies": [{"ref": main["bom-ref"], "dependsOn": [part["bom-ref"] for part in parts]}]}


def write(path, document):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


def linnet_version():
    text = (Path(__file__).parents[2] / "include/linnet/version.h").read_text(encoding="utf-8")
    return ".".join(re.search(rf"LINNET_VERSION_{part} (\d+)", text)[1] for part in ("MAJOR", "MINOR", "PATCH"))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", metavar="FOLDER", type=Path, nargs="*")
    parser.add_argument("--python")
    parser.add_argument("--sources", metavar="FOLDER", type=Path, action="append", default=[])
    parser.add_argument("--headers", action="store_true")
    parser.add_argument("--release", metavar="ARTEFACTS", type=Path)
    arguments = parser.parse_args()
    if arguments.release:
        # With PYTHON the first folder is that of wheels.
        found = [part for index, folder in enumerate(arguments.folders)
                 for part in components(folder, arguments.python if index == 0 else None)]
        found += [part for folder in arguments.sources for part in of_sources(folder)]
        if arguments.headers:
            found += [component(*installed(package), "deb") for package in HEADERS]
        files = sorted(arguments.release.iterdir())
        write(arguments.release / "linnet.cdx.json", bill("linnet", linnet_version(), unique(found), files))
    else:
        for folder in arguments.folders:
            found = components(folder, arguments.python)
            write(folder / "sboms/linnet.cdx.json", bill("linnet", linnet_version(), unique(found)))
