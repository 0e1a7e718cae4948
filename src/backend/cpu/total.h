// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "backend/cpu/kernel.h"

namespace linnet::cpu {

/// Returns the scalar output 0 = `factor` * the sum of f(args, range) over equal ranges of `items`,
/// added up in double precision in a fixed order. f returns a double. Uses the workspace from byte
/// 0 on.
template <class F>
Kernel total(std::int64_t items, double cost_each, double factor, F f) {
  const int tasks = tasks_for(items, cost_each);
  Kernel kernel;
  if (tasks == 1) {
    kernel.stages.push_back(parallel(1, [=](const Args& args) {
      *args.out(kFirst) = static_cast<float>(factor * f(args, Range{0, items}));
    }));
    return kernel;
  }
  kernel.workspace_bytes = sizeof(double) * static_cast<std::size_t>(tasks);
  kernel.stages.push_back(
      parallel(tasks, items, [=](const Args& args, const Task& task, Range range) {
        args.work<double>()[task.index] = f(args, range);
      }));
  kernel.stages.push_back(parallel(1, [=](const Args& args) {
    double sum = 0;
    for (int t = 0; t < tasks; ++t) sum += args.work<double>()[t];
    *args.out(kFirst) = static_cast<float>(factor * sum);
  }));
  return kernel;
}

/// Returns the same where f computes sample by sample what `samples` lists, in parts of a batch.
template <class F>
Kernel sample_total(SampleStage samples, double cost_each, double factor, F f) {
  const int parts = sample_parts(samples.samples);
  Kernel kernel;
  kernel.workspace_bytes = sizeof(double) * static_cast<std::size_t>(parts);
  samples.run = [=](const Args& args, const Task& /*task*/, const SampleBlock& block) {
    double& sum = args.work<double>()[block.part];
    sum = (block.begins ? 0.0 : sum) + f(args, block.samples);
  };
  kernel.stages.push_back(over_samples(cost_each, std::move(samples)));
  kernel.stages.push_back(parallel(1, [=](const Args& args) {
    double sum = 0;
    for (int part = 0; part < parts; ++part) sum += args.work<double>()[part];
    *args.out(kFirst) = static_cast<float>(factor * sum);
  }));
  return kernel;
}

/// 1 / count, and 0 for an empty batch, whose loss is 0.
constexpr double mean_factor(std::int64_t count) {
  return count > 0 ? 1.0 / static_cast<double>(count) : 0.0;
}

}  // namespace linnet::cpu
