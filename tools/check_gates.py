#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shows every call that only one file may make, since that file checks what goes through.

Each gate is a pattern, the files that may hold it, and what to call instead. Tests may call what
they like.
"""
import re
import sys
from pathlib import Path

from check_filesystem import without_comments

FOLDERS = ("src", "include", "apps", "python/src")
PRINTS = (r"\bfmt::print\s*\(|\bstd::(?:cout|cerr|clog)\b|"
          r"(?<![\w.>])(?:std::)?(?:f?printf|f?puts|f?putc|putchar|fwrite)\s*\(")
SYSTEM = (r"#\s*include\s*<(?:sys/\w+|arpa/\w+|netinet/\w+|net/\w+|unistd|fcntl|dlfcn|sched|pthread|poll|spawn|termios|"
          r"netdb|ifaddrs|malloc|windows|io|psapi)\.h>")
GATES = (
    # The depth of nesting is checked before anything copies or destroys what was parsed.
    (r"\b[Jj]son\w*(?:::|\.)(?:parse|sax_parse|accept)\s*\(|\bsax_parse\s*\(", ("src/base/json.h",
     "apps/linnet/serve/json_sections.cpp"),  # a request, which is never in memory as a whole
     "parses JSON; call parse_json() or json_or_null() of base/json.h"),
    (r"\btoml::parse(?:_file)?\s*\(", ("apps/linnet/config/config.cpp",),
     "parses TOML; call parse_toml() or read_toml() of config/config.h"),
    # Names of classes, columns, files and tensors are somebody else's text.
    (PRINTS, ("apps/linnet/report/print.cpp", "apps/linnet/report/terminal_line.cpp",
              "src/train/log_callback.cpp",  # the callback that writes to standard error, escaped
              "src/base/staged_folder.cpp",  # into files
              ),
     "prints; call print_out(), print_note() or print_line() of report/print.h"),
    # Windows has none of these: base/ asks the system, and the rest is left out there.
    (SYSTEM, ("src/base/anchored_file.cpp", "src/base/console.cpp", "src/base/console_windows.cpp",
              "src/base/file_calls_posix.h", "src/base/file_calls_windows.cpp", "src/base/file_calls_windows.h",
              "src/base/plugin.cpp", "src/base/process.cpp", "src/base/process_windows.cpp", "src/base/processors.cpp",
              "src/base/processors_windows.cpp", "src/base/signals_held.h", "src/base/user_cache.cpp",
              "apps/linnet/report/machine.cpp", "apps/linnet/report/machine_windows.cpp",
              # Not built for Windows:
              "src/backend/cpu/onednn.cpp", "src/backend/cpu/products/amx_tiles.cpp",
              "src/backend/cpu/products/int8_tiles.cpp", "src/backend/cuda/nccl_library.cpp", "src/dist/sockets.cpp",
              "src/dist/watch.cpp", "src/dist/engines/gloo_wire.cpp", "src/dist/engines/mpi_wire.cpp",
              "apps/linnet/commands/measure_memory.cpp", "apps/linnet/commands/rank_processes.cpp",
              "apps/linnet/commands/rank_processes.h", "apps/linnet/commands/serve.cpp", "apps/linnet/commands/side_by_side.cpp",
              "apps/linnet/serve/http_loop.cpp", "apps/linnet/serve/http_server.cpp", "apps/linnet/serve/listen.cpp",
              "apps/linnet/serve/served_model.cpp", "python/src/gil.cpp"),
     "asks the system; call file_calls.h, process.h, console.h or another header of base/"),
)


def check_text(text, name):
    """(line, what is wrong) of every call that `name` may not make."""
    if not any(re.search(gate[0], text) for gate in GATES):
        return []  # quickly
    text = without_comments(text)
    return [(text.count("\n", 0, match.start()) + 1, f"'{match.group().strip()}' {wrong}")
            for pattern, allowed, wrong in GATES if name not in allowed
            for match in re.finditer(pattern, text)]


def check(root):
    """The sentences about everything that is wrong below `root`."""
    root = Path(root)
    paths = [path for folder in FOLDERS for path in sorted((root / folder).rglob("*"))
             if path.suffix in (".cpp", ".h", ".cu", ".cuh") and not path.stem.endswith("_test")]
    return [f"{name}:{line}: {wrong}" for path in paths
            for name in [path.relative_to(root).as_posix()]
            for line, wrong in sorted(check_text(path.read_text(), name))]


def main():
    problems = check(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent)
    print("\n".join(problems + [f"Gates: {len(problems)} wrong."]) if problems
          else "Gates: every call goes through the file that checks it.")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
