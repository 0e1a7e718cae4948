// SPDX-License-Identifier: Apache-2.0
#include "bench_data.h"

#include <algorithm>
#include <vector>

#include "base/check.h"
#include "synthetic_data.h"

namespace linnet::command {
namespace {

constexpr std::int64_t kImageSamples = 1280;       // of images too large to draw tens of thousands
constexpr std::int64_t kLargeImage = 64 * 64 * 3;  // in numbers
constexpr std::int64_t kSyntheticSamples = 50000;
constexpr std::int64_t kMnistSamples = 10000;  // of the published run

template <class T>
void keep_records(std::vector<T>& values, std::int64_t records, std::int64_t kept) {
  if (records == 0) return;
  const std::size_t each = values.size() / static_cast<std::size_t>(records);
  for (std::int64_t i = 0; i < kept; ++i) {
    const auto from = static_cast<std::ptrdiff_t>(each) * (i * records / kept);
    std::copy_n(values.begin() + from, each,
                values.begin() + static_cast<std::ptrdiff_t>(each) * i);
  }
  values.resize(each * static_cast<std::size_t>(kept));
  values.shrink_to_fit();
}

void thin_out(Dataset& data, std::int64_t samples) {
  const std::int64_t records = data.size();
  if (samples >= records) return;
  require(data.source == nullptr,
          "--samples takes a part of data in memory; '{}' is read from files", data.name);
  keep_records(data.bytes, records, samples);
  keep_records(data.floats, records, samples);
  keep_records(data.ids, records, samples);
  keep_records(data.labels, records, samples);
  keep_records(data.values, records, samples);
}

BenchData synthetic(const Job& job, const BenchDataOptions& options, const std::string& reason) {
  const std::int64_t size = job.network.input_shape().elements();
  const std::int64_t samples = options.samples.value_or(job.name == "mnist-cnn" ? kMnistSamples
                                                        : size > kLargeImage    ? kImageSamples
                                                                             : kSyntheticSamples);
  const auto draw = [&](std::int64_t count, std::uint64_t seed) {
    return synthetic_data(job.network, job.training.loss, count, seed);
  };
  BenchData data{.parts = {.train = draw(samples, options.seed + 1), .test = {}},
                 .synthetic = reason};
  if (options.test)
    data.parts.test = draw(std::max<std::int64_t>(samples / 5, 1), options.seed + 2);
  return data;
}

}  // namespace

BenchData bench_data(const Job& job, const BenchDataOptions& options) {
  if (!options.dataset && job.forward_only) {
    return synthetic(job, options, "no --dataset was given");
  }
  BenchData data;
  try {
    LoadedData loaded = load_data(options.dataset.value_or(job.data), options.seed);
    if (!loaded.note.empty()) return synthetic(job, options, "Fashion-MNIST is not to be had");
    data.parts = std::move(loaded.parts);
  } catch (const Error& error) {
    if (options.dataset) throw;
    return synthetic(job, options, error.what());
  }
  if (!options.test) data.parts.test = {};
  const std::int64_t published = job.name == "mnist-cnn" ? kMnistSamples : data.parts.train.size();
  thin_out(data.parts.train, options.samples.value_or(published));
  return data;
}

}  // namespace linnet::command
