# SPDX-License-Identifier: Apache-2.0
import unittest

import check_early_kernels

FIRST = """template <class T>
__global__ void __launch_bounds__(kBlock)
    add(const T* x, T* y) {
  wait_for_previous();  // before x is read
  *y += *x;
}
"""


class CheckEarlyKernels(unittest.TestCase):
    def test_takes_a_first_statement(self):
        self.assertEqual(check_early_kernels.check_text(FIRST), [])

    def test_refuses_a_later_one(self):
        later = FIRST.replace("  wait", "  const T one = *x;\n  wait")
        self.assertEqual(check_early_kernels.check_text(later), [5])

    def test_refuses_a_function_that_is_no_kernel(self):
        self.assertEqual(check_early_kernels.check_text(FIRST.replace("__global__", "__device__")),
                         [4])


if __name__ == "__main__":
    unittest.main()
