// SPDX-License-Identifier: Apache-2.0
#include "commands/bench_data.h"

#include <linnet/datasets.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/check.h"
#include "config/images.h"

namespace linnet::command {
namespace {

constexpr std::int64_t kImageSamples = 1280;       // of images too large to draw tens of thousands
constexpr std::int64_t kLargeImage = 64 * 64 * 3;  // in numbers
constexpr std::int64_t kSyntheticSamples = 50000;
constexpr std::int64_t kSyntheticBatches = 64;  // of a configuration, whose network may be any

BenchData synthetic(const Job& job, const BenchDataOptions& options, const std::string& reason) {
  const auto enough = [&] {
    if (!job.configuration.empty()) return kSyntheticBatches * job.training.batch;
    return job.network.input_shape().elements() > kLargeImage ? kImageSamples : kSyntheticSamples;
  };
  const std::int64_t samples = options.samples ? *options.samples : enough();
  const auto draw = [&](std::int64_t count, std::uint64_t seed) {
    return datasets::synthetic(job.network, job.training.loss, count, seed);
  };
  BenchData data{.splits = {.train = draw(samples, options.seed + 1)}, .synthetic = reason};
  if (options.test)
    data.splits.test = draw(std::max<std::int64_t>(samples / 5, 1), options.seed + 2);
  return data;
}

BenchData of_configuration(const Job& job, const BenchDataOptions& options) {
  if (job.task->brings_data()) {
    require(!options.dataset && !options.samples,
            "--dataset and --samples are for data that [data] names; '{}' describes its own files",
            job.name);
    return {.splits = job.task->data()};
  }
  if (!options.dataset && job.data.empty()) {
    return synthetic(job, options, "the configuration names no data");
  }
  Job of = job;  // as a training reads it, but for held-out samples
  of.data = options.dataset.value_or(job.data);
  of.validation = 0;
  of.training.seed = options.seed;
  of.images.train_samples = options.samples.value_or(0);
  of.images.test = options.test;
  LoadedData loaded = load_data(of);
  print_notes(loaded.note);
  return {.splits = std::move(loaded.splits)};
}

}  // namespace

BenchData bench_data(const Job& job, const BenchDataOptions& options) {
  if (!job.configuration.empty()) return of_configuration(job, options);
  if (!options.dataset && job.forward_only) {
    return synthetic(job, options, "no --dataset is given");
  }
  BenchData data;
  try {
    LoadedData loaded =
        load_data(options.dataset.value_or(job.data), {.seed = options.seed,
                                                       .train_samples = options.samples.value_or(0),
                                                       .test = options.test});
    if (!loaded.note.empty()) return synthetic(job, options, "Fashion-MNIST is unavailable");
    data.splits = std::move(loaded.splits);
  } catch (const Error& error) {
    if (options.dataset) throw;
    return synthetic(job, options, error.what());
  }
  return data;
}

}  // namespace linnet::command
