// SPDX-License-Identifier: Apache-2.0
#include "runtime/operands.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <span>

#include "base/check.h"
#include "base/finite.h"
#include "core/half.h"
#include "runtime/node_view.h"

namespace linnet {
namespace {

void* address_of(const Plan& plan, const Memory& memory, std::byte* constants, Value value) {
  const Placement& place = plan.values[static_cast<std::size_t>(value.id)];
  if (place.storage == Storage::external) return nullptr;
  if (place.storage == Storage::constant) return constants + place.offset;
  Buffer* buffer = memory[place.storage];
  LINNET_ASSERT(buffer != nullptr && place.offset + place.bytes <= buffer->bytes());
  return buffer->data() + place.offset;
}

}  // namespace

void Operands::attach(const Plan& plan, const Memory& memory, std::byte* constants) {
  const std::vector<Node>& nodes = plan.graph.nodes();
  nodes_.assign(nodes.size(), {});
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    for (Value v : nodes[n].inputs) {
      nodes_[n].inputs.push_back(address_of(plan, memory, constants, v));
    }
    for (Value v : nodes[n].outputs) {
      nodes_[n].outputs.push_back(address_of(plan, memory, constants, v));
    }
    if (plan.workspaces[n].bytes > 0) {
      nodes_[n].workspace = memory[Storage::arena]->data() + plan.workspaces[n].offset;
    }
  }
  attached_ = true;
  all_bound_ = false;
  for (std::size_t slot = 0; slot < bound_.size(); ++slot) set_external(plan, slot);
}

bool Operands::bind(const Plan& plan, std::size_t slot, const void* address) {
  LINNET_ASSERT(attached_);
  if (slot >= bound_.size()) bound_.resize(slot + 1);
  if (bound_[slot] == address) return false;
  bound_[slot] = address;
  if (address == nullptr) all_bound_ = false;
  set_external(plan, slot);
  return true;
}

void Operands::set_external(const Plan& plan, std::size_t slot) {
  const auto set = [&](const std::vector<Value>& values, std::vector<void*>& addresses) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const Placement& place = plan.values[static_cast<std::size_t>(values[i].id)];
      if (place.storage == Storage::external && place.offset == slot) {
        addresses[i] = const_cast<void*>(bound_[slot]);
      }
    }
  };
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    set(plan.graph.nodes()[n].inputs, nodes_[n].inputs);
    set(plan.graph.nodes()[n].outputs, nodes_[n].outputs);
  }
}

void Operands::require_bound(const Plan& plan) const {
  if (all_bound_) return;
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    if (!plan.runs(n)) continue;
    const Node& node = plan.graph.nodes()[n];
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      require(nodes_[n].inputs[i] != nullptr || plan.graph.type(node.inputs[i]).bytes() == 0,
              "[{} '{}'] input '{}' is bound to no memory", node.op->name(), node.name,
              plan.graph.info(node.inputs[i]).name);
    }
  }
  all_bound_ = true;
}

namespace {

/// Returns whether the operators' floats lie in memory as f64 (Capabilities::f64): a plan has f64
/// counters in any case.
bool holds_doubles(const Plan& plan) {
  return std::ranges::none_of(plan.graph.nodes(), [&](const Node& node) {
    return std::ranges::any_of(node.outputs,
                               [&](Value v) { return plan.graph.type(v).dtype == DType::f32; });
  });
}

/// Calls f(i, elements) for each output of floats, those in 16 bits too, that anybody reads. Not
/// for one with more room than its type has (PlanOptions::room): a kernel keeps there what it
/// likes.
template <class F>
void for_outputs_read(const Plan& plan, std::size_t n,
                      const std::function<const float*(std::size_t i)>& fetch, const F& f) {
  const Node& node = plan.graph.nodes()[n];
  const std::vector<bool> read = outputs_read(plan.graph, node);
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    const ValueType& type = plan.graph.type(node.outputs[i]);
    const bool half = type.dtype == DType::bf16 || type.dtype == DType::f16;
    const bool is_double = type.dtype == DType::f64 && holds_doubles(plan);
    if ((type.dtype != DType::f32 && !half && !is_double) || !read[i]) continue;
    const auto id = static_cast<std::size_t>(node.outputs[i].id);
    if (plan.values[id].bytes > type.bytes()) continue;
    const float* data = fetch(i);
    std::vector<float> widened;
    const auto elements = static_cast<std::size_t>(type.shape.elements());
    if (half) {
      const std::span halves(reinterpret_cast<const std::uint16_t*>(data), elements);
      std::ranges::transform(halves, std::back_inserter(widened),
                             type.dtype == DType::bf16 ? float_of_bf16 : float_of_f16);
      data = widened.data();
    } else if (is_double) {  // what is finite there may be none of f32's
      const std::span doubles(reinterpret_cast<const double*>(data), elements);
      std::ranges::transform(doubles, std::back_inserter(widened), [](double x) {
        return std::isfinite(x) ? 0.0F : static_cast<float>(x);
      });
      data = widened.data();
    }
    f(i, std::span(data, elements));
  }
}

}  // namespace

bool has_not_finite(const Plan& plan, std::size_t n,
                    const std::function<const float*(std::size_t i)>& fetch) {
  bool finite = true;
  for_outputs_read(plan, n, fetch, [&](std::size_t, std::span<const float> elements) {
    finite = finite && all_finite(elements);
  });
  return !finite;
}

void check_outputs(const Plan& plan, std::size_t n,
                   const std::function<const float*(std::size_t i)>& fetch) {
  const Node& node = plan.graph.nodes()[n];
  for_outputs_read(plan, n, fetch, [&](std::size_t i, std::span<const float> elements) {
    const auto bad = std::ranges::find_if(elements, [](float x) { return std::isnan(x); });
    if (bad == elements.end()) return;
    throw InternalError(
        fmt::format("[{} '{}'] has left element {} of output {} {} unwritten or NaN",
                    node.op->name(), node.name, bad - elements.begin(), i,
                    to_string(plan.graph.type(node.outputs[i]))));
  });
}

}  // namespace linnet
