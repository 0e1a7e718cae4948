// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/dataset.h>
#include <linnet/export.h>

#include <cstdint>
#include <optional>

LINNET_API_BEGIN
namespace linnet {

/// Says how oversample() repeats samples.
struct OversampleOptions {
  /// Least number of samples of each class, as a share of those of the most frequent class, in
  /// (0, 1]. 1: all classes have as many.
  double share = 1;
  std::uint64_t seed = 0;  ///< seed of the samples that are repeated once more than others
  /// Label whose samples are no class: they stay as they are.
  std::optional<std::int32_t> ignore_index = {};
};

/// Repeats samples of rare classes, for a training set alone. Returns all samples of `data` in
/// their order, then the repetitions. Each sample of a class is repeated equally often, to within
/// one repetition; which ones are, is a function of the seed, the same on every machine. Records in
/// memory are copied as Dataset::take() does, those of a source are read when a batch needs them.
/// Weights of samples are kept. Returns `data` where no class is rare. Throws Error for data
/// without one label a sample (values, several labels, labels of steps or pixels), and for a share
/// outside (0, 1].
Dataset oversample(const Dataset& data, const OversampleOptions& options = {});

}  // namespace linnet
LINNET_API_END
