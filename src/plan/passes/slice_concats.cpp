// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "ops/concat/concat.h"
#include "ops/slice/slice.h"
#include "plan/passes/graph_copy.h"
#include "plan/passes/match.h"
#include "plan/passes/passes.h"

namespace linnet {
namespace {

/// An operand of a concatenation, which is cut out of the result again.
struct Cut {
  Value operand;
  Value result;
  std::shared_ptr<const SliceOp> op;
};

class SliceConcats {
 public:
  SliceConcats(const TrainingGraph& training, const Supports& supports)
      : graph_(training.graph), supports_(supports) {
    for (std::size_t n = training.backward; n < graph_.nodes().size(); ++n) {
      for (Value v : graph_.nodes()[n].inputs) reads_[v.id].push_back(n);
    }
    for (std::size_t n = 0; n < training.backward; ++n) {
      const Node& node = graph_.nodes()[n];
      if (const auto* concat = op_as<ConcatOp>(&node)) find(node, concat->attrs().axis);
    }
  }

  bool empty() const { return cuts_.empty(); }

  TrainingGraph run(const TrainingGraph& training) const {
    GraphCopy copy(graph_);
    TrainingGraph out;
    for (std::size_t n = 0; n < graph_.nodes().size(); ++n) {
      if (n == training.backward) out.backward = copy.made().nodes().size();
      const auto [begin, end] = cuts_.equal_range(n);
      for (auto at = begin; at != end; ++at) {
        const Cut& cut = at->second;
        const std::string& name = graph_.info(cut.operand).name;
        copy.set(cut.operand, copy.made().add(cut.op, {copy.of(cut.result)}, name).front());
      }
      copy.add_as_it_was(graph_.nodes()[n]);
    }
    out.loss = copy.of(training.loss);
    out.graph = std::move(copy.made());
    return out;
  }

 private:
  bool is_kept(Value value) const {
    return graph_.info(value).storage == Storage::arena && reads_.count(value.id) > 0;
  }

  void find(const Node& concat, int axis) {
    const Value result = concat.outputs.front();
    if (!is_kept(result)) return;
    std::int64_t end = 0;
    for (Value operand : concat.inputs) {
      const std::int64_t begin = end;
      end += graph_.type(operand).shape[axis];
      if (!is_kept(operand) || graph_.producer(operand) == nullptr) continue;
      const SliceOp op({.axis = axis, .begin = begin, .end = end});
      if (!supports_(op, graph_.types({&result, 1}), graph_.types({&operand, 1}))) continue;
      if (!cut_.insert(operand.id).second) continue;
      // Where the result is read last, unless the operand is needed before.
      const std::size_t place = std::min(reads_[operand.id].front(), reads_[result.id].back() + 1);
      cuts_.emplace(place, Cut{operand, result, std::make_shared<SliceOp>(op)});
    }
  }

  const Graph& graph_;
  const Supports& supports_;
  std::map<int, std::vector<std::size_t>> reads_;  ///< in the backward pass, by the value's id
  std::multimap<std::size_t, Cut> cuts_;           ///< by the node before which they are made
  std::set<int> cut_;
};

}  // namespace

void slice_concats(TrainingGraph& training, const Supports& supports) {
  const SliceConcats pass(training, supports);
  if (!pass.empty()) training = pass.run(training);
}

}  // namespace linnet
