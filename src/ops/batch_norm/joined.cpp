// SPDX-License-Identifier: Apache-2.0
#include "ops/batch_norm/joined.h"

#include "core/dims.h"

namespace linnet {
namespace {

/// Calls f(element of the wider tensor, element of the narrower one), whose rows are `channels` of
/// the wider's, from `begin` on.
template <class F>
void for_channels(const Shape& wide, std::int64_t begin, std::int64_t channels, F f) {
  if (wide[-1] == 0) return;
  for (std::int64_t row = 0; row < wide.elements() / wide[-1]; ++row) {
    for (std::int64_t c = 0; c < channels; ++c) f(row * wide[-1] + begin + c, row * channels + c);
  }
}

double bytes_of(const ValueType& type) { return static_cast<double>(type.bytes()); }

}  // namespace

std::vector<ValueType> BatchNormJoinedOp::infer(std::span<const ValueType> inputs) const {
  require(inputs.size() == 6, "expected x, four statistics and a part; got {} operands",
          inputs.size());
  std::vector<ValueType> outputs = BatchNormOp(attrs()).infer(inputs.first(5));
  const ValueType y = outputs[BatchNormOp::Out::y];
  ValueType part = y;
  std::vector<std::int64_t> dims = dims_of(part.shape);
  dims.back() = inputs[In::part].shape.rank() > 0 ? inputs[In::part].shape[-1] : 0;
  part.shape = Shape(dims);
  require(inputs[In::part] == part && part.shape[-1] <= y.shape[-1],
          "expected a part of at most the channels of {}; got {}", to_string(y),
          to_string(inputs[In::part]));
  outputs.insert(outputs.begin(), inputs[In::x]);
  return outputs;
}

void BatchNormJoinedOp::reference(const ReferenceArgs& args) const {
  ReferenceTensor& wide = args.out(Out::wide);
  const ReferenceTensor& part = args.in(In::part);
  const std::int64_t channels = part.shape[-1];
  wide.data = args.in(In::x).data;
  for_channels(wide.shape, args.out(Out::y).shape[-1] - channels, channels,
               [&](std::int64_t to, std::int64_t from) { wide[to] = part[from]; });
  std::vector<ReferenceTensor*> inputs(args.inputs.begin(), args.inputs.end() - 1);
  inputs[In::x] = &wide;
  BatchNormOp(attrs()).reference({inputs, args.outputs.subspan(1), args.step});
}

Cost BatchNormJoinedOp::cost(std::span<const ValueType> inputs,
                             std::span<const ValueType> outputs) const {
  Cost cost = BatchNormOp(attrs()).cost(inputs.first(5), outputs.subspan(1));
  cost.bytes += bytes_of(inputs[In::part]);  // which is read instead of x, and written
  return cost;
}

std::vector<ValueType> BatchNormGradJoinedOp::infer(std::span<const ValueType> inputs) const {
  const std::size_t own = attrs().summand_at();
  const std::size_t all = attrs().into_at() + (attrs().into ? 1 : 0);
  require(inputs.size() == all, "expected {} operands; got {}", all, inputs.size());
  std::vector<ValueType> outputs = BatchNormGradOp(attrs().norm()).infer(inputs.first(own));
  const ValueType dx = outputs[Out::dx];
  require(!attrs().summand || inputs[own] == dx, "expected a summand of dy's shape {}; got {}",
          to_string(dx), to_string(inputs[attrs().summand ? own : std::size_t{In::dy}]));
  require(attrs().piece <= dx.shape[-1], "expected a piece of dx's channels; got {} of {}",
          attrs().piece, to_string(dx));
  std::vector<std::int64_t> dims = dims_of(dx.shape);
  if (attrs().piece > 0) {
    dims.back() = attrs().piece;
    outputs.push_back({dx.dtype, Shape(dims)});
  }
  if (!attrs().into) return outputs;
  const ValueType& wide = inputs[attrs().into_at()];
  dims = dims_of(wide.shape);
  require(!dims.empty() && dims.back() >= dx.shape[-1], "expected a sum of {} or wider; got {}",
          to_string(dx), to_string(wide));
  dims.back() = dx.shape[-1];
  require(ValueType{wide.dtype, Shape(dims)} == dx, "expected a sum of {} or wider; got {}",
          to_string(dx), to_string(wide));
  outputs[Out::dx] = wide;
  return outputs;
}

void BatchNormGradJoinedOp::reference(const ReferenceArgs& args) const {
  const std::size_t own = attrs().summand_at();
  std::vector<ReferenceTensor*> inputs(args.inputs.begin(),
                                       args.inputs.begin() + static_cast<std::ptrdiff_t>(own));
  std::vector<ReferenceTensor*> outputs(args.outputs.begin(), args.outputs.end());
  ReferenceTensor dy = args.in(In::dy);
  if (attrs().summand) {
    for (std::size_t i = 0; i < dy.data.size(); ++i) dy.data[i] += args.in(own).data[i];
  }
  inputs[In::dy] = &dy;
  ReferenceTensor dx = dy;
  outputs[Out::dx] = &dx;
  BatchNormGradOp(attrs().norm()).reference({inputs, outputs, args.step});
  ReferenceTensor& out = args.out(Out::dx);
  const std::int64_t channels = dx.shape[-1];
  if (attrs().into) {
    out.data = args.in(attrs().into_at()).data;
    for_channels(out.shape, 0, channels,
                 [&](std::int64_t to, std::int64_t from) { out[to] += dx[from]; });
  } else {
    out.data = dx.data;
  }
  if (attrs().piece == 0) return;
  for_channels(out.shape, channels - attrs().piece, attrs().piece,
               [&](std::int64_t from, std::int64_t to) {
                 args.out(attrs().piece_at())[to] = out[from];
               });
}

Cost BatchNormGradJoinedOp::cost(std::span<const ValueType> inputs,
                                 std::span<const ValueType> outputs) const {
  std::vector<ValueType> own(outputs.begin(), outputs.end());
  own[Out::dx] = inputs[In::dy];
  Cost cost = BatchNormGradOp(attrs().norm()).cost(inputs.first(attrs().summand_at()), own);
  if (attrs().summand) cost.bytes += (attrs().residual ? 1 : 2) * bytes_of(inputs[In::dy]);
  if (attrs().into) cost.bytes += bytes_of(inputs[In::dy]);
  return cost;
}

/// Where dx is added to another operand, no other one lies there.
std::vector<int> BatchNormGradJoinedOp::in_place() const {
  if (attrs().into) return {static_cast<int>(attrs().into_at())};
  std::vector<int> places = BatchNormGradOp(attrs().norm()).in_place();
  if (attrs().summand) places.push_back(static_cast<int>(attrs().summand_at()));
  return places;
}

}  // namespace linnet
