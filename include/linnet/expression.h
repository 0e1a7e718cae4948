// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/export.h>
#include <linnet/functions.h>
#include <linnet/layers/settings.h>
#include <linnet/network.h>

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace linnet {
class NetworkBuilder;
enum class Answers : std::uint8_t;
}  // namespace linnet

LINNET_API_BEGIN
namespace linnet {

/// Applies the layer to x; the network holds its weights. Throws Error in a loss, which has no
/// weights.
Expression operator|(const Expression& x, const Layer& layer);

/// Holds layers that can be applied more than once with the same weights:
/// @code
/// const Block d = block("d", {Dense{.units = 128}, ReLU{}, Dense{.units = 1}});
/// const Expression on_real = d(real), on_fake = d(fake);
/// @endcode
/// The network has the weights once: "d.dense_1.weight". Gradients of all applications add up, and
/// a batch norm's running statistics follow each of them in turn. Operators of the second
/// application are named "d_2.dense_1", and so on.
class Block {
 public:
  /// Returns the block applied to x. Throws Error if x needs a weight of another shape than the
  /// first application, if another block of this network has the name, and in a loss.
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

/// Describes a custom layer, as an expression of its input:
/// @code
/// CustomLayer{"scaled_swish", [](const Expression& x, LayerWeights& weights) {
///   return x * sigmoid(x * weights.add("scale", {x.shape()[-1]}, kOnes));
/// }}
/// @endcode
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
/// @code
/// FunctionalNetwork functional;
/// const Expression image = functional.input("image", {28, 28, 1});
/// const Expression age = functional.input("age", {1});
/// const Expression features = image | Flatten{} | Dense{.units = 64} | ReLU{};
/// Network network = functional.build(
///     {{"class", concat({features, age}, 0) | Dense{.units = 10}}, {"features", features}});
/// @endcode
class FunctionalNetwork {
 public:
  /// Starts a network without inputs.
  FunctionalNetwork();
  FunctionalNetwork(const FunctionalNetwork&) = delete;
  FunctionalNetwork& operator=(const FunctionalNetwork&) = delete;
  ~FunctionalNetwork();

  /// Adds an input and returns its value. `sample`: its shape without the batch. `dtype`: f32, or
  /// i32 for ids. `lengths`: its sequences have different lengths, which layers then respect (see
  /// Lengths). Columns of data sets belong to inputs and outputs by name (see Dataset). Throws
  /// Error for a name that is empty or taken, and for a dim below 1.
  Expression input(const std::string& name, const Shape& sample, DType dtype = DType::f32,
                   bool lengths = false);
  /// Returns noise of mean 0 and std 1, f32, sampled anew for each sample in each
  /// step: equal for equal TrainerOptions::seed and steps, on any device and in any batch. At
  /// inference it depends only on the sample's place in the data set, so a second prediction gives
  /// the same noise. Throws Error for a dim below 1.
  Expression normal(const Shape& sample);
  /// Returns noise as normal() does, uniform from `low` to `high`. Throws Error unless low <
  /// high.
  Expression uniform(const Shape& sample, double low = 0, double high = 1);
  /// Returns the network with these outputs, by name. Throws Error for names that occur twice, and
  /// for expressions of another network.
  Network build(const std::vector<std::pair<std::string, Expression>>& outputs) const;
  /// Returns an ensemble: a network whose one output, "output", is the mean of what its members
  /// predict. In a training each member learns by the output's loss on its own, as if it were
  /// alone; all else, evaluation and early stopping too, sees the mean. `answers` says what is
  /// averaged: probabilities of classes or labels, of which the members are logits, as the output
  /// is then, or the members' numbers.
  ///
  /// `folds`: member m holds out the samples of fold m % folds (Dataset::set_folds()): it does not
  /// learn from them. Evaluations and predictions of a data set with folds take for each sample the
  /// members that hold it out, and all members for a sample that none holds out; those of other
  /// data sets take all members. Where a batch is cut into shards, a member's loss is the mean of
  /// what it sees of each shard.
  ///
  /// Throws Error for no member, for members of different shapes, for expressions of another
  /// network, and unless the members are a multiple of `folds`.
  Network build_ensemble(const std::vector<Expression>& members, Answers answers,
                         std::int64_t folds = 1);

 private:
  template <class Op>
  Expression noise(const Shape& sample);

  std::unique_ptr<NetworkDefinition> definition_;
  std::unique_ptr<NetworkBuilder> builder_;
  std::shared_ptr<const ExpressionScope> scope_;
  int rows_ = -1;  ///< a value that stands for the first input while there may be none
};

}  // namespace linnet
LINNET_API_END
