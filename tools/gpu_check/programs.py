# SPDX-License-Identifier: Apache-2.0
"""Linnet's programs: those of the archive of tools/gpu_bundle.sh if they start here, else built."""
import glob
import json
import lzma
import os
import re
import shutil
import sysconfig
import tarfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from check import ROOT, Failed

ARCHIVE = ROOT / ".bundle/linnet-gpu.tar.xz"
DEPS = ROOT / ".bundle/deps.tar.xz"
TEST = re.compile(r"^bin/(\w+_test_cuda): ", re.M)  # of ninja's list of targets
BUILD_SECONDS = 300  # where there is no bundle
TARGETS = ("linnet_command", "linnet_cuda_plugin")


@dataclass
class Programs:
    """`tests`: command of each test program, by name. `origin`: where they come from, in words."""
    linnet: Path
    tests: dict
    origin: str
    environment: dict = field(default_factory=dict)


def nvidia_folders():
    """Lists the folders of Python's nvidia/* packages, which bring PyTorch cuDNN and cuBLASLt."""
    paths = {sysconfig.get_paths()[key] for key in ("purelib", "platlib")}
    return sorted(found for path in paths for found in glob.glob(f"{path}/nvidia/*/"))


def cuda_environment():
    """Returns the environment in which the CUDA libraries are found; PyTorch's own come first."""
    folders = [folder + "lib" for folder in nvidia_folders()]
    folders += ["/usr/local/cuda/lib64", "/usr/local/cuda/targets/x86_64-linux/lib",
                "/usr/local/nvidia/lib64"]
    folders = [folder for folder in folders if os.path.isdir(folder)]
    already = os.environ.get("LD_LIBRARY_PATH")
    return {**os.environ, "LD_LIBRARY_PATH": ":".join(folders + ([already] if already else []))}


def in_folder(folder, origin):
    tests = {path.name: [path] for path in sorted((folder / "bin").glob("*_test_cuda"))}
    return Programs(folder / "bin/linnet", tests, origin, cuda_environment())


def unpack(archive, folder):
    """Unpacks it beside its place first, so that a killed run leaves no half."""
    new = folder.with_name(folder.name + ".new")
    shutil.rmtree(new, ignore_errors=True)
    with lzma.open(archive) as file, tarfile.open(fileobj=file, mode="r|") as tar:
        tar.extractall(new, **({"filter": "tar"} if hasattr(tarfile, "tar_filter") else {}))
    shutil.rmtree(folder, ignore_errors=True)
    new.rename(folder)


def from_bundle(check):
    """Returns the archive's programs, or None where there is no archive."""
    if (ROOT / "bin/linnet").exists():
        return in_folder(ROOT, "this bundle")
    if not ARCHIVE.exists():
        return None
    folder, began = check.work / "bundle", time.monotonic()
    unpack(ARCHIVE, folder)
    check.say(f"  {ARCHIVE.relative_to(ROOT)} is unpacked in {time.monotonic() - began:.1f} s")
    return in_folder(folder / "linnet-gpu", "the bundle")


def first(*paths):
    return next((path for path in paths if os.path.exists(path)), None)


def tool(name):
    """Returns the path of a program of the CUDA toolkit, or None."""
    profilers = sorted(glob.glob(f"/opt/nvidia/nsight-compute/*/{name}"))
    return shutil.which(name) or first(f"/usr/local/cuda/bin/{name}", *reversed(profilers),
                                       *(folder + f"bin/{name}" for folder in nvidia_folders()))


