// SPDX-License-Identifier: Apache-2.0
#include "plan/passes/graph_copy.h"

#include <utility>

namespace linnet {

Value GraphCopy::of(Value old) {
  const auto [found, is_new] = made_of_.try_emplace(old.id);
  if (is_new) {
    const ValueInfo& info = old_.info(old);
    found->second = made_.add_value(info.name, info.type, info.storage, info.offset);
    made_.info(found->second) = info;
  }
  return found->second;
}

void GraphCopy::add_unwritten() {
  for (std::size_t v = 0; v < old_.value_count(); ++v) {
    const Value value{static_cast<int>(v)};
    if (old_.info(value).storage != Storage::arena && old_.producer(value) == nullptr) of(value);
  }
}

std::vector<Value> GraphCopy::add(const OpPtr& op, std::vector<Value> inputs,
                                  const std::string& name, const std::vector<Value>& outputs) {
  std::vector<Value> made = made_.add(op, std::move(inputs), name);
  for (std::size_t i = 0; i < made.size(); ++i) {
    const ValueInfo& info = old_.info(outputs[i]);
    made_.info(made[i]).name = info.name;
    made_.info(made[i]).storage = info.storage;
    made_.info(made[i]).offset = info.offset;
    set(outputs[i], made[i]);
  }
  return made;
}

void GraphCopy::add_as_it_was(const Node& node) {
  std::vector<Value> inputs;
  for (Value v : node.inputs) inputs.push_back(of(v));
  add(node.op, std::move(inputs), node.name, node.outputs);
}

}  // namespace linnet
