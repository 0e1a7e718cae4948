// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "nn/definition.h"

namespace linnet {

/// The smallest embedding that reads an input of ids, which its ids must be rows of.
struct IdLimit {
  std::size_t input = 0;  ///< place among the network's inputs
  std::string reader;     ///< the embedding's layer
  std::int64_t rows = 0;  ///< ids are from 0 to rows - 1
};

/// Returns those of a network, by input; inputs that no embedding reads have none.
std::vector<IdLimit> id_limits(const NetworkDefinition& network);

/// Returns the place of the first id outside the embedding; ids.size(): all are inside.
std::size_t first_outside(std::span<const std::int32_t> ids, const IdLimit& limit);

/// Throws DataError for an id outside; `place` says where it stands.
[[noreturn]] void refuse_id(const IdLimit& limit, std::int32_t id, const std::string& place);

/// Throws DataError naming row, column and input for an id of a batch outside its embedding.
/// Padding may hold anything where the input has lengths. `inputs`: the memory of all inputs.
/// `first`: the row of the first sample.
void check_ids(const NetworkDefinition& network, std::span<const IdLimit> limits,
               std::span<const std::span<const std::byte>> inputs, std::uint64_t first);

}  // namespace linnet
