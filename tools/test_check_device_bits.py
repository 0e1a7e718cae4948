# SPDX-License-Identifier: Apache-2.0
import tempfile
import unittest
from pathlib import Path

import check_device_bits

KERNEL = '#include "base/random.h"\n__global__ void f(int* x) { *x = 1; }\n'
HEADER = "// as std::bit_width() does\nint bits(unsigned x) {{ return {}(x); }}\n"


class CheckDeviceBits(unittest.TestCase):
    def check(self, function, kernel=KERNEL):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in (("base/random.h", HEADER.format(function)), ("ops/f.cu", kernel)):
                path = Path(folder, "src", name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            return check_device_bits.check(folder)

    def test_takes_own_functions_and_bit_cast(self):
        self.assertEqual(self.check("bit_width"), [])
        self.assertEqual(self.check("std::bit_cast<int>"), [])

    def test_refuses_what_a_header_of_a_kernel_calls(self):
        for function in ("std::bit_width", "std::popcount", "std::countl_zero"):
            self.assertEqual(
                self.check(function),
                [f"src/base/random.h:2: {function}() in a file that nvcc compiles; base/bits.h "
                 "has one that is right there"])

    def test_takes_headers_that_no_kernel_includes(self):
        self.assertEqual(self.check("std::bit_width", "__global__ void f(int* x) { *x = 1; }\n"), [])


if __name__ == "__main__":
    unittest.main()
