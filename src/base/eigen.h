// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

namespace linnet {

/// Eigenvalues of a symmetric matrix, the largest first, and their vectors of length 1.
struct Eigen {
  std::vector<double> values;
  std::vector<double> vectors;  ///< row i belongs to value i; its largest component is positive
};

/// Returns those of a symmetric matrix, n x n and finite, by Jacobi's cyclic rotations: accurate to
/// some n * 1e-16 of the largest value, in about 30 n^3 operations. Equal matrices give equal bits.
Eigen symmetric_eigen(std::vector<double> matrix, std::size_t n);

}  // namespace linnet
