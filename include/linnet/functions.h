// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/export.h>
#include <linnet/layers/settings.h>
#include <linnet/types.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

namespace linnet {
struct ExpressionScope;
}  // namespace linnet

LINNET_API_BEGIN
namespace linnet {

/// Refers to a value of a network, a custom layer, a loss or a metric under construction. A handle,
/// valid while that is being built. Functions of expressions add operators to the graph, so
/// gradients, fusion and every device need no further code. Values are f32 unless stated; their
/// first axis is the batch, which shapes leave out.
///
/// All functions throw Error naming the function and the shapes for operands that do not fit, for
/// an operator that would read the padding of sequences with lengths as data, and for operands of
/// different lengths. The result has lengths if one of the operands has.
class Expression {
 public:
  /// Returns the shape without the batch; weights have no batch.
  Shape shape() const;
  /// Returns the element type.
  DType dtype() const;
  /// Returns whether the first axis is the batch: false for weights and for values that depend only
  /// on weights.
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

/// Lists axes of a sample: 0 is the first after the batch (of an image: 0 height, 1 width, 2
/// channels), and negative ones count from the end.
using Axes = std::vector<std::int64_t>;

// ---- Arithmetic, element by element. Operands are repeated to a common shape as in NumPy: counted
// from the last axis, dims are equal, 1 or missing. Weights are repeated for each sample.

/// Returns a + b, element by element.
Expression operator+(const Expression& a, const Expression& b);
/// Returns a - b, element by element.
Expression operator-(const Expression& a, const Expression& b);
/// Returns a * b, element by element.
Expression operator*(const Expression& a, const Expression& b);
/// Returns a / b, element by element.
Expression operator/(const Expression& a, const Expression& b);
/// Returns a + b, element by element.
Expression operator+(const Expression& a, double b);
/// Returns a - b, element by element.
Expression operator-(const Expression& a, double b);
/// Returns a * b, element by element.
Expression operator*(const Expression& a, double b);
/// Returns a / b, element by element.
Expression operator/(const Expression& a, double b);
/// Returns a + b, element by element.
Expression operator+(double a, const Expression& b);
/// Returns a - b, element by element.
Expression operator-(double a, const Expression& b);
/// Returns a * b, element by element.
Expression operator*(double a, const Expression& b);
/// Returns a / b, element by element.
Expression operator/(double a, const Expression& b);
/// Returns -x.
Expression operator-(const Expression& x);

/// Returns the larger of both, NaN if one is. Where they are equal, each gets half of the gradient.
Expression maximum(const Expression& a, const Expression& b);
/// Returns the smaller of both, as maximum() returns the larger.
Expression minimum(const Expression& a, const Expression& b);
/// Returns the larger of a and a number; a gets the gradient where it is the larger.
Expression maximum(const Expression& a, double b);
/// Returns the smaller of both, as maximum() returns the larger.
Expression minimum(const Expression& a, double b);

/// Returns e^x.
Expression exp(const Expression& x);
/// Returns e^x - 1.
Expression expm1(const Expression& x);
/// Returns the natural logarithm.
Expression log(const Expression& x);
/// Returns log(1 + x).
Expression log1p(const Expression& x);
/// Returns the square root.
Expression sqrt(const Expression& x);
/// Returns 1 / sqrt(x).
Expression rsqrt(const Expression& x);
/// Returns x².
Expression square(const Expression& x);
/// Returns 1 / x.
Expression reciprocal(const Expression& x);
/// Returns |x|; slope 0 at 0.
Expression abs(const Expression& x);
/// Returns -1, 0 or 1; slope 0.
Expression sign(const Expression& x);
/// Returns the sine of x in radians.
Expression sin(const Expression& x);
/// Returns the cosine of x in radians.
Expression cos(const Expression& x);
/// Returns the error function.
Expression erf(const Expression& x);
/// Returns x rounded down to a whole number; slope 0.
Expression floor(const Expression& x);
/// Returns x rounded up to a whole number; slope 0.
Expression ceil(const Expression& x);
/// Returns the nearest whole number, the even one for halves; slope 0.
Expression round(const Expression& x);
/// Returns x^exponent.
Expression pow(const Expression& x, double exponent);
/// Returns min(max(x, low), high); slope 0 at both bounds and beyond.
Expression clip(const Expression& x, double low, double high);

// ---- Comparisons: 1 where they hold, else 0, f32, without gradient. Operands are repeated as
// above; those of i32 (ids, argmax()) must have one shape. With NaN only not_equal() holds.
// Expressions have no == and !=, and no && and ||, which would evaluate one side alone.

/// Returns 1 where a < b, else 0.
Expression operator<(const Expression& a, const Expression& b);
/// Returns 1 where a <= b, else 0.
Expression operator<=(const Expression& a, const Expression& b);
/// Returns 1 where a > b, else 0.
Expression operator>(const Expression& a, const Expression& b);
/// Returns 1 where a >= b, else 0.
Expression operator>=(const Expression& a, const Expression& b);
/// Returns 1 where a equals b, else 0.
Expression equal(const Expression& a, const Expression& b);
/// Returns 1 where a does not equal b, else 0.
Expression not_equal(const Expression& a, const Expression& b);
/// Returns 1 where a < b, else 0.
Expression operator<(const Expression& a, double b);
/// Returns 1 where a <= b, else 0.
Expression operator<=(const Expression& a, double b);
/// Returns 1 where a > b, else 0.
Expression operator>(const Expression& a, double b);
/// Returns 1 where a >= b, else 0.
Expression operator>=(const Expression& a, double b);
/// Returns 1 where a equals b, else 0.
Expression equal(const Expression& a, double b);
/// Returns 1 where a does not equal b, else 0.
Expression not_equal(const Expression& a, double b);

/// Returns 1 where both are true, else 0. 0 is false, every other number and NaN is true.
Expression logical_and(const Expression& a, const Expression& b);
/// Returns 1 where at least one is true, else 0.
Expression logical_or(const Expression& a, const Expression& b);
/// Returns 1 where x is false, else 0.
Expression logical_not(const Expression& x);

/// Returns a where the condition is not 0, else b; all three are repeated to a common shape.
/// Elements that are not selected get a gradient of 0, even if they are NaN or infinite; a
/// condition gets no gradient.
Expression where(const Expression& condition, const Expression& a, const Expression& b);
/// Returns the selection with a number instead of one operand.
Expression where(const Expression& condition, const Expression& a, double b);
/// Returns the selection with a number instead of one operand.
Expression where(const Expression& condition, double a, const Expression& b);

// ---- Activations, element by element; softmax and log_softmax along an axis.

/// Returns max(x, 0); slope 0 at 0.
Expression relu(const Expression& x);
/// Returns x above 0, else slope x.
Expression leaky_relu(const Expression& x, double slope = 0.01);
/// Returns x above 0, else alpha (e^x - 1).
Expression elu(const Expression& x, double alpha = 1);
/// Returns a scaled elu of fixed constants (Klambauer et al., 2017).
Expression selu(const Expression& x);
/// Returns x Φ(x), or its approximation with tanh.
Expression gelu(const Expression& x, bool tanh_form = false);
/// Returns x / (1 + e^-x).
Expression silu(const Expression& x);
/// Returns the hyperbolic tangent.
Expression tanh(const Expression& x);
/// Returns 1 / (1 + e^-x).
Expression sigmoid(const Expression& x);
/// Returns log(1 + e^(beta x)) / beta; beta above 0.
Expression softplus(const Expression& x, double beta = 1);
/// Returns clip(x + 3, 0, 6) / 6.
Expression hard_sigmoid(const Expression& x);
/// Returns x clip(x + 3, 0, 6) / 6.
Expression hard_swish(const Expression& x);
/// Returns clip(x, low, high).
Expression hard_tanh(const Expression& x, double low = -1, double high = 1);
/// Returns e^x, divided by its sum along an axis.
Expression softmax(const Expression& x, std::int64_t axis = -1);
/// Returns log(softmax(x)) along an axis, which does not overflow.
Expression log_softmax(const Expression& x, std::int64_t axis = -1);
/// Returns (x - mean) / sqrt(variance + epsilon) over the last axis, without weights; the variance
/// is divided by the number of elements.
Expression layer_norm(const Expression& x, double epsilon = 1e-5);
/// Normalizes over the last axes, as many as `weight` has, then multiplies by `weight` and adds
/// `bias`, as a LayerNorm layer does. Both have the shape of these axes and come from LayerWeights,
/// or depend only on weights.
Expression layer_norm(const Expression& x, const Expression& weight, const Expression& bias,
                      double epsilon = 1e-5);
/// Normalizes the channels (the last axis) in equal groups, each over all pixels or steps of the
/// sample, then multiplies by `weight` and adds `bias`, as a GroupNorm layer does. Both are
/// (channels) and come from LayerWeights, or depend only on weights; `groups` divides the channels.
Expression group_norm(const Expression& x, std::int64_t groups, const Expression& weight,
                      const Expression& bias, double epsilon = 1e-5);

// ---- Reductions over axes of a sample; none: all. With keep_dims they stay, as dims of 1. Never
// over the batch: a loss and a metric are means over it anyway.

/// Returns the sum.
Expression sum(const Expression& x, Axes axes = {}, bool keep_dims = false);
/// Returns the mean.
Expression mean(const Expression& x, Axes axes = {}, bool keep_dims = false);
/// Returns the largest element; the first of equal ones gets the gradient.
Expression max(const Expression& x, Axes axes = {}, bool keep_dims = false);
/// Returns the smallest element, as max().
Expression min(const Expression& x, Axes axes = {}, bool keep_dims = false);
/// Returns the product; its gradient is also right at zeros.
Expression prod(const Expression& x, Axes axes = {}, bool keep_dims = false);
/// Returns the sum of squared distances from the mean, divided by (elements - correction): 1 is
/// PyTorch's default, 0 NumPy's. Throws Error unless that divisor is above 0.
Expression var(const Expression& x, Axes axes = {}, bool keep_dims = false, double correction = 1);
/// Returns the square root of var().
Expression stddev(const Expression& x, Axes axes = {}, bool keep_dims = false,
                  double correction = 1);
/// Returns log(sum(exp(x))), which does not overflow.
Expression log_sum_exp(const Expression& x, Axes axes = {}, bool keep_dims = false);
/// Returns 1 where any element is not 0, else 0; no gradient.
Expression any(const Expression& x, Axes axes = {}, bool keep_dims = false);
/// Returns 1 where all elements are not 0, else 0; no gradient.
Expression all(const Expression& x, Axes axes = {}, bool keep_dims = false);
/// Returns the index of the largest element along an axis, i32 without the axis, the first of equal
/// ones; NaN counts as the largest. No gradient.
Expression argmax(const Expression& x, std::int64_t axis = -1);
/// Returns the index of the smallest element, as argmax().
Expression argmin(const Expression& x, std::int64_t axis = -1);
/// Returns the sums of the elements up to each one along an axis; in reverse, from each one on.
Expression cumsum(const Expression& x, std::int64_t axis, bool reverse = false);

// ---- Shapes

/// Returns the same elements in another shape with as many elements.
Expression reshape(const Expression& x, Shape sample);
/// Reorders the axes: axis i of the result is axis permutation[i] of x.
Expression transpose(const Expression& x, const Axes& permutation);
/// Repeats x to this shape, whose last dims equal those of x where these are not 1.
Expression expand(const Expression& x, const Shape& sample);
/// Stands for the end of an axis in slice().
inline constexpr std::int64_t kToEnd = std::numeric_limits<std::int64_t>::max();
/// Returns the elements begin, begin + step, ... before `end` along an axis, as Python's
/// x[begin:end:step] for a step above 0: negative indices count from the end. Throws Error for
/// indices outside the axis.
Expression slice(const Expression& x, std::int64_t axis, std::int64_t begin,
                 std::int64_t end = kToEnd, std::int64_t step = 1);
/// Reverses the order of the elements along an axis.
Expression flip(const Expression& x, std::int64_t axis = -1);
/// Splits x into parts of these sizes along an axis, which must add up to its dim.
std::vector<Expression> split(const Expression& x, const std::vector<std::int64_t>& sizes,
                              std::int64_t axis);
/// Joins expressions one after the other along an axis.
Expression concat(const std::vector<Expression>& parts, std::int64_t axis);
/// Joins expressions of one shape along a new axis, whose place in the result is `axis`.
Expression stack(const std::vector<Expression>& parts, std::int64_t axis);
/// Pads x with `value` before and after its elements along an axis.
Expression pad(const Expression& x, std::int64_t axis, std::int64_t before, std::int64_t after,
               double value = 0);
/// Returns elements along an axis by each sample's ids, i32 (J...), which take the axis's place:
/// (T, C) and ids (J) give (J, C) for axis 0. For weights (V, ...) and axis 0 it returns rows of a
/// table that all samples share. An id outside the axis gives NaN. Gradients of elements that were
/// read several times add up in the order of the ids.
Expression gather(const Expression& x, const Expression& ids, std::int64_t axis = 0);
/// Returns elements along an axis with an id for each: ids have x's dims except along
/// the axis (PyTorch's gather and take_along_dim).
Expression take_along_axis(const Expression& x, const Expression& ids, std::int64_t axis);
/// Returns rows of `classes` numbers: 1 at the index of the id (i32), else 0; only zeros for an id
/// outside [0, classes).
Expression one_hot(const Expression& ids, std::int64_t classes);
/// Returns numbers as ids (i32): rounded towards zero, -1 for NaN and beyond the range of i32. No
/// gradient.
Expression to_ids(const Expression& x);

// ---- Products

/// Says how matmul() reads its operands.
struct MatmulOptions {
  bool transpose_a = false;  ///< reads a as (..., k, m) instead of (..., m, k)
  bool transpose_b = false;  ///< reads b as (..., n, k) instead of (..., k, n)
};
/// Multiplies a (..., m, k) and b (..., k, n) for each sample: (..., m, n). Leading axes are
/// repeated to a common shape. A sample of one axis is a row on the left and a column on the right.
/// Weights are the same for each sample.
Expression matmul(const Expression& a, const Expression& b, const MatmulOptions& options = {});
/// Returns x wᵀ for x (..., features) and a weight w (units, features).
Expression linear(const Expression& x, const Expression& weight);
/// Sums products as NumPy's einsum() does: einsum("btd,bsd->bts", {q, k}). A letter names an axis;
/// those that the result lacks are summed over. The batch is the first letter of every operand that
/// has one, and of the result; weights have none: "btd,dk->btk". It takes one or two operands, no
/// letter twice in one operand, and no "...". Throws Error naming the equation and the shapes.
Expression einsum(std::string_view equation, const std::vector<Expression>& operands);

/// Lets the steps of one sequence attend to those of another (Vaswani et al., 2017): softmax(q kᵀ /
/// sqrt(features / heads)) v in each head, for query (T, features), key (S, features) and value (S,
/// width), which gives (T, width). Query and memory of a cross-attention each pass a Dense before
/// it. `heads` divides features and width. Throws Error naming the shapes.
Expression scaled_dot_product_attention(const Expression& query, const Expression& key,
                                        const Expression& value, std::int64_t heads = 1);

// ---- Images (N, H, W, C)

/// Says how conv2d() moves its weight over the images.
struct Conv2dOptions {
  Size2d stride = 1;       ///< pixels from one window to the next, at least 1
  Padding2d padding = {};  ///< zeros around the image, in pixels
  Size2d dilation = 1;     ///< pixels between neighbours under the weight, at least 1
  /// Groups of channels, each with its own filters; divides channels and filters.
  std::int64_t groups = 1;
};
/// Convolves images as a Conv2d layer without bias does; `weight` (filters, height, width, channels
/// / groups) comes from LayerWeights, or depends only on weights.
Expression conv2d(const Expression& x, const Expression& weight, const Conv2dOptions& options = {});
/// Says how conv_transpose2d() moves its weight over the result.
struct ConvTranspose2dOptions {
  Size2d stride = 1;          ///< pixels of the result per pixel of the images, at least 1
  Padding2d padding = {};     ///< pixels removed from the result on each side
  Size2d output_padding = 0;  ///< pixels added below and to the right, below the stride
  Size2d dilation = 1;        ///< pixels between neighbours under the weight, at least 1
  std::int64_t groups = 1;  ///< groups of channels, each with its own filters; divides the channels
};
/// Computes a transposed convolution as a ConvTranspose2d layer without bias does. `weight`
/// (channels, height, width, filters / groups) comes from LayerWeights, or depends only on weights.
Expression conv_transpose2d(const Expression& x, const Expression& weight,
                            const ConvTranspose2dOptions& options = {});
/// Returns the largest value of each window, channel by channel. Stride 0: the window's size.
Expression max_pool2d(const Expression& x, Size2d size, Size2d stride = 0, Padding2d padding = {});
/// Returns the mean of each window, in which padding counts as zeros. Stride 0: the window's size.
Expression avg_pool2d(const Expression& x, Size2d size, Size2d stride = 0, Padding2d padding = {});
/// Returns the mean of each of `output` bins that cover the images, as PyTorch's
/// adaptive_avg_pool2d() does.
Expression adaptive_avg_pool2d(const Expression& x, Size2d output);
/// Resamples images to `size` pixels, as PyTorch's interpolate() does: the nearest pixel, or
/// bilinear between half-pixel centres (align_corners=False).
Expression resize2d(const Expression& x, Size2d size, bool bilinear = false);

// ---- Sequences and noise

/// Replaces scores (..., queries, keys) by `fill` where a key comes after its query.
Expression causal_mask(const Expression& scores, double fill = -1e30);
/// Returns 0 with probability `rate`, in [0, 1), else x / (1 - rate), drawn anew in each step; x
/// itself at inference. Throws Error in a loss and in a metric, which are also computed at
/// inference.
Expression dropout(const Expression& x, double rate);

// ---- Derivatives, as values of a network, a layer or a loss. They are operators like others: they
// train, are saved, and have derivatives themselves.
//
// Samples are taken apart: the derivative at a sample is that of its own y by its own x. That is
// why layers that mix the samples of a batch (batch norms) have none here. Recurrent layers, layer
// and group norms, maximum pooling and losses have none either: their gradients are operators
// without a gradient. Throws Error naming the operator and the layer.

/// Returns the gradient of y's elements, added up, by x: of x's shape. y and x are f32 and belong
/// to the same network, and both have a batch. Where y's slope jumps (ReLU at 0), its derivative is
/// that of PyTorch. Throws Error if y does not depend on x.
/// @code
/// const Expression u = concat({x, t}, 0) | Dense{.units = 32} | Tanh{} | Dense{.units = 1};
/// const Expression u_x = gradient(u, x);
/// const Expression residual = gradient(u, t) + u * u_x - viscosity * gradient(u_x, x);
/// @endcode
Expression gradient(const Expression& y, const Expression& x);
/// Returns the gradients by several values, for the work of one.
std::vector<Expression> gradient(const Expression& y, const std::vector<Expression>& x);
/// Returns the derivatives of each of y's elements by each of x's: y's dims, then x's. Takes a
/// backward pass for each element of y.
Expression jacobian(const Expression& y, const Expression& x);
/// Returns the matrix of second derivatives of y's elements, added up, by x, times v, of x's shape
/// and taken as a constant.
Expression hessian_vector(const Expression& y, const Expression& x, const Expression& v);
/// Returns the second derivatives of each of y's elements by each pair of x's: y's dims, then x's
/// twice. 0 where the slope does not depend on x. Takes a backward pass for each element of y, and
/// one for each of these by each of x.
Expression hessian(const Expression& y, const Expression& x);

/// Returns, in a custom loss, the input `name` of the network whose output `y` is ("": the first),
/// so that the loss can have derivatives of y by it:
/// @code
/// options.custom_loss = [](const Expression& y, const Expression& target) {
///   const Expression x = network_input(y);
///   return square(y - target) + 0.1 * square(gradient(y, x) - 1);
/// };
/// @endcode
/// It is what the network gets: augmented images, numbers that a table's transform made. Throws
/// Error for an unknown name, and outside of a loss.
Expression network_input(const Expression& y, std::string_view name = "");

}  // namespace linnet
LINNET_API_END
