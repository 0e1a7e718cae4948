# SPDX-License-Identifier: Apache-2.0
"""Names the nearest argument where a call gives one that does not exist."""
from __future__ import annotations

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from ._linnet import _unknown_key  # type: ignore[attr-defined]  # stubs have no private names

P = ParamSpec("P")
R = TypeVar("R")


def spelled(function: Callable[P, R]) -> Callable[P, R]:
    """Returns the function with a TypeError of the library's form for keywords that it does not take."""
    code = function.__code__
    known = code.co_varnames[:code.co_argcount + code.co_kwonlyargcount]
    owner = function.__qualname__.removesuffix(".__init__")

    @functools.wraps(function)
    def checked(*given: P.args, **named: P.kwargs) -> R:
        for name in named:
            if name not in known:
                raise TypeError(_unknown_key(owner, name, [one for one in known if one != "self"]))
        return function(*given, **named)

    return checked
