#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Packs wheels anew by libdeflate, whose best level is 4 % smaller than zlib's: repack.py WHEEL...

Contents, names, dates and modes stay; the same wheel gives the same bytes. Needs the package `deflate` (requirements.txt)."""
import struct
import sys
import zipfile
from pathlib import Path

import deflate

LEVEL = 12  # libdeflate's best
LOCAL, CENTRAL, END = b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06"


def repack(path):
    """Replaces the wheel by one with the same contents."""
    written = bytearray()
    directory = bytearray()
    with zipfile.ZipFile(path) as wheel:
        names = wheel.infolist()
        for info in names:
            data = wheel.read(info)
            packed = bytes(deflate.deflate_compress(data, LEVEL))
            method = zipfile.ZIP_DEFLATED if len(packed) < len(data) else zipfile.ZIP_STORED
            packed = packed if method else data
            name = info.filename.encode("utf-8")
            year, month, day, hour, minute, second = info.date_time
            flags = 0 if name.isascii() else 0x800  # names in UTF-8
            # PKWARE's APPNOTE 4.3.7: what local header and directory share.
            shared = struct.pack("<HHHHHLLLHH", 20, flags, method, hour << 11 | minute << 5 | second // 2,
                                 year - 1980 << 9 | month << 5 | day, info.CRC, len(packed), len(data), len(name), 0)
            directory += CENTRAL + struct.pack("<H", 3 << 8 | 20) + shared + struct.pack(  # 3: modes of Unix
                "<HHHLL", 0, 0, 0, info.external_attr, len(written)) + name
            written += LOCAL + shared + name + packed
    end = END + struct.pack("<HHHHLLH", 0, 0, len(names), len(names), len(directory), len(written), 0)
    path.write_bytes(written + directory + end)


if __name__ == "__main__":
    for wheel in sys.argv[1:]:
        repack(Path(wheel))
