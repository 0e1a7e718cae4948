// SPDX-License-Identifier: Apache-2.0
#include "ops/concat/concat.h"

#include <linnet/layers/concat.h>
#include <linnet/layers/conv2d.h>

#include <algorithm>

#include "base/check.h"
#include "nn/builder.h"
#include "nn/layer_fields.h"

namespace linnet {

void Concat::build(NetworkBuilder& builder) const {
  const std::string layer = builder.begin(*this);
  require(!branches.empty(), "[concat '{}'] expected at least one branch", layer);
  const auto occupied = std::count_if(branches.begin(), branches.end(),
                                      [](const auto& branch) { return !branch.empty(); });
  const Value x = builder.current();
  std::vector<Value> results;
  for (const std::vector<Layer>& branch : branches) {
    builder.set_current(x);
    const std::string scope =
        occupied == 1 ? layer : fmt::format("{}.{}", layer, results.size() + 1);
    builder.build_within(scope, branch);
    results.push_back(builder.current());
  }
  const auto axis = static_cast<int>(builder.graph().shape(results[0]).rank()) - 1;
  builder.set_current(builder.graph().emit(ConcatOp({.axis = axis}), results, layer));
}

void register_concat(LayerTypes& types) {
  types.add({.kind = "concat",
             .name = "Concat",
             .in = "(N, ..., C)",
             .out = "(N, ..., the sum of the branches' C)",
             .fields = {field<&Concat::branches>("branches").required()}},
            Concat{.branches = {{}, {Conv2d{.filters = 8, .padding = Padding2d::same()}}}});
}

}  // namespace linnet
