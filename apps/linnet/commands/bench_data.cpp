// SPDX-License-Identifier: Apache-2.0
#include "commands/bench_data.h"

#include <linnet/datasets.h>

#include <algorithm>
#include <vector>

#include "base/check.h"

namespace linnet::command {
namespace {

constexpr std::int64_t kImageSamples = 1280;       // of images too large to draw tens of thousands
constexpr std::int64_t kLargeImage = 64 * 64 * 3;  // in numbers
constexpr std::int64_t kSyntheticSamples = 50000;

BenchData synthetic(const Job& job, const BenchDataOptions& options, const std::string& reason) {
  const std::int64_t size = job.network.input_shape().elements();
  const std::int64_t samples =
      options.samples.value_or(size > kLargeImage ? kImageSamples : kSyntheticSamples);
  const auto draw = [&](std::int64_t count, std::uint64_t seed) {
    return datasets::synthetic(job.network, job.training.loss, count, seed);
  };
  BenchData data{.splits = {.train = draw(samples, options.seed + 1)}, .synthetic = reason};
  if (options.test)
    data.splits.test = draw(std::max<std::int64_t>(samples / 5, 1), options.seed + 2);
  return data;
}

}  // namespace

BenchData bench_data(const Job& job, const BenchDataOptions& options) {
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
