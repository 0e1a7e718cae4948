#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Packs a static program: pack_static.py PROGRAM FOLDER TARGET.tar.xz.

The archive holds a folder with the program `linnet`, LICENSE, and of FOLDER (archives.py, parts.py) the licences and the
list of what is linked. Equal contents give equal bytes: times are those of the commit (SOURCE_DATE_EPOCH)."""
import io
import lzma
import os
import sys
import tarfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIMIT = 15_000_000  # bytes


def files(program, folder):
    """Returns path in the archive -> path here."""
    found = {"linnet": program, "LICENSE": ROOT / "LICENSE", "linnet.cdx.json": folder / "sboms/linnet.cdx.json"}
    for licence in (folder / "licenses").glob("*/copyright"):
        found[f"licenses/{licence.parent.name}"] = licence
    return found


def pack(program, folder, target, time):
    """Writes `target` and returns its size."""
    root = target.name.removesuffix(".tar.xz")
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, path in sorted(files(program, folder).items()):
            info = tarfile.TarInfo(f"{root}/{name}")
            info.size, info.mtime, info.mode = path.stat().st_size, time, 0o755 if name == "linnet" else 0o644
            with path.open("rb") as file:
                archive.addfile(info, file)
    target.write_bytes(lzma.compress(packed.getvalue(), preset=9 | lzma.PRESET_EXTREME))
    return target.stat().st_size


def main(program, folder, target):
    size = pack(program, folder, target, int(os.environ["SOURCE_DATE_EPOCH"]))
    print(f"{target.name}: {size:,} bytes; the program has {program.stat().st_size:,}")
    if size > LIMIT:
        raise SystemExit(f"{target.name} has {size:,} bytes; expected at most {LIMIT:,}")


if __name__ == "__main__":
    if len(sys.argv) != 4:
        raise SystemExit(__doc__.splitlines()[0])
    main(*map(Path, sys.argv[1:]))
