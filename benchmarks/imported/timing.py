# SPDX-License-Identifier: Apache-2.0
"""Times one call."""
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))
from call_seconds import call_seconds  # noqa: E402


def least_seconds(call):
    """The least of a second's calls, at least 5, after 3: other work on the machine can only add to it."""
    return min(call_seconds(call, 1.0, untimed=3, least=5))
