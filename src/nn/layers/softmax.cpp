// SPDX-License-Identifier: Apache-2.0
#include "ops/softmax/softmax.h"

#include <linnet/layers/softmax.h>

#include "nn/builder.h"
#include "nn/layer_fields.h"

namespace linnet {

void Softmax::build(NetworkBuilder& builder) const {
  builder.apply(SoftmaxOp(), builder.begin(*this));
}

void LogSoftmax::build(NetworkBuilder& builder) const {
  builder.apply(LogSoftmaxOp(), builder.begin(*this));
}

void register_softmax(LayerTypes& types) {
  types.add({.kind = "softmax",
             .name = "Softmax",
             .in = "(N, ..., C)",
             .out = "(N, ..., C)",
             .fields = {}},
            Softmax{});
  types.add({.kind = "log_softmax",
             .name = "LogSoftmax",
             .in = "(N, ..., C)",
             .out = "(N, ..., C)",
             .fields = {}},
            LogSoftmax{});
}

}  // namespace linnet
