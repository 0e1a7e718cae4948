#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Packs the CUDA plug-in as the wheel linnet-cuda: cuda_wheel.py PLUGIN VERSION CUDA FOLDER.

PLUGIN is liblinnet_cuda.so of the same source tree as the wheel linnet, VERSION Linnet's, CUDA the toolkit's major
version. The file goes beside linnet's extension module, which looks for it there; NVIDIA's libraries come from
NVIDIA's own wheels, where the run path finds them. auditwheel then adds what else it needs. Nothing of it has
run on a GPU here."""
import base64
import hashlib
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NVIDIA = ("libcublasLt.so.{cuda}", "libcublas.so.{cuda}", "libcudnn.so.9", "libcuda.so.1")


def metadata(version, cuda):
    return (f"Metadata-Version: 2.4\nName: linnet-cuda\nVersion: {version}\n"
            "Summary: Trains and runs Linnet's networks on NVIDIA GPUs: the CUDA plug-in of linnet\n"
            "License-Expression: Apache-2.0\nLicense-File: LICENSE\nRequires-Python: >=3.11\n"
            f"Requires-Dist: linnet=={version}\nRequires-Dist: nvidia-cublas>={cuda},<{int(cuda) + 1}\n"
            f"Requires-Dist: nvidia-cudnn-cu{cuda}>=9,<10\n")


def packed(plugin, version, cuda, folder):
    """Writes the wheel before its repair, and returns its path."""
    about = f"linnet_cuda-{version}.dist-info"
    platform = "linux_" + subprocess.run(["uname", "-m"], check=True, capture_output=True, text=True).stdout.strip()
    contents = {"linnet/liblinnet_cuda.so": plugin.read_bytes(), f"{about}/METADATA": metadata(version, cuda).encode(),
                f"{about}/licenses/LICENSE": (ROOT / "LICENSE").read_bytes(),
                f"{about}/WHEEL": f"Wheel-Version: 1.0\nGenerator: linnet\nRoot-Is-Purelib: false\n"
                                  f"Tag: py3-none-{platform}\n".encode()}
    record = "".join(f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip('=')},"
                     f"{len(data)}\n" for name, data in contents.items()) + f"{about}/RECORD,,\n"
    path = folder / f"linnet_cuda-{version}-py3-none-{platform}.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, data in {**contents, f"{about}/RECORD": record.encode()}.items():
            wheel.writestr(name, data)
    return path


def main(plugin, version, cuda, folder):
    with tempfile.TemporaryDirectory() as work:
        own = Path(work, "liblinnet_cuda.so")
        own.write_bytes(Path(plugin).read_bytes())
        run_path = f"$ORIGIN/../nvidia/cu{cuda}/lib:$ORIGIN/../nvidia/cudnn/lib"
        subprocess.run(["patchelf", "--set-rpath", run_path, own], check=True)
        excluded = [word for name in NVIDIA for word in ("--exclude", name.format(cuda=cuda))]
        subprocess.run(["auditwheel", "repair", "--strip", *excluded, "-w", folder,
                        packed(own, version, cuda, Path(work))], check=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
