# SPDX-License-Identifier: Apache-2.0
"""Model files as bytes, for pickles and databases."""
from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._linnet import Model


def to_bytes(model: Model) -> bytes:
    """Returns what model.save() writes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.safetensors"
        model.save(path)
        return path.read_bytes()


def from_bytes(data: bytes, options: dict[str, Any]) -> Model:
    """Returns the model of what to_bytes() returned; `options` are those of Model.load()."""
    from ._linnet import Error, Model
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.safetensors"
        path.write_bytes(data)
        try:
            return Model.load(path, **options)
        except Error as error:  # which names a file that nobody knows
            raise type(error)(str(error).replace(f"'{path}'", "the bytes of a model")) from None


def unpickled(data: bytes) -> Model:
    """Returns the model of a pickle."""
    return from_bytes(data, {})
