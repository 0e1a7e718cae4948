# SPDX-License-Identifier: Apache-2.0
"""Downloads for the library, by Python's own means: the extension module needs no libcurl."""
from __future__ import annotations

import time
import urllib.request


def download(url: str, limit: int) -> bytes:
    """Returns the bytes at an address; raises OSError or ValueError with the reason. Gives up after 15 s
    without a connection or an answer, or 15 minutes."""
    if not url.startswith(("http://", "https://", "file:")):
        raise ValueError("the address is neither of http, https nor file")
    until = time.monotonic() + 900
    pieces: list[bytes] = []
    size = 0
    with urllib.request.urlopen(url, timeout=15) as answer:
        while piece := answer.read(1 << 16):
            size += len(piece)
            if size > limit:
                raise ValueError(f"it has more than {limit} bytes")
            if time.monotonic() > until:
                raise OSError("it takes more than 15 minutes")
            pieces.append(piece)
    return b"".join(pieces)
