# SPDX-License-Identifier: Apache-2.0
"""Results of other scripts than run.py, which say their "kind": where they are written, and what
their pages are made of."""
import datetime
import json
from pathlib import Path

import c_file_tables
import image_scores
import kernel_tables
import machine
import memory_tables
import portable
import rank_tables
import result_name
import series_scores
import serve_attack_tables
import serve_load_tables
import sketch_tables
import table_ensemble_scores
import table_scores

ROOT = Path(__file__).resolve().parents[1]
KINDS = {"c-file": c_file_tables, "images": image_scores, "kernels": kernel_tables, "memory": memory_tables, "ranks": rank_tables,
         "serve-attacks": serve_attack_tables, "serve-load": serve_load_tables, "series": series_scores, "sketch": sketch_tables,
         "table-ensembles": table_ensemble_scores, "tables": table_scores}
LINNET_HELP = "`cmake --build build/release --target linnet_command` builds it; --linnet names another"


def parsed(parser, kind):
    """Returns the options of a script whose results are of this kind, with --linnet and --out."""
    parser.add_argument("--linnet", default=str(ROOT / "build/release/bin/linnet"))
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks/results")
    options = parser.parse_args()
    if not Path(options.linnet).exists():
        parser.error(f"there is no {options.linnet}; {LINNET_HELP}")
    options.device, options.precision, options.kind, options.what = "cpu", "fp32", kind, kind
    options.data, options.flux, options.opennn = {}, None, None
    return options


def title(result):
    return f"{KINDS[result['kind']].TITLE}, {result['date']}"


def about(result):
    """The sentences before the tables."""
    computer, settings = result["machine"], result["settings"]
    times = settings["repetitions"]
    return [f"{computer['processor']}, {computer['processors']} processors, "
            f"{computer['memory_bytes'] / 2**30:.0f} GiB; Linnet {result['linnet']}; "
            f"{times} repetition{'s' if times > 1 else ''} in turn.",
            machine.load_words(result["load"], getattr(KINDS[result["kind"]], "DOUBTED", "figures")),
            result_name.versions_words(result)]


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


def save(options, at_start, runs, versions, settings, commands, **found):
    """Writes <out>/<date>-cpu-<isa>-<kind>.json and .md. at_start: the load average before `runs`."""
    sets, about_machine = result_name.instruction_sets(options), machine.about()
    linnet = machine.linnet_version(options.linnet)
    result = {"format": 1, "kind": options.kind,
              "date": datetime.datetime.now().isoformat(timespec="seconds"),
              "machine": about_machine, "instruction_sets": sets,
              "versions": {"linnet": {"linnet": linnet}, **versions}, "linnet": linnet,
              "settings": {"device": options.device, **settings},
              "load": machine.load_of(at_start, about_machine["processors"], runs),
              "workloads": [], **found, "commands": commands}
    result = portable.Words(options).result(result)
    options.out.mkdir(parents=True, exist_ok=True)
    path = result_name.place(options, sets)
    Path(f"{path}.json").write_text(json.dumps(result, indent=1) + "\n")
    Path(f"{path}.md").write_text(markdown(result))
    print(f"{path}.md")
