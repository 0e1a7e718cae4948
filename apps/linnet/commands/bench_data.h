// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/dataset.h>

#include <cstdint>
#include <optional>
#include <string>

#include "config/workloads.h"

namespace linnet::command {

struct BenchDataOptions {
  std::optional<std::string> dataset;   ///< a folder or a name; else the workload's
  std::optional<std::int64_t> samples;  ///< at most so many for training; else all
  std::uint64_t seed = 0;               ///< of what is drawn, and of a split by patient
  bool test = false;                    ///< the test set too
};

struct BenchData {
  Splits splits;
  std::string synthetic;  ///< why they are not real ones, or empty
};

/// Returns what `linnet bench` runs on: the workload's data, or, where they are unavailable and no
/// others were asked for, synthetic ones in their shape, with a fifth as many for the test. Fewer
/// samples than there are are spread evenly over them: files may hold one class after the other.
/// Throws Error where `dataset` cannot be read.
BenchData bench_data(const Job& job, const BenchDataOptions& options);

}  // namespace linnet::command
