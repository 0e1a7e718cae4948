# SPDX-License-Identifier: Apache-2.0
"""As much of NumPy as benchmarks/peers/common/peer.py asks for when it is imported."""
uint8 = float32 = int32 = None
