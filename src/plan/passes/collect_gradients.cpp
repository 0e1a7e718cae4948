// SPDX-License-Identifier: Apache-2.0
#include "plan/passes/collect_gradients.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "core/align.h"
#include "ops/collect/collect.h"
#include "plan/passes/graph_copy.h"
#include "plan/passes/match.h"

namespace linnet {
namespace {

constexpr std::size_t kLeastBytes = std::size_t{1} << 20;
constexpr std::size_t kFloat = sizeof(float);

CollectOp collect_of(std::span<const PlacedGradient> gradients, std::size_t bytes) {
  CollectAttrs attrs{.length = static_cast<std::int64_t>(bytes / kFloat)};
  for (const PlacedGradient& placed : gradients) {
    attrs.begins.push_back(static_cast<std::int64_t>(placed.offset / kFloat));
  }
  return CollectOp(std::move(attrs));
}

std::vector<Value> values_of(std::span<const PlacedGradient> gradients) {
  std::vector<Value> values;
  for (const PlacedGradient& placed : gradients) values.push_back(placed.gradient);
  return values;
}

/// The order in which the nodes of a graph run, some of them right before node `end`.
class Schedule {
 public:
  Schedule(const Graph& graph, std::size_t end)
      : graph_(graph), end_(end), deferred_(graph.nodes().size(), false) {
    measure();
  }

  /// Defers nodes as long as the largest sum of bytes alive falls.
  void improve() {
    for (;;) {
      const std::size_t before = peak();
      const std::size_t node = best();
      if (node == end_) return;
      deferred_[node] = true;
      measure();
      if (peak() >= before) {
        deferred_[node] = false;
        measure();
        return;
      }
    }
  }

  const std::vector<std::size_t>& order() const { return order_; }

 private:
  std::size_t bytes(Value v) const { return align_up(graph_.type(v).bytes()); }
  bool counts(Value v) const {
    return graph_.producer(v) != nullptr && graph_.info(v).storage == Storage::arena;
  }
  std::size_t peak() const { return alive_[peak_]; }

  /// Finds the order, where values are read last in it, and how much is alive after each node.
  void measure() {
    order_.clear();
    for (std::size_t n = 0; n < deferred_.size(); ++n) {
      if (n == end_) {
        for (std::size_t d = 0; d < end_; ++d) {
          if (deferred_[d]) order_.push_back(d);
        }
      }
      if (!deferred_[n]) order_.push_back(n);
    }
    last_.assign(graph_.value_count(), 0);
    for (std::size_t at = 0; at < order_.size(); ++at) {
      for (Value v : graph_.nodes()[order_[at]].inputs) last_[static_cast<std::size_t>(v.id)] = at;
    }
    std::vector<std::size_t> dies(order_.size() + 1, 0);
    alive_.assign(order_.size(), 0);
    std::size_t alive = 0;
    for (std::size_t at = 0; at < order_.size(); ++at) {
      for (Value v : graph_.nodes()[order_[at]].outputs) {
        const std::size_t last = last_[static_cast<std::size_t>(v.id)];
        if (!counts(v) || last <= at) continue;
        alive += bytes(v);
        dies[last] += bytes(v);
      }
      alive -= dies[at];
      alive_[at] = alive;
      if (order_[at] == end_) break;  // what is collected lies in its result
    }
    peak_ = static_cast<std::size_t>(std::ranges::max_element(alive_) - alive_.begin());
  }

  /// Returns the node that frees most at the peak if it is deferred; `end`: none.
  std::size_t best() const {
    std::size_t found = end_;
    std::size_t most = 0;
    for (std::size_t at = 0; at <= peak_; ++at) {
      const Node& node = graph_.nodes()[order_[at]];
      if (deferred_[order_[at]] || !can_wait(node)) continue;
      std::size_t more = 0;
      for (Value v : node.inputs) {
        if (counts(v) && last_[static_cast<std::size_t>(v.id)] <= peak_) more += bytes(v);
      }
      const std::size_t own = bytes(node.outputs.front());
      if (own > more && own - more > most) {
        most = own - more;
        found = order_[at];
      }
    }
    return found;
  }

  /// Returns whether only the collection reads what the node finds.
  bool can_wait(const Node& node) const {
    if (node.outputs.size() != 1 || node.op->is_view()) return false;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      if (node.op->mutates(i)) return false;
    }
    const Value v = node.outputs.front();
    return counts(v) && graph_.uses(v) == 1 &&
           std::ranges::find(graph_.nodes()[end_].inputs, v) != graph_.nodes()[end_].inputs.end();
  }

  const Graph& graph_;
  std::size_t end_;
  std::vector<bool> deferred_;  ///< by node
  std::vector<std::size_t> order_;
  std::vector<std::size_t> last_;   ///< by value: the place in the order of its last reader
  std::vector<std::size_t> alive_;  ///< by place in the order
  std::size_t peak_ = 0;
};

std::size_t collection(const Graph& graph) {
  const auto found = std::ranges::find_if(graph.nodes(), [](const Node& node) {
    return op_as<CollectOp>(&node) != nullptr;
  });
  return static_cast<std::size_t>(found - graph.nodes().begin());
}

}  // namespace

bool can_collect_gradients(const Graph& graph, std::span<const PlacedGradient> gradients,
                           std::size_t bytes, const Supports& supports) {
  const std::vector<ValueType> types = graph.types(values_of(gradients));
  const std::size_t found =
      std::accumulate(types.begin(), types.end(), std::size_t{0},
                      [](std::size_t sum, const ValueType& type) { return sum + type.bytes(); });
  if (bytes < kLeastBytes || found < bytes - bytes / 16) return false;
  const CollectOp op = collect_of(gradients, bytes);
  return supports(op, types, op.infer(types));
}

void collect_gradients(Graph& graph, std::span<const PlacedGradient> gradients, std::size_t bytes) {
  const Value all = graph.emit(collect_of(gradients, bytes), values_of(gradients), "gradients");
  graph.info(all).storage = Storage::gradient;
}

Value take_collected_gradients(Graph& graph) {
  const std::size_t n = collection(graph);
  if (n == graph.nodes().size()) return {};
  const Value all = graph.nodes()[n].outputs.front();
  graph.info(all).storage = Storage::arena;
  return all;
}

bool collects_gradients(const Graph& graph) { return collection(graph) < graph.nodes().size(); }

void defer_gradients(Graph& graph) {
  Schedule schedule(graph, collection(graph));
  schedule.improve();
  GraphCopy copy(graph);
  for (const std::size_t n : schedule.order()) copy.add_as_it_was(graph.nodes()[n]);
  graph = std::move(copy.made());
}

}  // namespace linnet
