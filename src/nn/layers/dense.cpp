// SPDX-License-Identifier: Apache-2.0
#include "ops/dense/dense.h"

#include "base/check.h"
#include "nn/builder.h"
#include "ops/bias_add/bias_add.h"

namespace linnet {

void Dense::build(NetworkBuilder& builder) const {
  const std::string layer = builder.layer_name(name, "dense");
  require(units > 0, "[dense '{}'] expected at least one unit; got {}", layer, units);
  const Shape& x = builder.shape();
  require(x.rank() == 2, "[dense '{}'] expected (N, features); got {}: put Flatten before it",
          layer, to_string(x));
  const std::int64_t features = x[1];
  const Value w = builder.weight(layer, "weight", {units, features}, weight_init, features, units);
  Value y = builder.graph().emit(DenseOp(), {builder.current(), w}, layer);
  if (bias) {
    const Value b = builder.weight(layer, "bias", {units}, bias_init, features, units);
    y = builder.graph().emit(BiasAddOp(), {y, b}, layer);
  }
  builder.set_current(y);
}

}  // namespace linnet
