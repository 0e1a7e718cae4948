// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/widen.h"

#include <string_view>
#include <vector>

namespace linnet::cpu {
namespace {

/// The operator that reads records (GatherBatchOp::kName), of a folder above this one.
constexpr std::string_view kGathers = "gather_batch";

}  // namespace

void widen(Graph& graph) {
  std::vector<bool> records(graph.value_count(), false);
  for (const Node& node : graph.nodes()) {
    if (node.op->name() != kGathers) continue;
    const Value data = node.inputs.front();
    records[static_cast<std::size_t>(data.id)] = graph.info(data).storage == Storage::external;
  }
  for (std::size_t v = 0; v < records.size(); ++v) {
    ValueType& type = graph.info(Value{static_cast<int>(v)}).type;
    if (type.dtype == DType::f32 && !records[v]) type.dtype = DType::f64;
  }
}

}  // namespace linnet::cpu
