// SPDX-License-Identifier: Apache-2.0
#include "nn/expression/support.h"
#include "ops/reshape/reshape.h"

namespace linnet {

Expression reshape(const Expression& x, Shape sample) {
  require(sample.elements() == x.shape().elements(),
          "[reshape] expected a shape of {} elements for {}; got {}", x.shape().elements(),
          to_string(x.shape()), to_string(sample));
  return emit(ReshapeOp({.shape = dims_of(x.batched() ? sample.batched(-1) : sample)}), {x});
}

}  // namespace linnet