def configure_options(check, environment):
    """Returns CMake's arguments; adds to `environment` what the compilers need."""
    nvcc = tool("nvcc")
    if nvcc is None:
        raise Failed("there is no nvcc to build with")
    toolkit = Path(nvcc).resolve().parents[1]
    options = [f"-DCMAKE_CUDA_COMPILER={nvcc}", "-DLINNET_CUDA=ON", "-DCMAKE_BUILD_TYPE=Release",
               "-DLINNET_CUDA_CODE=arch=compute_90,code=[sm_90,compute_90]",
               "-DLINNET_PRECOMPILE=ON",
               # Debian's CMake packages of 2022 ask for less than CMake 4 gives without being told.
               "-DCMAKE_POLICY_VERSION_MINIMUM=3.5"]
    if DEPS.exists():
        deps = check.work / "deps"
        unpack(DEPS, deps)
        libraries = deps / "lib/x86_64-linux-gnu"
        # RPATH instead of RUNPATH: what a library of the archive needs is looked for there as well.
        flags = f"-Wl,--disable-new-dtags -Wl,-rpath-link,{libraries}"
        options += [f"-DCMAKE_PREFIX_PATH={deps}", f"-DCMAKE_BUILD_RPATH={libraries}",
                    f"-DCUDNN_FRONTEND_INCLUDE_DIR={deps}/include",
                    *(f"-DCMAKE_{kind}_LINKER_FLAGS={flags}"
                      for kind in ("EXE", "SHARED", "MODULE"))]
    folders = nvidia_folders()
    cudnn = first(*(folder + "include/cudnn.h" for folder in folders))
    if cudnn:
        options.append(f"-DLINNET_CUDNN_ROOT={Path(cudnn).parents[1]}")
    # nvcc's own folder may hold neither cuBLASLt's library nor its header.
    places = ("lib64", "lib", "targets/x86_64-linux/lib")
    if not first(*(toolkit / place / "libcublasLt.so" for place in places)):
        library = first(*(toolkit / place / "libcublasLt.so.13" for place in places),
                        *(folder + "lib/libcublasLt.so.13" for folder in folders))
        options += [f"-DCUDA_cublasLt_LIBRARY={library}"] if library else []
    places = ("include", "targets/x86_64-linux/include")
    if not first(*(toolkit / place / "cublasLt.h" for place in places)):
        header = first(*(folder + "include/cublasLt.h" for folder in folders))
        if header:
            environment["CPLUS_INCLUDE_PATH"] = os.path.dirname(header)
    return options


def build(check):
    """Builds the programs for one architecture. Needs nvcc, a C++ compiler, CMake and ninja."""
    folder, environment = check.work / "build", dict(os.environ)
    began = time.monotonic()
    for needed in ("cmake", "ninja", "c++"):
        if not shutil.which(needed):
            raise Failed(f"there is no {needed} to build with")
    command = ["cmake", "-S", ROOT, "-B", folder, "-G", "Ninja"]
    ended = check.run([*command, *configure_options(check, environment)], env=environment)
    if ended.status != 0:
        raise Failed(f"CMake: {ended.reason()}")
    known = check.run(["ninja", "-C", folder, "-t", "targets", "all"], env=environment, copy=False)
    jobs = str(min(len(os.sched_getaffinity(0)), 16))
    for targets in (TARGETS, sorted(set(TEST.findall(known.out)))):  # tests need not all be there
        ended = check.run(["ninja", "-C", folder, "-k", "0", "-j", jobs, *targets], env=environment)
        if ended.status == 0:
            continue
        if targets is TARGETS:
            raise Failed(f"ninja: {ended.reason()}")
        check.problem(f"ninja: {ended.reason()}")
    check.say(f"  built in {time.monotonic() - began:.0f} s")
    return in_folder(folder, "built here")


def get(check):
    """Takes the bundle's programs if they start here, and otherwise builds them."""
    if check.rehearsal:
        check.programs = check.rehearsal.programs()
        return
    check.programs = Programs(None, {}, "none", cuda_environment())
    try:
        found = from_bundle(check)
    except (OSError, EOFError, lzma.LZMAError, tarfile.TarError) as error:
        check.say(f"  the bundle can't be unpacked: {error}")
        found = None
    if found:
        check.programs = found
        why = broken(check)
        if why is None:
            return
        check.say(f"  the bundle's programs do not run here: {why}")
    check.end += BUILD_SECONDS
    check.programs = build(check)


def broken(check):
    """Says why the command or its plug-in can't be loaded, or None; no driver is not a reason."""
    ended = check.linnet("devices", "--json")
    if ended.status is None:  # libraries of gigabytes may take long to read for the first time
        return None
    if ended.status != 0:
        return ended.reason()
    why = json.loads(ended.out)["cuda"]["unusable"] or ""
    return why if "cannot open shared object" in why or "version `" in why else None
