// SPDX-License-Identifier: Apache-2.0
#include "ops/custom/custom.h"

#include <algorithm>

#include "base/check.h"
#include "graph/registry.h"

namespace linnet {

std::vector<std::optional<Expression>> CustomOperator::gradient(
    std::span<const Expression> /*inputs*/, std::span<const Expression> /*outputs*/,
    std::span<const std::optional<Expression>> /*output_gradients*/) const {
  fail("the operator '{}' is not differentiable", name());
}

std::optional<CudaKernel> CustomOperator::cuda(std::span<const Shape> /*inputs*/,
                                               std::span<const Shape> /*outputs*/) const {
  return std::nullopt;
}

std::vector<Shape> shapes_of(std::span<const ValueType> types) {
  std::vector<Shape> shapes;
  for (const ValueType& type : types) shapes.push_back(type.shape);
  return shapes;
}

CustomOp::CustomOp(std::shared_ptr<const CustomOperator> own, std::vector<std::int64_t> batched,
                   Gradient gradient)
    : own_(std::move(own)), batched_(std::move(batched)), gradient_(gradient) {
  require(own_ != nullptr, "expected a custom operator; got a null pointer");
  name_ = own_->name();
  settings_ = own_->settings();
  require(std::ranges::count(name_, '.') == 1 && !name_.starts_with('.') && !name_.ends_with('.'),
          "expected the name of a custom operator as 'project.operator'; got '{}'", name_);
}

Attributes CustomOp::attributes() const { return {{"settings", settings_}, {"batched", batched_}}; }

bool CustomOp::same(const Op& other) const {
  const auto* custom = dynamic_cast<const CustomOp*>(&other);
  return custom != nullptr && custom->name_ == name_ && custom->settings_ == settings_ &&
         custom->batched_ == batched_;
}

std::vector<ValueType> CustomOp::infer(std::span<const ValueType> inputs) const {
  require_f32(inputs);
  require(inputs.size() == batched_.size(), "expected {} operands; got {}", batched_.size(),
          inputs.size());
  std::vector<ValueType> outputs;
  for (Shape& shape : own_->infer(shapes_of(inputs))) {
    outputs.push_back({DType::f32, std::move(shape)});
    require_possible(outputs.back());
  }
  require(!outputs.empty(), "expected at least one output; got none");
  return outputs;
}

std::vector<Value> CustomOp::gradient(const GradientArgs& args) const {
  return gradient_(*this, args);
}

void CustomOp::reference(const ReferenceArgs& args) const {
  const auto arrays_of = [](std::span<ReferenceTensor* const> tensors) {
    std::vector<DoubleArray> arrays;
    for (ReferenceTensor* tensor : tensors) arrays.push_back({tensor->shape, tensor->data});
    return arrays;
  };
  own_->reference(arrays_of(args.inputs), arrays_of(args.outputs));
}

// Files name them by the user's name, so the reader of networks finds them in OperatorReaders.
void register_custom(OpRegistry& /*registry*/) {}

}  // namespace linnet
