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

/// Refers to a value of a network, an own layer, a loss or a metric that is being described. A
/// handle, valid while what it belongs to is being built. Functions of expressions add operators to
/// the graph, so gradients, fusion and every device come without further code. Values are f32
/// unless stated; their first axis is the batch, which shapes leave out.
///
/// All functions throw Error naming the operator and the shapes where operands do not fit, where an
/// operator would take the padding of sequences with lengths for data, and where operands have
/// different lengths. Of operands with and without lengths, the result has them.
class Expression {
 public:
  /// Returns the shape without the batch; weights have no batch.
  Shape shape() const;
  /// Returns the element type.
  DType dtype() const;
  /// Returns whether the first axis is the batch: true except for weights and what depends on
  /// weights only.
  bool batched() const { return batched_; }

  /// @cond
  // For the library.
  Expression(std::shared_ptr<const ExpressionScope> scope, int value, bool batched)
      : scope_(std::move(scope)), value_(value), batched_(batched) {}
  const std::shared_ptr<const ExpressionScope>& scope() const { return scope_; }
  int value() const { return value_; }
  /// @endcond

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

/// Holds layers that can be applied more than once with the same weights:
///   const Block d = block("d", {Dense{.units = 128}, ReLU{}, Dense{.units = 1}});
///   const Expression on_real = d(real), on_fake = d(fake);
/// The network has the weights once: "d.dense_1.weight". Gradients of all applications add up, and
/// a batch norm's running statistics follow each of them in turn. Operators of the second
/// application are named "d_2.dense_1", and so on.
class Block {
 public:
  /// Returns the block applied to x. Throws Error where x gives a weight another shape than the
  /// first application did, where another block of this network has the name, and in a loss.
  Expression operator()(const Expression& x) const;

 private:
  friend Block block(std::string name, std::vector<Layer> layers);
  Block(std::string name, std::vector<Layer> layers)
      : name_(std::move(name)),
        layers_(std::make_shared<const std::vector<Layer>>(std::move(layers))) {}
  std::string name_;
  std::shared_ptr<const std::vector<Layer>> layers_;
};

/// Returns a block of these layers, named `name`.
inline Block block(std::string name, std::vector<Layer> layers) {
  return {std::move(name), std::move(layers)};
}

/// Makes the weights of a CustomLayer.
class LayerWeights {
 public:
  /// Makes a trained weight "LAYER.ROLE" of this shape, which has no batch. `fan_in` and `fan_out`
  /// scale an initializer that uses them. Throws Error for a role that the layer has already.
  Expression add(const std::string& role, const Shape& shape, const Initializer& initializer = {},
                 std::int64_t fan_in = 1, std::int64_t fan_out = 1);

  /// @cond
  // For the library.
  LayerWeights(NetworkBuilder& builder, std::shared_ptr<const ExpressionScope> scope)
      : builder_(builder), scope_(std::move(scope)) {}
  /// @endcond

 private:
  NetworkBuilder& builder_;
  std::shared_ptr<const ExpressionScope> scope_;
};

/// Describes an own layer, as an expression of its input:
///   CustomLayer{"scaled_swish", [](const Expression& x, LayerWeights& weights) {
///     return x * sigmoid(x * weights.add("scale", {x.shape()[-1]}, kOnes));
///   }}
/// A saved model holds the resulting operators, so loading it does not need the function.
struct CustomLayer {
  std::string kind = {};  ///< kind of layer, for its default name and in errors
  /// Returns the layer's output from its input x, and makes its weights.
  std::function<Expression(const Expression& x, LayerWeights& weights)> function = {};
  std::string name = {};  ///< name of the layer; empty: `kind` with a number
  /// @cond
  void build(NetworkBuilder& builder) const;  // for the library
  /// @endcond
};

/// Builds a network of named inputs and outputs:
///   FunctionalNetwork functional;
///   const Expression image = functional.input("image", {28, 28, 1});
///   const Expression age = functional.input("age", {1});
///   const Expression features = image | Flatten{} | Dense{.units = 64} | ReLU{};
///   Network network = functional.build(
///       {{"class", concat({features, age}, 0) | Dense{.units = 10}}, {"features", features}});
class FunctionalNetwork {
 public:
  /// Begins a network without inputs.
  FunctionalNetwork();
  FunctionalNetwork(const FunctionalNetwork&) = delete;
  FunctionalNetwork& operator=(const FunctionalNetwork&) = delete;
  ~FunctionalNetwork();

  /// Adds an input and returns its value. `sample`: its shape without the batch. `dtype`: f32, or
  /// i32 for ids. `lengths`: its sequences differ in length, which layers then respect (see
  /// Lengths). Columns of data sets belong to inputs and outputs by name (see Dataset). Throws
  /// Error for a name that is empty or taken, and for a dim below 1.
  Expression input(const std::string& name, const Shape& sample, DType dtype = DType::f32,
                   bool lengths = false);
  /// Returns noise of mean 0 and standard deviation 1, f32, drawn anew for each sample in each
  /// step: the same for equal TrainerOptions::seed and steps, on any device and in any batch. At
  /// inference it depends on the sample's place in the data set only, so a second prediction gives
  /// the same. Throws Error for a dim below 1.
  Expression normal(const Shape& sample);
  /// Returns the network with these outputs, by name. Throws Error for names that occur twice, and
  /// for expressions of another network.
  Network build(const std::vector<std::pair<std::string, Expression>>& outputs) const;

 private:
  std::unique_ptr<NetworkDefinition> definition_;
  std::unique_ptr<NetworkBuilder> builder_;
  std::shared_ptr<const ExpressionScope> scope_;
  int rows_ = -1;  ///< a value that stands for the first input while there may be none
};

}  // namespace linnet
LINNET_API_END
