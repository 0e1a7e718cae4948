// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/save_dataset.h>

#include "base/staged_folder.h"

namespace linnet {

// Each fills a folder that is not where it belongs yet.
void save_idx(const Splits& splits, const StagedFolder& folder, const SaveOptions& options);
void save_cifar(const Splits& splits, const StagedFolder& folder, const SaveOptions& options);
void save_images(const Splits& splits, const StagedFolder& folder, const SaveOptions& options);
void save_npy(const Splits& splits, const StagedFolder& folder, const SaveOptions& options);

/// Writes classes.txt; nothing where there are no names. Throws Error for a name that a line can't
/// hold.
void save_class_names(const Dataset& data, const StagedFolder& folder);

}  // namespace linnet
