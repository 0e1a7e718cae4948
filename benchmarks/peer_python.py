# SPDX-License-Identifier: Apache-2.0
"""The Python that a framework's peers run in: a virtual environment outside the project."""
import os
import re
import subprocess
import sys
from pathlib import Path

PEERS = Path(__file__).resolve().parent / "peers"


def cache():
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base, "linnet", "peers")


def find(framework):
    """The one that --install-peers made, else python3."""
    python = cache() / framework / "bin/python"
    return str(python) if python.exists() else "python3"


def installable():
    return sorted(path.parent.name for path in PEERS.glob("*/requirements.txt"))


def install(framework):
    """Makes the environment where it is missing, and installs what requirements.txt pins. Returns
    why it could not, or None."""
    folder = cache() / framework
    python = folder / "bin/python"
    print(f"installing {framework} into {folder}", file=sys.stderr, flush=True)
    try:
        if not python.exists():
            subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--requirement",
                        PEERS / framework / "requirements.txt"], check=True)
    except subprocess.CalledProcessError as error:
        return f"it could not be installed into {folder}: exit status {error.returncode} of " \
               f"{'pip' if python.exists() else 'venv'}"
    return None


def packages_bytes(python):
    """Of all packages in a virtual environment but pip; None of any other Python, whose packages
    are not the framework's alone."""
    try:
        process = subprocess.run(
            [python, "-c", "import sys, sysconfig; print(sys.prefix != sys.base_prefix, "
             "sysconfig.get_path('purelib'))"], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None
    own, _, folder = process.stdout.strip().partition(" ")
    if own != "True":
        return None
    return sum(path.lstat().st_size for path in Path(folder).rglob("*")
               if path.is_file() and path.relative_to(folder).parts[0] not in ("pip", "setuptools"))


def opened_later(program):
    """oneDNN's library, by the name in the program: Linnet opens it where a plan needs it, which ldd
    does not know."""
    try:
        names = set(re.findall(rb"libdnnl\.so\.\d+", Path(program).read_bytes()))
        listed = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True).stdout if names else ""
    except OSError:
        return set()
    return {Path(path) for name in names for path in re.findall(rf"{name.decode()} .*=> (/\S+)", listed)[:1]}


def loaded(program):
    """The shared libraries that a program loads, or may open later, the system's own too, as paths."""
    try:
        process = subprocess.run(["ldd", program], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return set()
    return {Path(path) for path in re.findall(r"(/\S+) \(0x", process.stdout)} | opened_later(program)


def program_bytes(program):
    """Of a program and every shared library that it loads."""
    paths = {path.resolve() for path in (*loaded(program), Path(program))}
    return sum(path.stat().st_size for path in paths)
