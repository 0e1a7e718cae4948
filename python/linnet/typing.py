# SPDX-License-Identifier: Apache-2.0
"""The types that signatures name: help() shows `data: Data`, and programs may write it, too."""
from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias, Union

from numpy.typing import ArrayLike, DTypeLike, NDArray

if TYPE_CHECKING:
    from ._linnet import Batch, Dataset

__all__ = ["Array", "ArrayLike", "DTypeLike", "Data", "PathLike"]

Array: TypeAlias = NDArray[Any]
"""An array of NumPy."""

PathLike: TypeAlias = Union[str, "os.PathLike[str]"]
"""The path of a file or a folder."""

_Columns: TypeAlias = Union[ArrayLike, Mapping[str, ArrayLike]]

Data: TypeAlias = Union["Dataset", "Batch", _Columns, tuple[_Columns, _Columns]]
"""A Dataset, a pair (inputs, targets), or inputs alone; both are an array or arrays by name."""
