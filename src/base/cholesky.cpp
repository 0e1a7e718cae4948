// SPDX-License-Identifier: Apache-2.0
#include "base/cholesky.h"

#include <cmath>
#include <utility>

namespace linnet {

Cholesky::Cholesky(std::vector<double> matrix, std::size_t n) : lower_(std::move(matrix)), n_(n) {
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = row(i)[j];
      for (std::size_t k = 0; k < j; ++k) sum -= row(i)[k] * row(j)[k];
      if (i == j) positive_ = positive_ && sum > 0;
      lower_[i * n + j] = i == j ? std::sqrt(sum) : sum / row(j)[j];
    }
  }
}

void Cholesky::solve(std::span<double> b) const {
  for (std::size_t i = 0; i < n_; ++i) {
    for (std::size_t k = 0; k < i; ++k) b[i] -= row(i)[k] * b[k];
    b[i] /= row(i)[i];
  }
  for (std::size_t i = n_; i-- > 0;) {
    for (std::size_t k = i + 1; k < n_; ++k) b[i] -= row(k)[i] * b[k];
    b[i] /= row(i)[i];
  }
}

}  // namespace linnet
