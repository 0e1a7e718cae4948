# SPDX-License-Identifier: Apache-2.0
import struct
import unittest

import kernel_resources as resources


def sized(attribute, *words):
    return struct.pack("<BBH", 4, attribute, 4 * len(words)) + struct.pack(f"<{len(words)}I", *words)


def cubin(name, architecture, registers, threads=None, shared=0):
    """A CUDA ELF file with one kernel and a function that it calls."""
    strings = b"\0" + name.encode() + b"\0called\0"
    symbols = (struct.pack("<IBBHQQ", 0, 0, 0, 0, 0, 0) +
               struct.pack("<IBBHQQ", 1, 0x12, resources.ENTRY, 1, 0, 0) +
               struct.pack("<IBBHQQ", 2 + len(name), 0x12, 0, 1, 0, 0))
    info = (sized(resources.REGISTER_COUNT, 1, registers) + sized(resources.REGISTER_COUNT, 2, 255) +
            sized(resources.FRAME_SIZE, 1, 24))
    of_kernel = struct.pack("<BBH", 3, 0x19, 8) + sized(0x17, 0, 0, 0)
    if threads:
        of_kernel += sized(resources.MAX_THREADS, *threads)
    sections = [("", 0, b""), (".strtab", 3, strings), (".symtab", 2, symbols), (".nv.info", 1, info),
                (f".nv.info.{name}", 1, of_kernel), (f".nv.shared.{name}", 8, shared)]
    names = b"\0".join(s[0].encode() for s in sections) + b"\0.shstrtab\0"
    sections.append((".shstrtab", 3, names))
    body, headers = b"", b""
    for section, kind, content in sections:
        size = content if kind == 8 else len(content)
        headers += struct.pack("<IIQQQQIIQQ", names.index(section.encode() + b"\0") if section else 0,
                               kind, 0, 0, 64 + len(body), size, 0, 0, 1, 0)
        body += b"" if kind == 8 else content
    elf = (b"\x7fELF\x02\x01\x41\x08" + bytes(8) +
           struct.pack("<HHIQQQIHHHHHH", 2, resources.CUDA_MACHINE, 1, 0, 0, 64 + len(body),
                       0x6000004 | architecture << 8, 64, 0, 0, 64, len(sections),
                       len(sections) - 1))
    return elf + body + headers


class KernelResources(unittest.TestCase):
    def test_reads_what_ptxas_wrote(self):
        [kernel] = resources.read_kernels(cubin("sum", 90, 40, (512, 2, 1), 1024 + 4096))
        self.assertEqual(kernel, resources.Kernel("sum", 90, 40, 24, 4096, 1024))
        [kernel] = resources.read_kernels(cubin("sum", 75, 33, None, 4096))
        self.assertEqual((kernel.architecture, kernel.shared, kernel.threads()), (75, 4096, 256))

    def test_finds_every_architecture_in_a_file(self):
        data = b"\x7fELF\x02\x01" + bytes(80) + cubin("a", 75, 8) + b"between" + cubin("a", 90, 9)
        self.assertEqual([(k.architecture, k.registers) for k in resources.read_kernels(data)],
                         [(75, 8), (90, 9)])

    def test_a_block_must_have_its_registers(self):
        def refused(registers, threads):
            return bool(resources.too_large(resources.read_kernels(cubin("k", 90, registers, threads))))

        self.assertFalse(refused(64, (1024, 1, 1)))
        self.assertTrue(refused(65, (1024, 1, 1)))
        self.assertFalse(refused(255, None))
        self.assertTrue(refused(255, (288, 1, 1)))


if __name__ == "__main__":
    unittest.main()
