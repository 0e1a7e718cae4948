// SPDX-License-Identifier: Apache-2.0
#include <linnet/expression.h>

#include "base/check.h"
#include "core/dims.h"
#include "nn/expression_scope.h"
#include "ops/activation/activation.h"
#include "ops/arithmetic/arithmetic.h"
#include "ops/concat/concat.h"
#include "ops/dense/dense.h"
#include "ops/random_normal/random_normal.h"
#include "ops/reduce/reduce.h"
#include "ops/reshape/reshape.h"
#include "ops/slice/slice.h"
#include "ops/softmax/softmax.h"
#include "ops/transpose/transpose.h"
#include "ops/unary/unary.h"

namespace linnet {
namespace {

const Shape& whole_shape(const Expression& x) { return x.scope()->graph.shape({x.value()}); }

/// Whether a is the operand that is repeated.
bool is_smaller(const Expression& a, const Expression& b) {
  const Shape& left = whole_shape(a);
  const Shape& right = whole_shape(b);
  return left.rank() != right.rank() ? left.rank() < right.rank()
                                     : left.elements() < right.elements();
}

Expression arithmetic(Arithmetic kind, const Expression& a, const Expression& b) {
  return emit(ArithmeticOp({kind}), {a, b});
}

/// Of operands that may change places.
Expression commutative(Arithmetic kind, const Expression& a, const Expression& b) {
  return is_smaller(a, b) ? arithmetic(kind, b, a) : arithmetic(kind, a, b);
}

Expression scale(const Expression& x, double alpha, double beta) {
  return emit(ScaleOp({.alpha = alpha, .beta = beta}), {x});
}

Expression unary(Unary kind, const Expression& x, double alpha = 0, double beta = 0) {
  return emit(UnaryOp({.kind = kind, .alpha = alpha, .beta = beta}), {x});
}

void require_batch(const Expression& x, std::string_view what) {
  require(x.batched(), "[{}] expected an expression with a batch; got one of weights alone, {}",
          what, to_string(x.shape()));
}

Expression reduce(Reduction kind, const Expression& x, std::vector<std::int64_t> axes,
                  bool keep_dims) {
  require_batch(x, "reduce");
  if (axes.empty()) {
    for (std::size_t i = 0; i < x.shape().rank(); ++i) {
      axes.push_back(static_cast<std::int64_t>(i));
    }
  }
  if (axes.empty()) return x;              // one number a sample already
  for (std::int64_t& axis : axes) ++axis;  // behind the batch
  return emit(ReduceOp({.kind = kind, .axes = std::move(axes), .keep_dims = keep_dims}), {x});
}

}  // namespace

Shape Expression::shape() const {
  const Shape& whole = whole_shape(*this);
  return batched_ ? whole.sample() : whole;
}

DType Expression::dtype() const { return scope_->graph.type({value_}).dtype; }

Expression operator|(const Expression& x, const Layer& layer) {
  NetworkBuilder* builder = x.scope()->builder;
  require(builder != nullptr, "a loss has no layers: expected operators alone");
  builder->set_current({x.value()});
  with_batch_named([&] { builder->build(layer); });
  return {x.scope(), builder->current().id, true};
}

Expression operator+(const Expression& a, const Expression& b) {
  return commutative(Arithmetic::add, a, b);
}
Expression operator-(const Expression& a, const Expression& b) {
  return is_smaller(a, b) ? -arithmetic(Arithmetic::subtract, b, a)
                          : arithmetic(Arithmetic::subtract, a, b);
}
Expression operator*(const Expression& a, const Expression& b) {
  return commutative(Arithmetic::multiply, a, b);
}
Expression operator/(const Expression& a, const Expression& b) {
  return is_smaller(a, b) ? arithmetic(Arithmetic::multiply, unary(Unary::reciprocal, b), a)
                          : arithmetic(Arithmetic::divide, a, b);
}
Expression maximum(const Expression& a, const Expression& b) {
  return commutative(Arithmetic::maximum, a, b);
}
Expression minimum(const Expression& a, const Expression& b) {
  return commutative(Arithmetic::minimum, a, b);
}

Expression operator+(const Expression& a, double b) { return scale(a, 1, b); }
Expression operator-(const Expression& a, double b) { return scale(a, 1, -b); }
Expression operator*(const Expression& a, double b) { return scale(a, b, 0); }
Expression operator/(const Expression& a, double b) { return scale(a, 1 / b, 0); }
Expression operator+(double a, const Expression& b) { return scale(b, 1, a); }
Expression operator-(double a, const Expression& b) { return scale(b, -1, a); }
Expression operator*(double a, const Expression& b) { return scale(b, a, 0); }
Expression operator/(double a, const Expression& b) { return unary(Unary::reciprocal, b) * a; }
Expression operator-(const Expression& x) { return scale(x, -1, 0); }

Expression exp(const Expression& x) { return unary(Unary::exp, x); }
Expression log(const Expression& x) { return unary(Unary::log, x); }
Expression sqrt(const Expression& x) { return unary(Unary::sqrt, x); }
Expression square(const Expression& x) { return unary(Unary::square, x); }
Expression abs(const Expression& x) { return unary(Unary::abs, x); }
Expression sin(const Expression& x) { return unary(Unary::sin, x); }
Expression cos(const Expression& x) { return unary(Unary::cos, x); }
Expression pow(const Expression& x, double exponent) { return unary(Unary::pow, x, exponent); }
Expression clip(const Expression& x, double low, double high) {
  return unary(Unary::clip, x, low, high);
}
Expression softplus(const Expression& x) { return unary(Unary::softplus, x, 1); }
Expression relu(const Expression& x) { return emit(ActivationOp({Activation::relu}), {x}); }
Expression tanh(const Expression& x) { return emit(ActivationOp({Activation::tanh}), {x}); }
Expression sigmoid(const Expression& x) { return emit(ActivationOp({Activation::sigmoid}), {x}); }
Expression softmax(const Expression& x) { return emit(SoftmaxOp(), {x}); }
Expression log_softmax(const Expression& x) { return emit(LogSoftmaxOp(), {x}); }

Expression sum(const Expression& x, std::vector<std::int64_t> axes, bool keep_dims) {
  return reduce(Reduction::sum, x, std::move(axes), keep_dims);
}
Expression mean(const Expression& x, std::vector<std::int64_t> axes, bool keep_dims) {
  return reduce(Reduction::mean, x, std::move(axes), keep_dims);
}
Expression max(const Expression& x, std::vector<std::int64_t> axes, bool keep_dims) {
  return reduce(Reduction::max, x, std::move(axes), keep_dims);
}
Expression min(const Expression& x, std::vector<std::int64_t> axes, bool keep_dims) {
  return reduce(Reduction::min, x, std::move(axes), keep_dims);
}

Expression reshape(const Expression& x, Shape sample) {
  require(sample.elements() == x.shape().elements(),
          "[reshape] expected a shape of {} elements for {}; got {}", x.shape().elements(),
          to_string(x.shape()), to_string(sample));
  return emit(ReshapeOp({.shape = dims_of(x.batched() ? sample.batched(-1) : sample)}), {x});
}

Expression transpose(const Expression& x, const std::vector<std::int64_t>& permutation) {
  require_batch(x, "transpose");
  TransposeAttrs attrs{.permutation = {0}};
  for (const std::int64_t axis : permutation) attrs.permutation.push_back(axis + 1);
  return emit(TransposeOp(std::move(attrs)), {x});
}

Expression slice(const Expression& x, int axis, std::int64_t begin, std::int64_t end) {
  require_batch(x, "slice");
  return emit(SliceOp({.axis = axis + 1, .begin = begin, .end = end}), {x});
}

Expression concat(const std::vector<Expression>& parts, int axis) {
  require(!parts.empty(), "[concat] expected at least one operand");
  std::vector<Value> inputs;
  for (const Expression& part : parts) {
    require_batch(part, "concat");
    require(part.scope() == parts[0].scope(),
            "[concat] expected operands of one network; got some of two");
    inputs.push_back({part.value()});
  }
  const auto& scope = parts[0].scope();
  const std::string name =
      scope->name.empty() ? scope->builder->layer_name("", ConcatOp::kName) : scope->name;
  const Value y = with_batch_named(
      [&] { return scope->graph.emit(ConcatOp({.axis = axis + 1}), std::move(inputs), name); });
  if (scope->builder != nullptr) scope->builder->settle_lengths();
  return {scope, y.id, true};
}

Expression linear(const Expression& x, const Expression& weight) {
  return emit(DenseOp(), {x, weight});
}

Expression Block::operator()(const Expression& x) const {
  NetworkBuilder* builder = x.scope()->builder;
  require(builder != nullptr, "a loss has no layers: expected operators alone");
  builder->set_current({x.value()});
  with_batch_named([&] { builder->apply_block(name_, layers_); });
  return {x.scope(), builder->current().id, true};
}

Expression LayerWeights::add(const std::string& role, const Shape& shape,
                             const Initializer& initializer, std::int64_t fan_in,
                             std::int64_t fan_out) {
  require(!builder_.has_parameter(scope_->name, role),
          "the layer '{}' has a weight '{}' already; each of its weights needs a role of its own",
          scope_->name, role);
  const Value weight = builder_.weight(scope_->name, role, shape, initializer, fan_in, fan_out);
  return {scope_, weight.id, false};
}

void CustomLayer::build(NetworkBuilder& builder) const {
  require(!kind.empty() && function != nullptr,
          "a layer of one's own needs a kind and a function; got kind '{}'{}", kind,
          function == nullptr ? " and no function" : "");
  const std::string layer = builder.layer_name(name, kind);
  const auto scope =
      std::make_shared<const ExpressionScope>(ExpressionScope{builder.graph(), &builder, layer});
  LayerWeights weights(builder, scope);
  const Expression y = function({scope, builder.current().id, true}, weights);
  require(y.scope() == scope && y.batched(),
          "[{} '{}'] expected the function to return an expression of its input", kind, layer);
  builder.set_current({y.value()});
}

FunctionalNetwork::FunctionalNetwork()
    : definition_(std::make_unique<NetworkDefinition>()),
      builder_(std::make_unique<NetworkBuilder>(*definition_)),
      scope_(std::make_shared<const ExpressionScope>(
          ExpressionScope{builder_->graph(), builder_.get(), {}})) {
  definition_->outputs.emplace_back();  // where the builder keeps the current value
}
FunctionalNetwork::~FunctionalNetwork() = default;

Expression FunctionalNetwork::input(const std::string& name, const Shape& sample, DType dtype,
                                    bool lengths) {
  builder_->set_current(builder_->add_input(name, sample, dtype));
  if (lengths) with_batch_named([&] { builder_->add_lengths(); });
  return {scope_, builder_->current().id, true};
}

Expression FunctionalNetwork::normal(const Shape& sample) {
  Graph& graph = builder_->graph();
  if (rows_ < 0) {
    rows_ = graph.add_value("rows", {DType::f32, Shape{kTemplateBatch}}, Storage::external).id;
  }
  const std::string name = builder_->layer_name("", RandomNormalOp::kName);
  const auto stream = static_cast<std::int64_t>(graph.nodes().size());
  const RandomNormalAttrs attrs{.shape = dims_of(sample), .stream = stream};
  return {scope_, graph.emit(RandomNormalOp(attrs), {Value{rows_}}, name).id, true};
}

Network FunctionalNetwork::build(
    const std::vector<std::pair<std::string, Expression>>& outputs) const {
  require(!definition_->inputs.empty(), "a network needs an input");
  require(!outputs.empty(), "a network needs an output");
  auto network = std::make_unique<NetworkDefinition>(*definition_);
  if (rows_ >= 0) network->graph.replace_uses({rows_}, network->inputs[0].value);
  network->outputs.clear();
  for (const auto& [name, y] : outputs) {
    require(y.scope() == scope_ && y.batched(),
            "the output '{}' is no expression of this network's inputs", name);
    for (const NetworkOutput& other : network->outputs) {
      require(other.name != name, "the network has an output '{}' already", name);
    }
    network->outputs.push_back({name, {y.value()}});
  }
  return Network(std::move(network));
}

}  // namespace linnet
