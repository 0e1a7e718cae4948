// SPDX-License-Identifier: Apache-2.0
#include "base/eigen.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace linnet {
namespace {

constexpr int kMostPasses = 50;        // some ten are enough
constexpr double kNegligible = 1e-18;  // beside the largest element: a rotation changes no bit

/// Turns rows p and q: (c p - s q, s p + c q).
void turn(std::span<double> p, std::span<double> q, double c, double s) {
  for (std::size_t i = 0; i < p.size(); ++i) {
    const double x = p[i];
    const double y = q[i];
    p[i] = c * x - s * y;
    q[i] = s * x + c * y;
  }
}

}  // namespace

Eigen symmetric_eigen(std::vector<double> matrix, std::size_t n) {
  std::vector<double> vectors(n * n);
  for (std::size_t i = 0; i < n; ++i) vectors[i * n + i] = 1;
  const auto row = [n](std::vector<double>& of, std::size_t i) {
    return std::span(of).subspan(i * n, n);
  };
  double largest = 0;
  for (const double value : matrix) largest = std::max(largest, std::abs(value));
  bool turned = true;
  for (int pass = 0; pass < kMostPasses && turned; ++pass) {
    turned = false;
    for (std::size_t p = 0; p + 1 < n; ++p) {
      for (std::size_t q = p + 1; q < n; ++q) {
        const double off = matrix[p * n + q];
        if (std::abs(off) <= kNegligible * largest) continue;
        turned = true;
        // Golub and Van Loan, "Matrix computations", 8.5: the smaller of both angles.
        const double tau = (matrix[q * n + q] - matrix[p * n + p]) / (2 * off);
        const double t = (tau >= 0 ? 1 : -1) / (std::abs(tau) + std::sqrt(1 + tau * tau));
        const double c = 1 / std::sqrt(1 + t * t);
        const double s = t * c;
        turn(row(matrix, p), row(matrix, q), c, s);
        for (std::size_t i = 0; i < n; ++i) {
          const double x = matrix[i * n + p];
          const double y = matrix[i * n + q];
          matrix[i * n + p] = c * x - s * y;
          matrix[i * n + q] = s * x + c * y;
        }
        matrix[p * n + q] = matrix[q * n + p] = 0;
        turn(row(vectors, p), row(vectors, q), c, s);
      }
    }
  }
  Eigen found;
  found.values.resize(n);
  found.vectors.resize(n * n);
  for (std::size_t i = 0; i < n; ++i) {
    const double value = matrix[i * n + i];
    std::size_t place = 0;  // after all that are larger, and equal ones before it
    for (std::size_t j = 0; j < n; ++j) {
      const double other = matrix[j * n + j];
      if (other > value || (other == value && j < i)) ++place;
    }
    double component = 0;
    for (const double each : row(vectors, i)) {
      if (std::abs(each) > std::abs(component)) component = each;
    }
    found.values[place] = value;
    for (std::size_t j = 0; j < n; ++j) {
      const double each = vectors[i * n + j];
      found.vectors[place * n + j] = component < 0 ? -each : each;
    }
  }
  return found;
}

}  // namespace linnet
