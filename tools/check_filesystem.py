#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shows every call of std::filesystem that throws its own exception and takes no error code.

Its text ("filesystem error: status: ...") is not a sentence for a user, who would read "internal
error". A call passes when its last argument is a std::error_code that the file declares. Looked at
are functions of std::filesystem, queries of directory entries, loops over and steps of its
iterators, and names brought in without their namespace. Tests may throw what they like.
"""
import re
import sys
from pathlib import Path

FOLDERS = ("src", "include", "apps", "examples")
FUNCTIONS = ("absolute", "canonical", "weakly_canonical", "relative", "proximate", "copy",
             "copy_file", "copy_symlink", "create_directory", "create_directories",
             "create_directory_symlink", "create_hard_link", "create_symlink", "current_path",
             "directory_entry", "directory_iterator", "recursive_directory_iterator", "equivalent",
             "exists", "file_size", "hard_link_count", "is_block_file", "is_character_file",
             "is_directory", "is_empty", "is_fifo", "is_other", "is_regular_file", "is_socket",
             "is_symlink", "last_write_time", "permissions", "read_symlink", "remove", "remove_all",
             "rename", "resize_file", "space", "status", "symlink_status", "temp_directory_path")
MEMBERS = ("file_size", "hard_link_count", "is_block_file", "is_character_file", "is_directory",
           "is_fifo", "is_other", "is_regular_file", "is_socket", "is_symlink", "last_write_time",
           "symlink_status", "increment")
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
STRING = re.compile(r"""'(?:\\.|[^'\\\n])'|"(?:\\.|[^"\\\n])*\"""")


def without_comments(text):
    """The same lines, with nothing in comments and strings."""
    def blank(match):
        return re.sub(r"[^\n]", " ", match.group())
    return COMMENT.sub(blank, STRING.sub(lambda m: '"' + " " * (len(m.group()) - 2) + '"', text))


def arguments(text, start):
    """The arguments of the call whose bracket opens at `start`, at the top level."""
    depth, found, begin = 0, [], start + 1
    for at in range(start, len(text)):
        if text[at] in "([{":
            depth += 1
        elif text[at] in ")]}":
            depth -= 1
        if depth == 0 or (depth == 1 and text[at] == ","):
            found.append(text[begin:at].strip())
            begin = at + 1
        if depth == 0:
            break
    return [each for each in found if each]


def check_text(text):
    """(line, what is called) of every call that throws."""
    text = without_comments(text)
    aliases = ["std::filesystem"] + re.findall(r"\bnamespace (\w+)\s*=\s*std::filesystem\b", text)
    codes = set(re.findall(r"\bstd::error_code\s*&?\s*(\w+)", text))
    namespace = "(?:" + "|".join(map(re.escape, aliases)) + ")"
    found = []
    names = "|".join(FUNCTIONS)
    # A type that declares a variable counts as well: `fs::directory_iterator entry(folder, error)`.
    calls = re.compile(rf"(?<![\w:]){namespace}::({names})\b(?:\s+\w+)?\s*([({{])"
                       rf"|(?:\.|->)({'|'.join(MEMBERS)})\s*(\()")
    for match in calls.finditer(text):
        name = match.group(1) or match.group(3)
        given = arguments(text, match.end() - 1)
        end_of_iteration = name.endswith("directory_iterator") and not given
        if not end_of_iteration and not (given and given[-1] in codes):
            found.append((match.start(), f"{name}()"))
    for match in re.finditer(rf"\bfor\s*\([^;()]*:\s*{namespace}::\w*directory_iterator", text):
        found.append((match.start(), "a loop over directory_iterator"))
    for name in re.findall(rf"{namespace}::\w*directory_iterator\s+(\w+)", text):
        for match in re.finditer(rf"\+\+\s*{name}\b|\b{name}\s*\+\+", text):
            found.append((match.start(), f"++{name}"))
    names = r"\busing\s+(?:namespace\s+std::filesystem|std::filesystem::\w+)"
    for match in re.finditer(names, text):
        found.append((match.start(), match.group()))
    return sorted({(text.count("\n", 0, at) + 1, what) for at, what in found})


def check(root):
    """The sentences about everything that is wrong below `root`."""
    root = Path(root)
    paths = [path for folder in FOLDERS for path in sorted((root / folder).rglob("*"))
             if path.suffix in (".cpp", ".h", ".cu", ".cuh") and not path.stem.endswith("_test")]
    return [f"{path.relative_to(root).as_posix()}:{line}: {what} throws std::filesystem's own "
            "error; give it a std::error_code last and say what failed"
            for path in paths for line, what in check_text(path.read_text())]


def main():
    problems = check(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent)
    print("\n".join(problems + [f"std::filesystem: {len(problems)} wrong."]) if problems
          else "std::filesystem: every call takes an error code.")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
