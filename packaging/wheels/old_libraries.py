#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes link-time stubs of an older glibc: old_libraries.py FOLDER [--glibc 2.28] [--prefix aarch64-linux-gnu-].

glibc keeps every version of every symbol, so today's library says what an older one had: of each symbol a stub defines
the newest version that is not above the limit. What is linked with `-L FOLDER` then asks for these versions alone,
and a symbol that is newer is an error of the linker. compat.c, start.c and streams.c have what headers, archives and start files of
today need and the older library lacks. A stub has no code: only the linker reads it."""
import argparse
import re
import subprocess
import tempfile
from collections import defaultdict
from pathlib import Path

LOADER = {"x86_64": "ld-linux-x86-64.so.2", "aarch64": "ld-linux-aarch64.so.1"}
# Before 2.34 these were libraries of their own; a system of that age has to load them.
MOVED = {"libpthread.so.0": r"_*(pthread|sem)_(?!atfork)",
         "libdl.so.2": r"dl(open|mopen|sym|vsym|close|error|info|addr1?)$", "librt.so.1": r"(shm|mq|aio|timer|lio)_"}
COMPAT = ("__libc_start_main", "stdin", "stdout", "stderr")  # of start.c and streams.c, which use the library's own
LIBGCC = "7.0.0"  # of GCC 8, which came with glibc 2.28
LINES = re.compile(r"^\s*\d+:\s+\S+\s+(\S+)\s+(\S+)\s+(\S+)\s+(\S+)\s+(\S+)\s+(\S+?)@+(\S+)$")


def number(version):
    return tuple(int(part) for part in version.split("."))


def symbols(readelf, library, limits):
    """Returns name -> (version, type, size) of what `library` defines at the newest version within `limits`."""
    text = subprocess.run([readelf, "--dyn-syms", "--wide", library], check=True, capture_output=True, text=True).stdout
    found = {}
    for line in text.splitlines():
        match = LINES.match(line)
        if not match:
            continue
        size, kind, bind, _, section, name, version = match.groups()
        family, _, digits = version.partition("_")
        if section == "UND" or family not in limits or not re.fullmatch(r"[\d.]+", digits) or bind == "LOCAL":
            continue
        if kind != "NOTYPE" and number(digits) <= number(limits[family]):
            known = found.get(name)
            if known is None or number(known[0].partition("_")[2]) < number(digits):
                found[name] = (version, kind, int(size, 0))
    return found


def write_stub(gcc, path, chosen):
    """Links `path`, a shared library of that name which defines `chosen`."""
    places = {"FUNC": ".text", "OBJECT": '.section .bss,"aw",%nobits', "TLS": '.section .tbss,"awT",%nobits'}
    types = {"FUNC": "function", "OBJECT": "object", "TLS": "tls_object"}
    lines, nodes = [], defaultdict(list)
    for index, (name, (version, kind, size)) in enumerate(sorted(chosen.items())):
        own, kind, at = f"stub_{index}", "FUNC" if kind == "IFUNC" else kind, "@" if name in COMPAT else "@@"
        lines += [places[kind], f".globl {own}", f".type {own},%{types[kind]}", f"{own}: .zero {max(size, 1)}",
                  f".size {own},{max(size, 1)}", f".symver {own},{name}{at}{version}"]
        nodes[version].append(name)
    script = [f"{version} {{ global: {'; '.join(names)}; }};\n" for version, names in sorted(nodes.items())]
    with tempfile.TemporaryDirectory() as work:
        source, exported = Path(work, "stub.s"), Path(work, "stub.map")
        source.write_text("\n".join(lines) + "\n", encoding="utf-8")
        # One node's `local` is for all.
        exported.write_text("".join([*script[:-1], script[-1].replace(" };", " local: *; };")]), encoding="utf-8")
        subprocess.run([gcc, "-shared", "-nostdlib", "-fPIC", "-o", path, source, f"-Wl,--version-script={exported}",
                        f"-Wl,-soname,{path.name}"], check=True)


def make(folder, glibc, prefix):
    gcc, readelf = f"{prefix}gcc", f"{prefix}readelf"

    def ask(*arguments):
        return subprocess.run([gcc, *arguments], check=True, capture_output=True, text=True).stdout.strip()

    machine = ask("-dumpmachine").partition("-")[0]
    loader = LOADER[machine]
    limits = {"GLIBC": glibc}
    folder.mkdir(parents=True, exist_ok=True)
    stubs = {name: {} for name in MOVED}
    stubs["libc.so.6"] = symbols(readelf, ask("-print-file-name=libc.so.6"), limits)
    for name, pattern in MOVED.items():
        for symbol in [s for s in stubs["libc.so.6"] if re.match(pattern, s)]:
            stubs[name][symbol] = stubs["libc.so.6"].pop(symbol)
    stubs["libm.so.6"] = symbols(readelf, ask("-print-file-name=libm.so.6"), limits)
    stubs["libgcc_s.so.1"] = symbols(readelf, ask("-print-file-name=libgcc_s.so.1"), {"GCC": LIBGCC})
    stubs[loader] = symbols(readelf, ask(f"-print-file-name={loader}"), limits)
    for name, chosen in stubs.items():
        write_stub(gcc, folder / name, chosen)
    versions = [f'-DLINNET_{key}="{stubs["libc.so.6"][name][0]}"'
                for key, name in (("START", "__libc_start_main"), ("STREAMS", "stderr"))]
    archive = folder / "libcompat.a"
    archive.unlink(missing_ok=True)
    objects = []
    for name in ("compat", "start", "streams"):
        objects.append(folder / f"{name}.o")
        subprocess.run([gcc, "-std=gnu11", "-O2", *versions, "-fPIC", "-fvisibility=hidden", "-Wall", "-Wextra", "-Werror",
                        "-c", Path(__file__).with_name(f"{name}.c"), "-o", objects[-1]], check=True)
    subprocess.run([f"{prefix}ar", "rcs", archive, *objects], check=True)
    rest = ask("-print-file-name=libc_nonshared.a")
    moved = " ".join(str(folder / name) for name in [*MOVED, loader])
    scripts = {"libc.so": f"GROUP ( {folder}/libc.so.6 {archive} {rest} AS_NEEDED ( {moved} ) )",
               "libm.so": f"INPUT ( {folder}/libm.so.6 )", "libgcc_s.so": f"GROUP ( {folder}/libgcc_s.so.1 -lgcc )",
               "libpthread.so": f"INPUT ( AS_NEEDED ( {folder}/libpthread.so.0 ) )",
               "libdl.so": f"INPUT ( AS_NEEDED ( {folder}/libdl.so.2 ) )",
               "librt.so": f"INPUT ( AS_NEEDED ( {folder}/librt.so.1 ) )"}
    for name, text in scripts.items():
        (folder / name).write_text(f"/* GNU ld script */ {text}\n", encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--glibc", default="2.28")
    parser.add_argument("--prefix", default="", help="of a cross compiler's programs")
    arguments = parser.parse_args()
    make(arguments.folder.resolve(), arguments.glibc, arguments.prefix)
