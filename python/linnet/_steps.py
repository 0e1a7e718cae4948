# SPDX-License-Identifier: Apache-2.0
"""The loss of a step."""
from __future__ import annotations

import warnings


class Loss(float):
    """A number that may also be called: `loss` was a method of steps, an attribute of evaluations."""

    def __call__(self) -> float:
        warnings.warn("the loss of a step is a number: write 'loss' instead of 'loss()'", DeprecationWarning,
                      stacklevel=2)
        return float(self)
