// SPDX-License-Identifier: Apache-2.0
#include "ops/gather_batch/gather_batch.h"

#include "graph/registry.h"
#include "ops/gather_batch/record_index.h"

namespace linnet {

std::vector<ValueType> GatherBatchOp::infer(std::span<const ValueType> inputs) const {
  require(inputs.size() == 1 && inputs[In::data].shape.rank() >= 1 &&
              inputs[In::data].shape[0] == 1,
          "expected records as (1, ...); got {}",
          to_string({"data"}, {inputs.begin(), inputs.end()}));
  const DType dtype = inputs[In::data].dtype;
  const bool labels = dtype == DType::i32;
  require(labels || dtype == DType::u8 || dtype == DType::f32 || dtype == DType::f64,
          "expected u8, f32, f64 or i32 records; got {}", to_string(inputs[In::data]));
  return {{labels ? DType::i32 : DType::f32, inputs[In::data].shape.with_batch(attrs().batch)}};
}

void GatherBatchOp::reference(const ReferenceArgs& args) const {
  const std::int64_t size = args.out(Out::y).shape.sample().elements();
  const RecordIndex index(args.step, attrs().shuffle);
  for (std::int64_t i = 0; i < attrs().batch; ++i) {
    const auto record = static_cast<std::int64_t>(index(i));
    for (std::int64_t k = 0; k < size; ++k) {
      args.out(Out::y)[i * size + k] =
          args.in(In::data)[record * size + k] * attrs().scale + attrs().shift;
    }
  }
}

Cost GatherBatchOp::cost(std::span<const ValueType> inputs,
                         std::span<const ValueType> outputs) const {
  const ValueType& y = outputs[Out::y];
  const double read = static_cast<double>(attrs().batch * inputs[In::data].bytes());
  return {.flops = static_cast<double>(y.shape.elements()),
          .bytes = read + static_cast<double>(y.bytes())};
}

void register_gather_batch(OpRegistry& registry) { registry.add<GatherBatchOp>(); }

}  // namespace linnet
