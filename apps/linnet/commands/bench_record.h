// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/model.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "commands/bench_data.h"
#include "config/device.h"
#include "config/options.h"
#include "config/workloads.h"
#include "report/json.h"
#include "report/timed_run.h"

namespace linnet::command {

struct BenchOptions {
  GivenOptions given;
  std::string network;  ///< a configuration file or a workload
  std::string mode;
  std::optional<double> to_accuracy;
  std::string data = "resident";
  BenchDataOptions wanted;
  std::optional<std::uint64_t> data_seed;
  DeviceOptions on;
  std::optional<std::int64_t> batch;
  std::int64_t shards = 0;
  bool side_by_side = false;
  bool recompute = false;
  bool int8 = false;
  std::vector<std::string> disabled_passes;
  std::optional<std::int64_t> epochs;
  std::optional<std::int64_t> warmup;
  std::optional<int> threads;
  std::uint64_t seed = 0;
  std::string json;
  std::string export_folder;

  bool infer() const { return mode == "infer"; }
  bool streamed() const { return data == "streamed"; }
};

/// Returns the record of a measurement, without its key "to_accuracy".
Json bench_json(const Job& job, const BenchOptions& options, const Model& model,
                const BenchData& data, const TimedRun& run);
/// Returns the record's "to_accuracy": seconds of reading, start-up, training and tests, and their
/// sum.
Json race_json(const Race& race, double wanted, double reading);
/// Returns the record as people read it.
std::string bench_text(const Json& json, bool synthetic);

}  // namespace linnet::command
