#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shows every include that goes against the order of the layers, and every missing <cstdint>.

A file of src/ may include headers of its own layer and of the layers that its linnet_layer() call
names after DEPENDS; include/linnet/ includes nothing from src/, and src/ nothing from apps/ or
tests/. Tests that stand beside the code (*_test.cpp) are left out. In apps/linnet/, config/ and report/
include nothing from commands/.

A file belongs to the layer whose SOURCES names it, or names its .cpp; else to the one layer that
takes sources from its folder; else to the layer named like the folder of src/. In src/ops and in
the folders of src/fusions *_cpu.* and *_hwy.* belong to ops_cpu, *.cu, *.cuh, *_cuda.*, *_cublaslt.* and
*_cudnn.* to ops_cuda, *_function.* to nn, *_onnx.* to onnx, *_c.* to c_export, *_pass.* to fusions, and the rest to ops.
src/backend/cuda/plugin.cpp is the plug-in's own.

A header that names a fixed-width integer (std::int64_t) includes <cstdint> (of C: <stdint.h>). Any other file does too, or
one of the tree's headers that it includes: that another library's header brings it is chance.
"""
import re
import sys
from pathlib import Path

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]')
SUFFIXES = (".h", ".cpp", ".cu", ".cuh")
TOP = ("backend/cuda/plugin.cpp",)  # files that join all layers
GENERATED = "linnet/layers.h"  # by CMake: every header of include/linnet/layers/
OPERATOR_FILES = (("ops_cuda", r"(^cuda_kernels\.h|\.cuh?|_(cuda|cublaslt|cudnn)\.\w+)$"),
                  ("ops_cpu", r"(^cpu_kernels|_cpu|_hwy)\.\w+$"),
                  ("nn", r"_function\.\w+$"), ("onnx", r"_onnx\.\w+$"),
                  ("c_export", r"_c\.\w+$"), ("fusions", r"_pass\.\w+$"))
FIXED_WIDTH = re.compile(r"\bu?int(?:_fast|_least)?(?:8|16|32|64|max|ptr)_t\b")
FOLDERS = ("include", "src", "apps", "tests", "benchmarks", "examples", "tools")


def arguments(text, function, keywords):
    """Yields (name, {keyword: [words]}) of every call `function(name KEYWORD words...)`."""
    for call in re.findall(r"^\s*%s\s*\(([^)]*)\)" % function, text, re.MULTILINE):
        words, values, keyword = call.split(), {k: [] for k in keywords}, None
        for word in words[1:]:
            if word in keywords:
                keyword = word
            elif keyword:
                values[keyword].append(word)
        if words:
            yield words[0], values


class Layers:
    """The layers that the CMakeLists.txt files below src/ declare, and what belongs to them."""

    def __init__(self, src):
        self.src = Path(src)
        self.depends = {}   # layer: the layers it may include
        self.files = {}     # path below src/ without suffix: layer
        self.folders = {}   # folder below src/: layers that take sources from it
        for lists in sorted(self.src.rglob("CMakeLists.txt")):
            self._read(lists.parent.relative_to(self.src), re.sub(r"#.*", "", lists.read_text()))
        self._close_interfaces()

    def _read(self, folder, text):
        for name, values in arguments(text, "linnet_layer", ("SOURCES", "DEPENDS", "LINK")):
            self.depends[name] = set(values["DEPENDS"])
            for source in values["SOURCES"]:
                if "$" not in source:
                    self._own(folder / source, name)
        for name, values in arguments(text, "linnet_cuda_layer",
                                      ("SOURCES", "SIM", "VENDOR", "DEPENDS")):
            self.depends[name] = set(values["DEPENDS"])
            for source in values["SOURCES"] + values["VENDOR"]:
                if "$" not in source:
                    self._own(folder / source, name)
        # A layer of headers alone is an interface library.
        for name in re.findall(r"add_library\(linnet_(\w+)\s+INTERFACE\)", text):
            links = re.findall(r"target_link_libraries\(linnet_%s\s+INTERFACE([^)]*)\)" % name, text)
            self.depends[name] = {"interface", *re.findall(r"linnet_(\w+)", " ".join(links))}

    def _own(self, path, layer):
        self.files[path.with_suffix("").as_posix()] = layer
        self.folders.setdefault(path.parent.as_posix(), set()).add(layer)

    def _close_interfaces(self):
        """Interface layers name only the nearest layer: give them what that one may include."""
        for name in [n for n, below in self.depends.items() if "interface" in below]:
            below = self.depends[name] - {"interface"}
            for other in list(below):
                below |= self.depends.get(other, set())
            self.depends[name] = below

    def of(self, path):
        """The layer of a file by its path below src/; None for a file that stands in src/ itself."""
        parts = path.split("/")
        if len(parts) < 2:
            return None
        stem = str(Path(path).with_suffix(""))
        if stem in self.files:
            return self.files[stem]
        if parts[0] == "ops" or (parts[0] == "fusions" and len(parts) > 2):
            return next((layer for layer, names in OPERATOR_FILES if re.search(names, parts[-1])), "ops")
        folder = Path(path).parent
        while folder != Path("."):
            owners = self.folders.get(folder.as_posix(), set())
            if len(owners) == 1:
                return next(iter(owners))
            folder = folder.parent
        return parts[0]


def includes(path):
    """Yields (line number, header) of every include."""
    for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
        match = INCLUDE.match(line)
        if match:
            yield number, match.group(1)


def sources(folder):
    return sorted(p for p in folder.rglob("*") if p.suffix in SUFFIXES and p.is_file())


def check_layers(root):
    src = root / "src"
    layers = Layers(src)
    for path in sources(src):
        relative = path.relative_to(src).as_posix()
        own = layers.of(relative)
        if own is None or path.stem.endswith(("_test", "_testing")) or relative in TOP:
            continue
        if own not in layers.depends:
            yield f"src/{relative}: no CMakeLists.txt declares the layer '{own}'"
            continue
        for number, header in includes(path):
            place = f"src/{relative}:{number}: layer '{own}' includes \"{header}\""
            target = layers.of(header) if (src / header).is_file() else own
            if target != own and target not in layers.depends[own]:
                yield f"{place} of '{target}', which its DEPENDS does not name"
            if any((root / above / header).is_file() for above in ("apps", "tests")):
                yield f"{place}, which stands above the layers"


def check_command(root):
    for folder in ("config", "report"):
        for path in sources(root / "apps/linnet" / folder):
            for number, header in includes(path):
                if header.startswith("commands/"):
                    yield (f"{path.relative_to(root).as_posix()}:{number}: {folder}/ includes "
                           f"\"{header}\", which stands above it")


def check_public(root):
    for path in sources(root / "include"):
        for number, header in includes(path):
            if "/" in header and not header.startswith("linnet/") or (root / "src" / header).is_file():
                yield (f"{path.relative_to(root).as_posix()}:{number}: a public header includes "
                       f"\"{header}\"; expected linnet/*.h or the standard library")


class Cstdint:
    """Which files of the tree have <cstdint>, of themselves or by the tree's headers."""

    def __init__(self, root):
        self.root = root
        self.known = {}  # file: whether it has it

    def direct(self, path):
        return any(header in ("cstdint", "stdint.h") for _, header in includes(path))

    def reached(self, path):
        if path not in self.known:
            self.known[path] = False  # while headers that include each other are walked
            self.known[path] = self.direct(path) or any(
                self.reached(found) for _, header in includes(path) for found in self._find(path, header))
        return self.known[path]

    def _find(self, path, header):
        if header == GENERATED:
            return sorted((self.root / "include/linnet/layers").glob("*.h"))
        places = (path.parent, *(self.root / folder for folder in (*FOLDERS, "apps/linnet")))
        return [(place / header).resolve() for place in places if (place / header).is_file()][:1]


def check_integers(root):
    cstdint = Cstdint(root)
    for path in (p for folder in FOLDERS for p in sources(root / folder)):
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            name = FIXED_WIDTH.search(line.split("//")[0])
            if not name:
                continue
            header = path.suffix in (".h", ".cuh")
            if not (cstdint.direct(path) if header else cstdint.reached(path.resolve())):
                yield (f"{path.relative_to(root).as_posix()}:{number}: {name[0]} without "
                       "#include <cstdint>")
            break


def check(root):
    """The sentences about everything that is wrong in the tree at `root`."""
    root = Path(root)
    return [*check_layers(root), *check_command(root), *check_public(root),
            *check_integers(root)]


def main():
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent
    problems = check(root)
    print("\n".join(problems + [f"Includes: {len(problems)} wrong."]) if problems
          else "Includes: every file keeps to its layer and has its integers.")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
