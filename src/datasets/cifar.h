// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/dataset.h>

#include <cstdint>
#include <filesystem>

namespace linnet {

/// Returns whether a folder holds files named like CIFAR-10's (data_batch_*.bin, test_batch.bin) or
/// CIFAR-100's (train.bin, test.bin) binary version.
bool holds_cifar(const std::filesystem::path& folder);

/// Says which of CIFAR-100's two labels: the 100 classes, or the 20 groups of them.
enum class CifarLabels : std::uint8_t { fine, coarse };

struct CifarOptions {
  CifarLabels labels = CifarLabels::fine;
  std::int64_t train_samples = 0;  ///< as in DatasetOptions
  bool test = true;
};

/// Throws Error naming a batch file whose size is not a multiple of a record.
void check_cifar_batch(const std::filesystem::path& path);

/// CIFAR-10 or CIFAR-100 as (32, 32, 3) u8, source: Krizhevsky, "Learning
/// Multiple Layers of Features from Tiny Images", 2009. All data_batch_*.bin that are there are the
/// training set. Class names come from batches.meta.txt or fine_label_names.txt (or
/// coarse_label_names.txt) if there.
/// Throws Error naming the file that is missing, of a wrong size, or holds a wrong label, and for
/// coarse labels of CIFAR-10.
Splits load_cifar(const std::filesystem::path& folder, const CifarOptions& options = {});

}  // namespace linnet
