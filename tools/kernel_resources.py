#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads what ptxas gave every kernel of a CUDA plug-in or object file: registers, stack, static
shared memory, and the threads a block that __launch_bounds__ declares.

A launch needs registers x threads <= 65,536 on every architecture, else the device refuses it. A
kernel without __launch_bounds__ counts with 256 threads: launches of more are refused by the
simulated device. Fails, naming the kernels, where one needs more. No tool of the toolkit is run:
cuobjdump is not everywhere where nvcc is.
"""
import argparse
import dataclasses
import pathlib
import struct
import sys

REGISTERS_OF_A_BLOCK = 65536
UNDECLARED_THREADS = 256  # as kUndeclaredThreads of tests/cuda_sim/launch_bounds.h
CUDA_MACHINE = 190
ENTRY = 0x10  # of a symbol's st_other: a kernel, not a function that kernels call
SIZED = 4  # format of an attribute that is followed by its size and value
MAX_THREADS, FRAME_SIZE, REGISTER_COUNT = 0x05, 0x11, 0x2F


@dataclasses.dataclass
class Kernel:
    name: str
    architecture: int
    registers: int = 0
    stack: int = 0
    shared: int = 0
    declared: int = 0  # threads; 0: none

    def threads(self):
        return self.declared or UNDECLARED_THREADS

    def registers_of_block(self):
        """Registers are given to whole warps, eight a thread at a time."""
        return -(-self.registers // 8) * 8 * -(-self.threads() // 32) * 32


class Elf:
    """The parts of one 64-bit little-endian ELF file in `data` at `start` that are needed here."""

    def __init__(self, data, start):
        self.data, self.start = data, start
        (self.flags,) = struct.unpack_from("<I", data, start + 48)
        table, = struct.unpack_from("<Q", data, start + 40)
        size, count, names = struct.unpack_from("<HHH", data, start + 58)
        headers = [struct.unpack_from("<IIQQQQIIQQ", data, start + table + i * size)
                   for i in range(count)]
        self.sections = {}
        for header in headers:
            name = self.text(headers[names][4] + header[0])
            self.sections[name] = (header[1], header[4], header[5])

    def text(self, offset):
        begin = self.start + offset
        return self.data[begin:self.data.index(b"\0", begin)].decode()

    def symbols(self):
        """(name, st_other) of every symbol."""
        _, offset, size = self.sections.get(".symtab", (0, 0, 0))
        strings = self.sections.get(".strtab", (0, 0, 0))[1]
        for at in range(self.start + offset, self.start + offset + size, 24):
            name, _, other = struct.unpack_from("<IBB", self.data, at)
            yield self.text(strings + name), other

    def attributes(self, section):
        """(attribute, words) of a section .nv.info*."""
        _, offset, size = self.sections.get(section, (0, 0, 0))
        at, end = self.start + offset, self.start + offset + size
        while at + 4 <= end:
            form, attribute, length = struct.unpack_from("<BBH", self.data, at)
            at += 4
            if form != SIZED:
                continue
            yield attribute, struct.unpack_from(f"<{length // 4}I", self.data, at)
            at += length


def kernels_of(elf):
    architecture = elf.flags >> 8 & 0xFF
    reserved = 1024 if architecture >= 80 else 0  # the driver's, in every block
    symbols = list(elf.symbols())
    kernels = {}
    for index, (name, other) in enumerate(symbols):
        if other & ENTRY:
            kernels[index] = Kernel(name, architecture)
    for attribute, words in elf.attributes(".nv.info"):
        if attribute == REGISTER_COUNT and words[0] in kernels:
            kernels[words[0]].registers = words[1]
        if attribute == FRAME_SIZE and words[0] in kernels:
            kernels[words[0]].stack = words[1]
    for kernel in kernels.values():
        shared = elf.sections.get(f".nv.shared.{kernel.name}")
        if shared:
            kernel.shared = max(shared[2] - reserved, 0)
        for attribute, words in elf.attributes(f".nv.info.{kernel.name}"):
            if attribute == MAX_THREADS:
                kernel.declared = words[0] * words[1] * words[2]
    return list(kernels.values())


def read_kernels(data):
    """All kernels of all architectures in a plug-in, an object file or a cubin."""
    kernels = []
    start = data.find(b"\x7fELF\x02\x01")
    while start >= 0:
        (machine,) = struct.unpack_from("<H", data, start + 18)
        if machine == CUDA_MACHINE:
            kernels += kernels_of(Elf(data, start))
        start = data.find(b"\x7fELF\x02\x01", start + 4)
    return kernels


def too_large(kernels):
    return [k for k in kernels if k.registers_of_block() > REGISTERS_OF_A_BLOCK]


def line(kernel):
    declared = kernel.declared or f"{UNDECLARED_THREADS} (undeclared)"
    return (f"sm_{kernel.architecture}  {kernel.registers:3} registers  {kernel.stack:5} bytes of "
            f"stack  {kernel.shared:6} shared  {declared} threads  {kernel.name}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    parser.add_argument("--table", action="store_true", help="print every kernel")
    options = parser.parse_args()
    kernels = [k for file in options.files for k in read_kernels(file.read_bytes())]
    if not kernels:
        sys.exit(f"no kernels in {', '.join(map(str, options.files))}")
    if options.table:
        for kernel in sorted(kernels, key=lambda k: (k.architecture, k.name)):
            print(line(kernel))
    bad = too_large(kernels)
    for kernel in bad:
        print(f"{line(kernel)}: {kernel.registers_of_block()} registers a block, a device has "
              f"{REGISTERS_OF_A_BLOCK}; declare __launch_bounds__", file=sys.stderr)
    architectures = sorted({k.architecture for k in kernels})
    print(f"{len(kernels)} kernels for {', '.join(f'sm_{a}' for a in architectures)}; the most "
          f"registers a block: {max(k.registers_of_block() for k in kernels)}")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
