// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/linnet.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace linnet::testing {

// What tests/fixtures/make_fixtures.py wrote about a model, and the same hash of names and indices,
// from which both sides compute weights and data.

inline constexpr std::size_t kProjections = 8;

/// Of a tensor: its L2 norm, and sums of its elements with signs from a hash.
struct TensorSummary {
  double norm = 0;
  std::array<double, kProjections> sums{};
};
TensorSummary summarise(const std::string& name, std::span<const float> values);
/// |a - b| / |b| as the sums tell it: the mean square of their differences is, in expectation, the
/// squared norm of the tensors' difference (within about a quarter, with eight of them).
double distance(const TensorSummary& a, const TensorSummary& b);

struct TorchTensor {
  std::string name;
  Shape shape = {};
  std::array<double, 2> start{};  ///< middle and radius of its uniform first elements
  TensorSummary gradient{};       ///< in the first step
  TensorSummary after{};          ///< the last step
  double change = 0;              ///< the norm of what the steps changed
};

struct TorchFixture {
  std::string samples;  ///< "u8", "f32" or "ids"
  std::string targets;  ///< "labels", "values" or "answers" (0 or 1)
  Shape sample = {};
  std::int64_t vocabulary = 0;  ///< of ids
  std::int64_t outputs = 0;     ///< 0: features, and no targets
  std::string seed;             ///< of samples and targets
  std::int64_t batch = 0;
  std::int64_t steps = 0;  ///< 0: forward only
  Optimizer optimizer;
  std::vector<double> losses;    ///< of every step
  TensorSummary outputs_before;  ///< of the first batch, in inference mode
  TensorSummary outputs_after;
  std::vector<TorchTensor> weights;
  std::vector<TorchTensor> statistics;
};
TorchFixture read_fixture(const std::filesystem::path& file);

/// The elements that a weight or a running statistic starts with.
std::vector<float> initial_values(const TorchTensor& tensor);
/// All samples and targets: a batch a step, and one at least. `first`: the first batch alone.
Dataset fixture_data(const TorchFixture& fixture, bool first = false);

}  // namespace linnet::testing
