#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Looks at subjects of commits: `scope: what it does`, at most 72 characters, and an empty line before the
body. check_commits.py looks at those after SINCE, merges apart, or says that this clone does not have it;
check_commits.py --message FILE at one message (./dev hooks).
"""
import subprocess
import sys
from pathlib import Path

# Older subjects stay as they are.
SINCE = "99a8926b785b3a503571df270d902faf86fcd02f"
MOST = 72
OWN_WORDS = ("Merge ", "Revert ", "fixup! ", "squash! ", "amend! ")  # git's


def problems(message):
    """What is wrong with a message, a sentence each."""
    subject, *rest = message.splitlines() or [""]
    if subject.startswith(OWN_WORDS):
        return []
    found = []
    if len(subject) > MOST:
        found.append(f"the subject has {len(subject)} characters; at most {MOST} are asked for: move the rest to the body")
    scope, colon, said = subject.partition(": ")
    if not (scope and colon and said.strip()):
        found.append("expected `scope: what it does` as the subject, e.g. `serve: close idle connections`")
    if rest and rest[0].strip():
        found.append("expected an empty line between the subject and the body")
    return found


def without_comments(text):
    """A message as git keeps it: what the editor showed as comments, and the patch below them, left out."""
    text = text.partition("\n# ------------------------ >8 ------------------------\n")[0]
    return "\n".join(line for line in text.splitlines() if not line.startswith("#")).strip()


def git(root, *words):
    try:
        process = subprocess.run(["git", "-C", root, *words], capture_output=True, text=True, check=False)
    except FileNotFoundError:  # a copy on a machine without git
        return None
    return process.stdout if process.returncode == 0 else None


def check_history(root, since=SINCE):
    """The number of commits after `since`, and (commit, subject, problem) of each fault; None where it is not there."""
    if git(root, "merge-base", "--is-ancestor", since, "HEAD") is None:
        return None
    log = git(root, "log", "--no-merges", "--format=%h%x00%B%x00%x00", f"{since}..HEAD")
    commits = [entry.strip("\n").split("\0", 1) for entry in log.split("\0\0") if entry.strip()]
    return len(commits), [(name, (message.splitlines() or [""])[0], problem)
                          for name, message in commits for problem in problems(message)]


def main(arguments):
    if len(arguments) == 2 and arguments[0] == "--message":
        found = problems(without_comments(Path(arguments[1]).read_text(encoding="utf-8")))
        for problem in found:
            print(f"commit message: {problem}", file=sys.stderr)
        return 1 if found else 0
    if arguments:
        sys.exit("usage: check_commits.py [--message FILE]")
    checked = check_history(Path(__file__).resolve().parents[1])
    if checked is None:
        print(f"Commits: not looked at; this copy does not hold {SINCE[:8]} and what follows it.")
        return 0
    count, found = checked
    for name, subject, problem in found:
        print(f"{name} '{subject}': {problem}")
    if not found:
        print(f"Commits: the subjects of {count} since {SINCE[:8]} are short.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
