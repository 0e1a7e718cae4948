// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace linnet {

/// Solves systems with one symmetric positive definite matrix, by Cholesky's decomposition, in
/// double precision. For matrices of a few hundred rows.
class Cholesky {
 public:
  /// Decomposes a matrix (n, n), of which the lower triangle is read.
  Cholesky(std::vector<double> matrix, std::size_t n);

  /// Returns whether the matrix is positive definite: else solutions are not finite numbers.
  bool positive() const { return positive_; }
  /// Replaces b, n numbers, by the solution.
  void solve(std::span<double> b) const;

 private:
  std::span<const double> row(std::size_t i) const { return std::span(lower_).subspan(i * n_, n_); }

  std::vector<double> lower_;
  std::size_t n_;
  bool positive_ = true;
};

}  // namespace linnet
