# SPDX-License-Identifier: Apache-2.0
"""Figures that others have published for the workloads, on their own hardware. None of them was
measured by this project, and none can be compared with what it measures on another machine."""
from dataclasses import dataclass

import workloads


@dataclass(frozen=True)
class Table:
    workload: str   # as `linnet bench` names it
    title: str      # what was counted, on what
    head: list
    rows: list


TABLES = tuple(Table(name, **table) for name, entry in workloads.ALL.items()
               for table in entry.get("published", ()))
