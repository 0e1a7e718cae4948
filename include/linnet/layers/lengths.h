// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/export.h>
#include <linnet/layers/settings.h>

#include <string>

LINNET_API_BEGIN
namespace linnet {

/// Declares sequences of different lengths, padded at their ends; it is the first
/// layer. The network gets a further input "input.lengths", i32 (N, 1): the lengths of
/// the data set's column (Column::lengths). Recurrent layers end after the last step
/// that counts and give 0 after it (PyTorch's pack_padded_sequence); attention,
/// GlobalAvgPool1d and GlobalMaxPool1d use only steps that count. Layers that compute
/// each step separately pass the lengths on; one that would read padding as data
/// (Conv1d, BatchNorm, Flatten, ...) throws Error. Padding, even NaN, does not affect
/// outputs and gradients.
struct Lengths {
  std::string name = {};  ///< unique in the network; empty: "lengths_1", "lengths_2", ...
  void build(NetworkBuilder& builder) const;
};

}  // namespace linnet
LINNET_API_END
