// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>

#include "plan/passes/passes.h"

namespace linnet {
namespace {

/// Values of the arena that are stored in 16 bits, all of them until a kernel refuses. A value and
/// its views are one.
class StoredValues {
 public:
  StoredValues(Graph& graph, DType half, const Supports& supports)
      : graph_(graph),
        half_(half),
        supports_(supports),
        roots_(graph.value_count()),
        nodes_of_(roots_.size()) {
    std::iota(roots_.begin(), roots_.end(), 0);
    for (const Node& node : graph_.nodes()) {
      if (node.op->is_view()) roots_[id(node.outputs.front())] = roots_[id(node.inputs.front())];
    }
    stored_.assign(roots_.size(), true);
    for (std::size_t v = 0; v < roots_.size(); ++v) {
      if (!can_be_stored(graph_.info(Value{static_cast<int>(v)}))) stored_[roots_[v]] = false;
    }
    for (std::size_t n = 0; n < graph_.nodes().size(); ++n) {
      for (const std::size_t root : stored_roots(graph_.nodes()[n])) nodes_of_[root].push_back(n);
    }
  }

  void find() {
    std::vector<std::size_t> asked(graph_.nodes().size());
    std::iota(asked.rbegin(), asked.rend(), 0);  // the first one is the last to be popped
    while (!asked.empty()) {
      const std::size_t n = asked.back();
      asked.pop_back();
      for (const std::size_t root : refused(graph_.nodes()[n])) {
        stored_[root] = false;
        asked.insert(asked.end(), nodes_of_[root].begin(), nodes_of_[root].end());
      }
    }
    for (std::size_t v = 0; v < roots_.size(); ++v) {
      if (stored_[roots_[v]]) graph_.info(Value{static_cast<int>(v)}).type.dtype = half_;
    }
  }

 private:
  static std::size_t id(Value value) { return static_cast<std::size_t>(value.id); }

  /// What has a row for each sample; weights, statistics and their gradients have other storages or
  /// their operators refuse.
  static bool can_be_stored(const ValueInfo& value) {
    return value.storage == Storage::arena && value.producer >= 0 &&
           value.type.dtype == DType::f32 && value.type.shape.rank() > 1;
  }

  /// Returns the roots of a node's stored operands and results.
  std::vector<std::size_t> stored_roots(const Node& node) const {
    std::vector<std::size_t> roots;
    for (const std::vector<Value>* values : {&node.inputs, &node.outputs}) {
      for (const Value v : *values) {
        const std::size_t root = roots_[id(v)];
        if (stored_[root] && std::ranges::find(roots, root) == roots.end()) roots.push_back(root);
      }
    }
    return roots;
  }

  bool takes(const Node& node, const std::vector<std::size_t>& as_f32) const {
    const auto types = [&](const std::vector<Value>& values) {
      std::vector<ValueType> all = graph_.types(values);
      for (std::size_t i = 0; i < all.size(); ++i) {
        const std::size_t root = roots_[id(values[i])];
        const bool is_f32 = std::ranges::find(as_f32, root) != as_f32.end();
        if (stored_[root] && !is_f32) all[i].dtype = half_;
      }
      return all;
    };
    return node.op->is_view() || supports_(*node.op, types(node.inputs), types(node.outputs));
  }

  /// Returns which of its values a node wants as f32: those of the fewest bytes that will do.
  std::vector<std::size_t> refused(const Node& node) const {
    const std::vector<std::size_t> roots = stored_roots(node);
    if (roots.empty() || takes(node, {})) return {};
    constexpr std::size_t kMost = 6;
    if (roots.size() > kMost) return roots;
    std::vector<std::size_t> least = roots;
    for (std::size_t subset = 1; subset + 1 < std::size_t{1} << roots.size(); ++subset) {
      std::vector<std::size_t> some;
      for (std::size_t i = 0; i < roots.size(); ++i) {
        if ((subset >> i & 1U) != 0) some.push_back(roots[i]);
      }
      if (bytes(some) < bytes(least) && takes(node, some)) least = some;
    }
    return least;
  }

  std::size_t bytes(const std::vector<std::size_t>& roots) const {
    std::size_t sum = 0;
    for (const std::size_t root : roots) {
      sum += graph_.type(Value{static_cast<int>(root)}).bytes();
    }
    return sum;
  }

  Graph& graph_;
  DType half_;
  const Supports& supports_;
  std::vector<std::size_t> roots_;                  ///< by value: whose memory it may be
  std::vector<bool> stored_;                        ///< by root
  std::vector<std::vector<std::size_t>> nodes_of_;  ///< by root: who reads or writes it
};

}  // namespace

void store_bf16(Graph& graph, const Supports& supports) {
  StoredValues(graph, DType::bf16, supports).find();
}

void store_f16(Graph& graph, const Supports& supports) {
  StoredValues(graph, DType::f16, supports).find();
}

}  // namespace linnet
