// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/export.h>
#include <linnet/network.h>

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace linnet {
class Graph;
class NetworkBuilder;
struct ExpressionScope;
}  // namespace linnet

LINNET_API_BEGIN
namespace linnet {

/// A value of a network or of a loss that is being written down: a handle, good as long as what it
/// was made by is being built. Operators on it become operators of the graph, so gradients, fusion
/// and every device come for free. f32 unless said; the first axis is the batch, which shapes leave
/// out. Throws Error naming the operator and the shapes where operands don't fit, and where an
/// operator would take the padding of sequences with lengths for data or its operands have
/// different lengths; of operands with lengths and without, the result has them.
class Expression {
 public:
  /// Without the batch, which weights don't have.
  Shape shape() const;
  DType dtype() const;
  /// Whether the first axis is the batch: of all but weights and what is made of them alone.
  bool batched() const { return batched_; }

  /// Of a value that was built inside the library.
  Expression(std::shared_ptr<const ExpressionScope> scope, int value, bool batched)
      : scope_(std::move(scope)), value_(value), batched_(batched) {}
  const std::shared_ptr<const ExpressionScope>& scope() const { return scope_; }
  int value() const { return value_; }

 private:
  std::shared_ptr<const ExpressionScope> scope_;
  int value_;
  bool batched_;
};

/// The layer, applied to x; its weights are the network's. Throws Error in a loss, which has none.
Expression operator|(const Expression& x, const Layer& layer);

// Element by element. The smaller operand's axes are the last ones of the other's, or of extent 1:
// it is repeated along the rest.
Expression operator+(const Expression& a, const Expression& b);
Expression operator-(const Expression& a, const Expression& b);
Expression operator*(const Expression& a, const Expression& b);
Expression operator/(const Expression& a, const Expression& b);
Expression maximum(const Expression& a, const Expression& b);
Expression minimum(const Expression& a, const Expression& b);

Expression operator+(const Expression& a, double b);
Expression operator-(const Expression& a, double b);
Expression operator*(const Expression& a, double b);
Expression operator/(const Expression& a, double b);
Expression operator+(double a, const Expression& b);
Expression operator-(double a, const Expression& b);
Expression operator*(double a, const Expression& b);
Expression operator/(double a, const Expression& b);
Expression operator-(const Expression& x);

Expression exp(const Expression& x);
Expression log(const Expression& x);
Expression sqrt(const Expression& x);
Expression square(const Expression& x);
Expression abs(const Expression& x);
Expression sin(const Expression& x);
Expression cos(const Expression& x);
Expression pow(const Expression& x, double exponent);
Expression clip(const Expression& x, double low, double high);
Expression relu(const Expression& x);
Expression tanh(const Expression& x);
Expression sigmoid(const Expression& x);
/// log(1 + e^x)
Expression softplus(const Expression& x);
/// Over the last axis.
Expression softmax(const Expression& x);
Expression log_softmax(const Expression& x);

/// Over axes of a sample, counted from 0 (for an image: 0 height, 1 width, 2 channels), ascending;
/// none: all. With keep_dims they stay, of extent 1.
Expression sum(const Expression& x, std::vector<std::int64_t> axes = {}, bool keep_dims = false);
Expression mean(const Expression& x, std::vector<std::int64_t> axes = {}, bool keep_dims = false);
Expression max(const Expression& x, std::vector<std::int64_t> axes = {}, bool keep_dims = false);
Expression min(const Expression& x, std::vector<std::int64_t> axes = {}, bool keep_dims = false);

// Axes are a sample's, from 0.
Expression reshape(const Expression& x, Shape sample);
/// Axis i of the result is axis permutation[i] of x.
Expression transpose(const Expression& x, const std::vector<std::int64_t>& permutation);
/// The elements [begin, end) along an axis.
Expression slice(const Expression& x, int axis, std::int64_t begin, std::int64_t end);
Expression concat(const std::vector<Expression>& parts, int axis);
/// x wᵀ: x (N, features), w a weight (units, features).
Expression linear(const Expression& x, const Expression& weight);

/// Layers that may be applied more than once with the same weights:
///   const Block d = block("d", {Dense{.units = 128}, ReLU{}, Dense{.units = 1}});
///   const Expression on_real = d(real), on_fake = d(fake);
/// The weights are the network's, once: "d.dense_1.weight". Gradients of all applications add up,
/// and a batch norm's running statistics follow each of them in turn. Operators of the second
/// application are named "d_2.dense_1", and so on.
class Block {
 public:
  /// Throws Error where x gives a weight another shape than the first application did, where
  /// another block of this network has the name, and in a loss.
  Expression operator()(const Expression& x) const;

