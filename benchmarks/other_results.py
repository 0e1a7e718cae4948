# SPDX-License-Identifier: Apache-2.0
"""Results of other scripts than run.py, which say their "kind": where they are written, and what
their pages are made of."""
import json
from pathlib import Path

import c_file_tables
import machine
import result_name
import serve_load_tables

KINDS = {"c-file": c_file_tables, "serve-load": serve_load_tables}


def title(result):
    return f"{KINDS[result['kind']].TITLE}, {result['date']}"


def about(result):
    """The sentences before the tables."""
    computer, settings = result["machine"], result["settings"]
    times = settings["repetitions"]
    return [f"{computer['processor']}, {computer['processors']} processors, "
            f"{computer['memory_bytes'] / 2**30:.0f} GiB; Linnet {result['linnet']}; "
            f"{times} repetition{'s' if times > 1 else ''} in turn.",
            machine.load_words(result["load"]), result_name.versions_words(result)]


def tables(result):
    return KINDS[result["kind"]].tables(result)


def markdown(result):
    lines = [f"# {title(result)}", ""]
    for sentence in about(result):
        lines += [sentence, ""]
    lines = lines[:-1]
    for table in tables(result):
        lines += table.markdown()
    return "\n".join(lines + ["", "Commands:", "", "```sh", *result["commands"], "```", ""])


def write(result, path):
    """As path.json and path.md."""
    Path(f"{path}.json").write_text(json.dumps(result, indent=1) + "\n")
    Path(f"{path}.md").write_text(markdown(result))
    print(f"{path}.md")
