# SPDX-License-Identifier: Apache-2.0
"""Tables of other libraries as Linnet's: frames of pandas, polars and pyarrow, and Parquet files."""
from __future__ import annotations

import csv
import io
import os
from typing import Any

import numpy as np

from ._linnet import Table, parse_table, read_table

_PARQUET = (".parquet", ".pq")
_FEATHER = (".feather", ".arrow")


def is_columnar(path: str) -> bool:
    """Returns whether a file of this name is read by pyarrow."""
    return path.endswith(_PARQUET + _FEATHER)


def _text(value: Any) -> str:
    """A field as read_table() takes it: what is missing is empty, numbers in full."""
    if isinstance(value, str):
        return value
    if value is None or value is False or value is True:
        return "" if value is None else ("true" if value else "false")
    if isinstance(value, (float, np.floating)):
        return "" if value != value else (repr(float(value)) if isinstance(value, float) else str(value))
    if isinstance(value, np.bool_):
        return str(value).lower()
    text = str(value)
    return "" if text in ("<NA>", "NaT") else text


def _columns(frame: Any) -> list[tuple[str, list[Any]]]:
    """Names and values of the columns, also of several of one name, which read_table() refuses."""
    if hasattr(frame, "column_names") and hasattr(frame, "to_pydict"):  # pyarrow
        return [(name, column.to_pylist()) for name, column in zip(frame.column_names, frame.columns)]
    if hasattr(frame, "get_columns"):  # polars
        return [(column.name, column.to_list()) for column in frame.get_columns()]
    if hasattr(frame, "iloc") and hasattr(frame, "columns"):  # pandas
        return [(str(name), frame.iloc[:, i].tolist()) for i, name in enumerate(frame.columns)]
    if isinstance(frame, dict):
        return [(str(name), list(values)) for name, values in frame.items()]
    raise TypeError("expected a Table, a path, a dict of columns or a frame of pandas, polars or pyarrow; got "
                    + type(frame).__name__)


def table(rows: Any) -> Table:
    """Returns the table of a frame, of a dict of columns, or of a file: CSV and TSV by Linnet itself,
    Parquet by pyarrow."""
    if isinstance(rows, (str, os.PathLike)):
        path = os.fspath(rows)
        if is_columnar(path):
            try:
                from pyarrow import feather, parquet
            except ImportError as missing:
                raise ImportError(f"reading '{path}' needs pyarrow: pip install pyarrow") from missing
            read = parquet.read_table if path.endswith(_PARQUET) else feather.read_table
            return table(read(path))
        return read_table(path)
    columns = _columns(rows)
    for name, values in columns:
        if len(values) != len(columns[0][1]):
            raise ValueError(f"expected columns of one length; '{columns[0][0]}' has {len(columns[0][1])} values, "
                             f"'{name}' has {len(values)}")
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([name for name, _ in columns])
    for row in zip(*(values for _, values in columns)):
        writer.writerow([_text(value) for value in row])
    return parse_table(out.getvalue(), type(rows).__name__, separator=",", header=True, decimal=".")
