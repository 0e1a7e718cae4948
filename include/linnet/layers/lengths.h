// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/export.h>
#include <linnet/layers/settings.h>

#include <string>

LINNET_API_BEGIN
namespace linnet {

/// Stands first in a network of sequences that differ in length and are padded at their ends. The
/// network reads how many steps of each count as a further input "input.lengths", i32 (N, 1): the
/// lengths of the data set's column (Column::lengths). Recurrent layers then end after the last
/// step that counts and give 0 after it (PyTorch's pack_padded_sequence), attention gives weight to
/// steps that count alone, and so do GlobalAvgPool1d and GlobalMaxPool1d. Layers that work on each
/// step alone hand the lengths on; one that would take padding for data (Conv1d, BatchNorm,
/// Flatten, ...) throws Error that says so. Whatever lies in the padding, NaN too, has no part in
/// outputs and gradients.
struct Lengths {
  std::string name = {};  ///< unique in the network; empty: "lengths_1", "lengths_2", ...
  void build(NetworkBuilder& builder) const;
};

}  // namespace linnet
LINNET_API_END
