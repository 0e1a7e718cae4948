// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/export.h>
#include <linnet/layers/settings.h>

#include <string>

LINNET_API_BEGIN
namespace linnet {

/// Adds a trained weight (T, features) to sequences, so that later layers can tell steps apart.
struct PositionalEmbedding {
  /// Initial values of the weight, by default normal with a std of 0.02.
  Initializer weight_init = {Initializer::Kind::normal, 0.02};
  std::string name = {};  ///< unique in the network; empty: "positional_embedding_1", ...
  void build(NetworkBuilder& builder) const;
};

}  // namespace linnet
LINNET_API_END
