// SPDX-License-Identifier: Apache-2.0
#include "base/covariance.h"

#include <algorithm>

namespace linnet {

void Covariance::add(std::span<const double> vector) {
  if (count_++ == 0) std::ranges::copy(vector, first_.begin());
  for (std::size_t i = 0; i < n_; ++i) difference_[i] = vector[i] - first_[i];
  for (std::size_t i = 0; i < n_; ++i) {
    const double of = difference_[i];
    sum_[i] += of;
    double* const row = products_.data() + i * n_;
    for (std::size_t j = i; j < n_; ++j) row[j] += of * difference_[j];
  }
}

std::vector<double> Covariance::matrix() const {
  std::vector<double> all(n_ * n_);
  const auto count = static_cast<double>(count_);
  for (std::size_t i = 0; i < n_; ++i) {
    for (std::size_t j = i; j < n_; ++j) {
      const double mean = products_[i * n_ + j] / count;
      all[i * n_ + j] = all[j * n_ + i] = mean - sum_[i] / count * (sum_[j] / count);
    }
  }
  return all;
}

}  // namespace linnet
