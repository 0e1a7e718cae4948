// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/export.h>
#include <linnet/layers/settings.h>

#include <cstdint>
#include <string>

LINNET_API_BEGIN
namespace linnet {

/// Looks up rows of a table by ids of i32. Weight (vocabulary, features). Ids
/// outside [0, vocabulary) give NaN.
struct Embedding {
  std::int64_t vocabulary = 0;  ///< rows of the table; at least 1
  std::int64_t features = 0;    ///< length of a row; at least 1
  /// Initial values of the table, by default PyTorch's; Keras's are {Initializer::Kind::uniform,
  /// 0.05}.
  Initializer weight_init = {Initializer::Kind::normal, 1};
  std::string name = {};  ///< unique in the network; empty: "embedding_1", ...
  void build(NetworkBuilder& builder) const;
};

}  // namespace linnet
LINNET_API_END
