// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace linnet {

/// Adds up the covariance of vectors of n numbers, in double precision and in the order in which
/// they come. Sums are of differences from the first vector, so a large mean costs no digits.
class Covariance {
 public:
  explicit Covariance(std::size_t n)
      : n_(n), first_(n), difference_(n), sum_(n), products_(n * n) {}

  void add(std::span<const double> vector);
  std::int64_t count() const { return count_; }
  /// Returns the covariance, n x n, divided by count().
  std::vector<double> matrix() const;

 private:
  std::size_t n_;
  std::int64_t count_ = 0;
  std::vector<double> first_;
  std::vector<double> difference_;
  std::vector<double> sum_;
  std::vector<double> products_;  ///< from the diagonal on, of each row
};

}  // namespace linnet
