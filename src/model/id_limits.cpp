// SPDX-License-Identifier: Apache-2.0
#include "model/id_limits.h"

#include <algorithm>

#include "base/check.h"
#include "model/check_values.h"
#include "ops/gather/gather.h"
#include "ops/reshape/reshape.h"
#include "ops/transpose/transpose.h"
#include "plan/passes/match.h"

namespace linnet {
namespace {

/// Returns the input that `ids` are, perhaps in another order or under another shape.
Value read_from(const Graph& graph, Value ids) {
  for (const Node* node = graph.producer(ids);
       op_as<ReshapeOp>(node) != nullptr || op_as<CopyOp>(node) != nullptr ||
       op_as<TransposeOp>(node) != nullptr;
       node = graph.producer(ids)) {
    ids = node->inputs.front();
  }
  return ids;
}

std::span<const std::int32_t> as_ids(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const std::int32_t*>(bytes.data()), bytes.size() / sizeof(std::int32_t)};
}

}  // namespace

std::size_t first_outside(std::span<const std::int32_t> ids, const IdLimit& limit) {
  std::uint32_t largest = 0;  // negative ids are the largest
  for (const std::int32_t id : ids) largest = std::max(largest, static_cast<std::uint32_t>(id));
  if (largest < limit.rows) return ids.size();
  const auto outside = [&](std::int32_t id) { return id < 0 || id >= limit.rows; };
  return static_cast<std::size_t>(std::ranges::find_if(ids, outside) - ids.begin());
}

void refuse_id(const IdLimit& limit, std::int32_t id, const std::string& place) {
  require<DataError>(limit.rows > 0, "{} has the id {}; the embedding '{}' has no rows", place, id,
                     limit.reader);
  fail<DataError>("{} has the id {}; the embedding '{}' expects 0 to {}", place, id, limit.reader,
                  limit.rows - 1);
}

std::vector<IdLimit> id_limits(const NetworkDefinition& network) {
  std::vector<IdLimit> limits;
  for (const Node& node : network.graph.nodes()) {
    if (node.op->name() != GatherOp::kName) continue;
    const Value ids = read_from(network.graph, node.inputs[GatherOp::In::indices]);
    const auto input = std::ranges::find(network.inputs, ids, &NetworkInput::value);
    if (input == network.inputs.end()) continue;
    const auto place = static_cast<std::size_t>(input - network.inputs.begin());
    const std::int64_t rows = network.graph.shape(node.inputs[GatherOp::In::table])[0];
    const auto known = std::ranges::find(limits, place, &IdLimit::input);
    if (known == limits.end()) {
      limits.push_back({.input = place, .reader = node.name, .rows = rows});
    } else if (rows < known->rows) {
      *known = {.input = place, .reader = node.name, .rows = rows};
    }
  }
  std::ranges::sort(limits, {}, &IdLimit::input);
  return limits;
}

void check_ids(const NetworkDefinition& network, std::span<const IdLimit> limits,
               std::span<const std::span<const std::byte>> inputs, std::uint64_t first) {
  for (const IdLimit& limit : limits) {
    if (limit.input >= inputs.size()) continue;
    const NetworkInput& input = network.inputs[limit.input];
    const std::span<const std::int32_t> ids = as_ids(inputs[limit.input]);
    const auto width = static_cast<std::size_t>(input.sample.elements());
    std::size_t stride = ids.size();  // checked at once
    std::span<const std::int32_t> lengths;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (network.sequences_of(i) != limit.input) continue;
      lengths = as_ids(inputs[i]);
      stride = width;
    }
    for (std::size_t at = 0; at < ids.size(); at += stride) {
      std::size_t count = stride;
      if (!lengths.empty()) {
        const std::size_t step = width / static_cast<std::size_t>(input.sample[0]);
        count = std::min(width, static_cast<std::size_t>(lengths[at / width]) * step);
      }
      const std::size_t bad = at + first_outside(ids.subspan(at, count), limit);
      if (bad == at + count) continue;
      refuse_id(limit, ids[bad],
                place_of(first * width + bad, input.sample,
                         fmt::format("the input '{}'", input.name)));
    }
  }
}

}  // namespace linnet
