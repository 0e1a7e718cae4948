#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the npm package of what `./dev web` compiled: package.py BUILD VERSION.

BUILD/package holds linnet_wasm.mjs and linnet_wasm.wasm; the rest is added, and BUILD/linnet-VERSION.tgz, the same for
the same files, and BUILD/linnet.html, a page that needs no server."""
import base64
import gzip
import io
import json
import re
import shutil
import sys
import tarfile
from pathlib import Path

HERE = Path(__file__).resolve().parent


def pack(folder, target):
    """Every file of the folder as package/..., with times and owners of nobody."""
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for path in sorted(p for p in folder.rglob("*") if p.is_file()):
            entry = tarfile.TarInfo(f"package/{path.relative_to(folder).as_posix()}")
            entry.size, entry.mode = path.stat().st_size, 0o644
            archive.addfile(entry, io.BytesIO(path.read_bytes()))
    target.write_bytes(gzip.compress(data.getvalue(), mtime=0))


def write_page(folder, target):
    """Writes a page of one file, which a browser opens from a disk: worker, library and wasm stand in it."""
    library = (folder / "linnet_wasm.mjs").read_text(encoding="utf-8") + "\nconst createModule = Module;\n"
    library += (folder / "linnet.mjs").read_text(encoding="utf-8")
    library = re.sub(r"^(export default .*|import .*)$", "", library, flags=re.MULTILINE)
    library = re.sub(r"^export (?=class|async)", "", library, flags=re.MULTILINE)
    library = library.replace("import.meta.url", "self.location.href")  # a page of a disk may start no module as worker
    parts = {
        "WASM": base64.b64encode((folder / "linnet_wasm.wasm").read_bytes()).decode(),
        "LIBRARY": library,
        "WORKER": (HERE / "page_worker.js").read_text(encoding="utf-8"),
        "PAGE": (HERE / "page.js").read_text(encoding="utf-8"),
    }
    if any("</script" in part for part in parts.values()):
        raise SystemExit("package.py: a script of the page holds </script")
    page = (HERE / "page.html").read_text(encoding="utf-8")
    target.write_text(re.sub(r"@([A-Z]+)@", lambda match: parts[match[1]], page), encoding="utf-8")


def main(build, version):
    folder = build / "package"
    for name in ("linnet.mjs", "linnet.d.ts", "README.md"):
        shutil.copyfile(HERE / name, folder / name)
    shutil.copyfile(HERE.parents[1] / "LICENSE", folder / "LICENSE")
    shutil.copytree(build / "libraries/licenses", folder / "licenses", dirs_exist_ok=True)
    description = json.loads((HERE / "package.json").read_text(encoding="utf-8")) | {"version": version}
    (folder / "package.json").write_text(json.dumps(description, indent=2) + "\n", encoding="utf-8")
    target = build / f"linnet-{version}.tgz"
    pack(folder, target)
    page = build / "linnet.html"
    write_page(folder, page)
    for path in (folder / "linnet_wasm.wasm", target, page):
        print(f"{path.stat().st_size:>9} {path}")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit(__doc__.splitlines()[0])
    main(Path(sys.argv[1]), sys.argv[2])
