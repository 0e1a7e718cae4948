# SPDX-License-Identifier: Apache-2.0
"""Tables of other libraries as Linnet's: frames of pandas, polars and pyarrow, and Parquet files."""
from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable
from typing import Any

from ._linnet import Table, parse_table, read_table

PARQUET = (".parquet", ".pq", ".feather", ".arrow")


def _text(value: Any) -> str:
    """A field as read_table() takes it: what is missing is empty, numbers in full."""
    if value is None or value is False or value is True:
        return "" if value is None else ("true" if value else "false")
    if isinstance(value, float):
        return "" if value != value else repr(float(value))
    if hasattr(value, "isoformat"):  # a time; pandas' NaT has no time
        text = str(value)
        return "" if text == "NaT" else text
    text = str(value)
    return "" if text in ("<NA>", "nan", "None") else text


def _columns(frame: Any) -> tuple[list[str], list[Iterable[Any]]]:
    if hasattr(frame, "column_names") and hasattr(frame, "to_pydict"):  # pyarrow
        columns = frame.to_pydict()
        return list(columns), list(columns.values())
    if hasattr(frame, "columns") and hasattr(frame, "__getitem__"):  # pandas, polars
        names = list(frame.columns)
        return [str(name) for name in names], [frame[name].tolist() if hasattr(frame[name], "tolist")
                                               else frame[name].to_list() for name in names]
    if isinstance(frame, dict):
        return [str(name) for name in frame], [list(values) for values in frame.values()]
    raise TypeError("expected a Table, a path, a dict of columns or a frame of pandas, polars or pyarrow; got "
                    + type(frame).__name__)


def table(rows: Any) -> Table:
    """Returns the table of a frame, of a dict of columns, or of a file: CSV and TSV by Linnet itself,
    Parquet by pyarrow."""
    if isinstance(rows, (str, os.PathLike)):
        path = os.fspath(rows)
        if path.endswith(PARQUET):
            from pyarrow import feather, parquet
            read = parquet.read_table if path.endswith((".parquet", ".pq")) else feather.read_table
            return table(read(path))
        return read_table(path)
    names, columns = _columns(rows)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(names)
    for row in zip(*columns, strict=True):
        writer.writerow([_text(value) for value in row])
    return parse_table(out.getvalue(), type(rows).__name__, separator=",", header=True, decimal=".")
