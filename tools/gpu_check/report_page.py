# SPDX-License-Identifier: Apache-2.0
"""The page of results, written anew after each phase from the files of results."""
import os

import gpu_report
from check import BENCHMARKS, NUMERICS, PHASES, REPORT


def rows(check, name):
    path = check.out / name
    return gpu_report.lines(path) if path.exists() else []


def page(check):
    text = ["# A machine with one GPU", ""]
    if check.rehearsal:
        text += ["**A rehearsal on the simulated device: no number here says anything of speed.**",
                 ""]
    text += ["| phase | result | seconds | of |", "| --- | --- | --- | --- |"]
    lines = rows(check, PHASES)
    text += [f"| {line['phase']} | {line['result']} | {line['seconds']} | {line['limit']} |"
             for line in lines]
    problems = [f"- {line['phase']}: {problem}" for line in lines for problem in line["problems"]]
    text += ["", "## Problems", "", *(problems or ["None."])]
    curves = list(gpu_report.curves(rows(check, NUMERICS)))
    if curves:
        text += ["", "## Loss curves", "", *(f"- {line}" for _, line in curves)]
    speeds = rows(check, BENCHMARKS)
    if speeds:
        text += ["", "## Speed", "", *gpu_report.table(speeds)]
    return "\n".join(text) + "\n"


def write(check):
    new = check.out / (REPORT + ".new")
    new.write_text(page(check))
    os.replace(new, check.out / REPORT)
