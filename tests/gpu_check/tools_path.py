# SPDX-License-Identifier: Apache-2.0
"""Makes tools/gpu_check and what it stands on importable, for the tests."""
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FAKES = Path(__file__).resolve().parent / "fakes"
sys.path[:0] = [str(ROOT / each) for each in ("benchmarks", "tools", "tools/gpu_check")]
