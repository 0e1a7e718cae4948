# SPDX-License-Identifier: Apache-2.0
"""A small table beside the main one, the same in Markdown and on the page, and how rows of work are
called in it."""
from dataclasses import dataclass, field


def threads_of(row):
    """The threads of a row, where they were asked for."""
    if not row["threads"]:
        return ""
    return f", {row['threads']} thread{'s' if row['threads'] > 1 else ''}"


def title_of(row):
    return row["name"] + threads_of(row)


def work_of(row):
    return f"{title_of(row)}, batch {row['batch']}"


@dataclass(frozen=True)
class Table:
    title: str
    about: str   # what the figures are, in sentences
    head: tuple
    rows: list   # of tuples of words
    bars: dict = field(default_factory=dict)  # {title: [(engine, value)]}: the page draws these
    unit: str = ""                            # of the values

    def markdown(self):
        def line(cells):
            return "| " + " | ".join(str(cell).replace("|", "/") for cell in cells) + " |"
        return ["", f"## {self.title}", "", self.about, "", line(self.head),
                line("---" for _ in self.head), *map(line, self.rows)]
