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
  std::string synthetic = {};  ///< why they are not real ones, or empty
};

/// Returns what `linnet bench` runs on: the data of the workload or configuration, or, where these
/// are unavailable or none are named and no others were asked for, synthetic ones in the shape that
/// the network takes, with a fifth as many for the test. Fewer samples than there are are spread
/// evenly over them: files may hold one class after the other. Throws Error where `dataset` or what
/// a configuration names cannot be read.
BenchData bench_data(const Job& job, const BenchDataOptions& options);

}  // namespace linnet::command
