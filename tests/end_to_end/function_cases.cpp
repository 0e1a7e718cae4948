// SPDX-License-Identifier: Apache-2.0
#include "function_cases.h"

#include <linnet/expression.h>
#include <linnet/layers.h>

namespace linnet::testing {

using Operands = const std::vector<Expression>&;

const std::map<std::string, FunctionCase>& function_cases() {
  static const std::map<std::string, FunctionCase> cases{
      {"add", [](Operands x) { return x[0] + x[1]; }},
      {"subtract a row", [](Operands x) { return x[0] - x[1]; }},
      {"subtract from a column", [](Operands x) { return x[0] - x[1]; }},
      {"multiply both ways", [](Operands x) { return x[0] * x[1]; }},
      {"multiply outer and inner", [](Operands x) { return x[0] * x[1]; }},
      {"multiply at two places", [](Operands x) { return x[0] * x[1]; }},
      {"divide", [](Operands x) { return x[0] / x[1]; }},
      {"divide a column", [](Operands x) { return x[0] / x[1]; }},
      {"arithmetic with numbers", [](Operands x) { return ((x[0] + 0.5) * 3 - 1.25) / 2; }},
      {"numbers with arithmetic", [](Operands x) { return 2 / (6 - (0.25 + 1.5 * x[0])); }},
      {"negative", [](Operands x) { return -x[0]; }},
      {"divide a row", [](Operands x) { return x[0] / x[1]; }},
      {"maximum", [](Operands x) { return maximum(x[0], x[1]); }},
      {"minimum", [](Operands x) { return minimum(x[0], x[1]); }},
      {"maximum with a number", [](Operands x) { return maximum(x[0], 0.3); }},
      {"minimum with a number", [](Operands x) { return minimum(x[0], 0.3); }},
      {"exp", [](Operands x) { return exp(x[0]); }},
      {"expm1", [](Operands x) { return expm1(x[0]); }},
      {"log", [](Operands x) { return log(x[0]); }},
      {"log1p", [](Operands x) { return log1p(x[0]); }},
      {"sqrt", [](Operands x) { return sqrt(x[0]); }},
      {"rsqrt", [](Operands x) { return rsqrt(x[0]); }},
      {"square", [](Operands x) { return square(x[0]); }},
      {"reciprocal", [](Operands x) { return reciprocal(x[0]); }},
      {"abs", [](Operands x) { return abs(x[0]); }},
      {"sign", [](Operands x) { return sign(x[0]); }},
      {"sin", [](Operands x) { return sin(x[0]); }},
      {"cos", [](Operands x) { return cos(x[0]); }},
      {"erf", [](Operands x) { return erf(x[0]); }},
      {"floor", [](Operands x) { return floor(x[0]); }},
      {"ceil", [](Operands x) { return ceil(x[0]); }},
      {"round", [](Operands x) { return round(x[0]); }},
      {"pow", [](Operands x) { return pow(x[0], 2.5); }},
      {"clip", [](Operands x) { return clip(x[0], -0.7, 1.1); }},
      {"less", [](Operands x) { return round(x[0]) < round(x[1]); }},
      {"less_equal", [](Operands x) { return round(x[0]) <= round(x[1]); }},
      {"greater", [](Operands x) { return round(x[0]) > round(x[1]); }},
      {"greater_equal", [](Operands x) { return round(x[0]) >= round(x[1]); }},
      {"less than a number", [](Operands x) { return round(x[0]) < 1; }},
      {"less_equal a number", [](Operands x) { return round(x[0]) <= 1; }},
      {"greater than a number", [](Operands x) { return round(x[0]) > 1; }},
      {"greater_equal a number", [](Operands x) { return round(x[0]) >= 1; }},
      {"equal", [](Operands x) { return equal(round(x[0]), 1); }},
      {"not_equal", [](Operands x) { return not_equal(round(x[0]), 1); }},
      {"equal ids", [](Operands x) { return equal(x[0], argmax(x[1])); }},
      {"logical_and", [](Operands x) { return logical_and(round(x[0]), round(x[1])); }},
      {"logical_or", [](Operands x) { return logical_or(x[0] > 0, round(x[1])); }},
      {"logical_not", [](Operands x) { return logical_not(round(x[0])); }},
      {"where", [](Operands x) { return where(x[0] > 0, x[1], x[2]); }},
      {"where or a number", [](Operands x) { return where(x[0] > 0, x[1], -1.5); }},
      {"where a number", [](Operands x) { return where(x[0] > 0, 0.25, x[1]); }},
      {"relu", [](Operands x) { return relu(x[0]); }},
      {"leaky_relu", [](Operands x) { return leaky_relu(x[0], 0.2); }},
      {"elu", [](Operands x) { return elu(x[0], 1.5); }},
      {"selu", [](Operands x) { return selu(x[0]); }},
      {"gelu", [](Operands x) { return gelu(x[0]); }},
      {"gelu of tanh", [](Operands x) { return gelu(x[0], true); }},
      {"silu", [](Operands x) { return silu(x[0]); }},
      {"tanh", [](Operands x) { return tanh(x[0]); }},
      {"sigmoid", [](Operands x) { return sigmoid(x[0]); }},
      {"softplus", [](Operands x) { return softplus(x[0], 2); }},
      {"hard_sigmoid", [](Operands x) { return hard_sigmoid(x[0]); }},
      {"hard_swish", [](Operands x) { return hard_swish(x[0]); }},
      {"hard_tanh", [](Operands x) { return hard_tanh(x[0], -0.8, 1.2); }},
      {"softmax", [](Operands x) { return softmax(x[0]); }},
      {"softmax of an axis", [](Operands x) { return softmax(x[0], 0); }},
      {"log_softmax", [](Operands x) { return log_softmax(x[0]); }},
      {"log_softmax of an axis", [](Operands x) { return log_softmax(x[0], 1); }},
      {"layer_norm", [](Operands x) { return layer_norm(x[0], 1e-3); }},
      {"sum", [](Operands x) { return sum(x[0]); }},
      {"mean", [](Operands x) { return mean(x[0], {-1}); }},
      {"max", [](Operands x) { return max(x[0], {0}); }},
      {"min", [](Operands x) { return min(x[0], {1}, true); }},
      {"prod", [](Operands x) { return prod(x[0], {0}); }},
      {"prod of all", [](Operands x) { return prod(x[0]); }},
      {"prod with zeros", [](Operands x) { return prod(round(x[0] / 2 + 0.01) * x[0], {0}); }},
      {"var", [](Operands x) { return var(x[0], {-1}); }},
      {"var of all, biased", [](Operands x) { return var(x[0], {}, true, 0); }},
      {"std", [](Operands x) { return stddev(x[0], {0}); }},
      {"log_sum_exp", [](Operands x) { return log_sum_exp(x[0]); }},
      {"log_sum_exp of an axis", [](Operands x) { return log_sum_exp(x[0], {0}, true); }},
      {"any", [](Operands x) { return any(round(-square(x[0]) / 4), {0}); }},
      {"all", [](Operands x) { return all(round(x[0]), {0}); }},
      {"argmax", [](Operands x) { return one_hot(argmax(x[0]), 4); }},
      {"argmin", [](Operands x) { return one_hot(argmin(x[0], 0), 3); }},
      {"cumsum", [](Operands x) { return cumsum(x[0], 0); }},
      {"cumsum in reverse", [](Operands x) { return cumsum(x[0], -1, true); }},
      {"reshape",
       [](Operands x) {
         return reshape(x[0], {2, 6});
       }},
      {"transpose",
       [](Operands x) {
         return transpose(x[0], {2, 0, 1});
       }},
      {"expand",
       [](Operands x) {
         return expand(x[0], {2, 3, 4});
       }},
      {"slice", [](Operands x) { return slice(x[0], 1, 1, 3); }},
      {"slice from the end", [](Operands x) { return slice(x[0], 0, -2); }},
      {"slice in steps", [](Operands x) { return slice(x[0], 0, 1, -1, 2); }},
      {"flip", [](Operands x) { return flip(x[0], 0); }},
      {"concat",
       [](Operands x) {
         return concat({x[0], x[1]}, 1);
       }},
      {"stack",
       [](Operands x) {
         return stack({x[0], x[1]}, 1);
       }},
      {"stack last",
       [](Operands x) {
         return stack({x[0], x[1]}, -1);
       }},
      {"pad", [](Operands x) { return pad(x[0], 1, 2, 1, -1.5); }},
      {"pad rows", [](Operands x) { return pad(x[0], 0, 1, 2); }},
      {"gather", [](Operands x) { return gather(x[0], x[1]); }},
      {"gather features", [](Operands x) { return gather(x[0], x[1], -1); }},
      {"gather by a matrix", [](Operands x) { return gather(x[0], x[1]); }},
      {"take_along_axis", [](Operands x) { return take_along_axis(x[0], x[1], 0); }},
      {"take_along_axis of features", [](Operands x) { return take_along_axis(x[0], x[1], 1); }},
      {"one_hot", [](Operands x) { return one_hot(x[0], 4); }},
      {"to_ids", [](Operands x) { return one_hot(to_ids(x[0]), 4); }},
      {"matmul", [](Operands x) { return matmul(x[0], x[1]); }},
      {"matmul transposed",
       [](Operands x) { return matmul(x[0], x[1], {.transpose_a = true, .transpose_b = true}); }},
      {"matmul of leading axes", [](Operands x) { return matmul(x[0], x[1]); }},
      {"matmul of vectors", [](Operands x) { return matmul(x[0], x[1]); }},
      {"matmul of a row", [](Operands x) { return matmul(x[0], x[1]); }},
      {"matmul of a column", [](Operands x) { return matmul(x[0], x[1]); }},
      {"einsum scores",
       [](Operands x) {
         return einsum("btd,bsd->bts", {x[0], x[1]});
       }},
      {"einsum heads",
       [](Operands x) {
         return einsum("bqhd,bkhd->bhqk", {x[0], x[1]});
       }},
      {"einsum values",
       [](Operands x) {
         return einsum("bhqk, bkhd -> bqhd", {x[0], x[1]});
       }},
      {"einsum outer",
       [](Operands x) {
         return einsum("bi,bj->bji", {x[0], x[1]});
       }},
      {"einsum with a sum",
       [](Operands x) {
         return einsum("bic,bij->bj", {x[0], x[1]});
       }},
      {"einsum to a number",
       [](Operands x) {
         return einsum("bij,bij->b", {x[0], x[1]});
       }},
      {"einsum of one", [](Operands x) { return einsum("bijk->bki", {x[0]}); }},
      {"max_pool2d",
       [](Operands x) {
         return max_pool2d(x[0], {2, 3}, 2);
       }},
      {"avg_pool2d", [](Operands x) { return avg_pool2d(x[0], 2, 0, Padding2d::all(1)); }},
      {"resize2d",
       [](Operands x) {
         return resize2d(x[0], {5, 6});
       }},
      {"resize2d bilinear",
       [](Operands x) {
         return resize2d(x[0], {7, 4}, true);
       }},
      {"upsample2d",
       [](Operands x) {
         return x[0] | UpSample2d{.scale = {3, 2}};
       }},
      {"upsample2d bilinear", [](Operands x) { return x[0] | UpSample2d{.bilinear = true}; }},
      {"adaptive_avg_pool2d",
       [](Operands x) {
         return adaptive_avg_pool2d(x[0], {3, 4});
       }},
      {"conv_transpose2d", [](Operands x) { return conv_transpose2d(x[0], x[1]); }},
      {"conv_transpose2d of groups",
       [](Operands x) {
         return conv_transpose2d(x[0], x[1],
                                 {.stride = {2, 3},
                                  .padding = Padding2d::all(1),
                                  .output_padding = {1, 2},
                                  .dilation = {2, 1},
                                  .groups = 2});
       }},
      {"layer_norm with weights", [](Operands x) { return layer_norm(x[0], x[1], x[2], 1e-3); }},
      {"layer_norm of two axes", [](Operands x) { return layer_norm(x[0], x[1], x[2]); }},
      {"group_norm", [](Operands x) { return group_norm(x[0], 3, x[1], x[2], 1e-3); }},
      {"group_norm of steps", [](Operands x) { return group_norm(x[0], 2, x[1], x[2]); }},
      {"causal_mask", [](Operands x) { return softmax(causal_mask(x[0])); }},
      {"attention", [](Operands x) { return scaled_dot_product_attention(x[0], x[1], x[2]); }},
      {"attention of heads",
       [](Operands x) { return scaled_dot_product_attention(x[0], x[1], x[2], 2); }},
      {"split",
       [](Operands x) {
         const std::vector<Expression> parts = split(x[0], {2, 1, 1}, 1);
         return prod(parts[0], {1}) * sum(parts[1], {1}) - sum(parts[2], {1});
       }},
  };
  return cases;
}

}  // namespace linnet::testing
