// SPDX-License-Identifier: Apache-2.0
#pragma once

// Layers over sequences that are done by layers over images of one row.
#include <linnet/layers/settings.h>

#include <string>
#include <string_view>

#include "base/check.h"
#include "nn/builder.h"
#include "ops/reshape/reshape.h"

namespace linnet {

/// Returns the left and right padding of sequences, which are images of one row.
inline Padding2d along_sequence(Padding2d padding) {
  padding.top = padding.bottom = 0;
  return padding;
}

/// Makes (N, T, C) images of one row, (N, 1, T, C). Throws Error where they are no sequences.
inline void sequence_to_image(NetworkBuilder& builder, std::string_view kind,
                              const std::string& layer) {
  const Shape x = builder.shape();
  require(x.rank() == 3, "[{} '{}'] expected sequences (N, T, C); got {}", kind, layer,
          to_string(x));
  if (builder.lengths()) fail_on_lengths(kind, layer, steps::kNeighbours);
  builder.apply(ReshapeOp({.shape = {-1, 1, x[1], x[2]}}), layer);
}
/// And (N, 1, T, C) sequences again.
inline void image_to_sequence(NetworkBuilder& builder, const std::string& layer) {
  const Shape x = builder.shape();
  builder.apply(ReshapeOp({.shape = {-1, x[2], x[3]}}), layer);
}

}  // namespace linnet