 private:
  friend Block block(std::string name, std::vector<Layer> layers);
  Block(std::string name, std::vector<Layer> layers)
      : name_(std::move(name)),
        layers_(std::make_shared<const std::vector<Layer>>(std::move(layers))) {}
  std::string name_;
  std::shared_ptr<const std::vector<Layer>> layers_;
};

inline Block block(std::string name, std::vector<Layer> layers) {
  return {std::move(name), std::move(layers)};
}

/// Makes the weights of a CustomLayer.
class LayerWeights {
 public:
  LayerWeights(NetworkBuilder& builder, std::shared_ptr<const ExpressionScope> scope)
      : builder_(builder), scope_(std::move(scope)) {}
  /// A trained weight "<layer>.<role>" of this shape, which has no batch. Throws Error for a role
  /// that the layer has already.
  Expression add(const std::string& role, const Shape& shape, const Initializer& initializer = {},
                 std::int64_t fan_in = 1, std::int64_t fan_out = 1);

 private:
  NetworkBuilder& builder_;
  std::shared_ptr<const ExpressionScope> scope_;
};

/// A layer of one's own, as an expression of its input:
///   CustomLayer{"scaled_swish", [](const Expression& x, LayerWeights& weights) {
///     return x * sigmoid(x * weights.add("scale", {x.shape()[-1]}, kOnes));
///   }}
/// Saved models hold what it came to: loading one does not need the function.
struct CustomLayer {
  std::string kind = {};  ///< for its name and for errors
  std::function<Expression(const Expression& x, LayerWeights& weights)> function = {};
  std::string name = {};
  void build(NetworkBuilder& builder) const;
};

/// A network of named inputs and outputs:
///   FunctionalNetwork functional;
///   const Expression image = functional.input("image", {28, 28, 1});
///   const Expression age = functional.input("age", {1});
///   const Expression features = image | Flatten{} | Dense{.units = 64} | ReLU{};
///   Network network = functional.build(
///       {{"class", concat({features, age}, 0) | Dense{.units = 10}}, {"features", features}});
class FunctionalNetwork {
 public:
  FunctionalNetwork();
  FunctionalNetwork(const FunctionalNetwork&) = delete;
  FunctionalNetwork& operator=(const FunctionalNetwork&) = delete;
  ~FunctionalNetwork();

  /// dtype: f32, or i32 for ids. Data set columns belong to inputs and outputs by name (see
  /// Dataset). lengths: its sequences differ in length, which layers then heed (see Lengths).
  Expression input(const std::string& name, const Shape& sample, DType dtype = DType::f32,
                   bool lengths = false);
  /// Noise of mean 0 and standard deviation 1, f32, drawn anew for each sample in each step: the
  /// same for equal TrainerOptions::seed and steps, on any device and in any batch. At inference it
  /// is drawn too, keyed by the sample's place in the data set alone, so that a second prediction
  /// gives the same. Throws Error for an extent below 1.
  Expression normal(const Shape& sample);
  /// Expressions of this network, by name. Throws Error for names that stand there twice.
  Network build(const std::vector<std::pair<std::string, Expression>>& outputs) const;

 private:
  std::unique_ptr<NetworkDefinition> definition_;
  std::unique_ptr<NetworkBuilder> builder_;
  std::shared_ptr<const ExpressionScope> scope_;
  int rows_ = -1;  ///< a value that stands for the first input while there may be none
};

}  // namespace linnet
LINNET_API_END
