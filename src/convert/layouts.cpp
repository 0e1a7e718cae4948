// SPDX-License-Identifier: Apache-2.0
#include "convert/layouts.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/check.h"
#include "core/dims.h"
#include "core/tensor_memory.h"

namespace linnet {
namespace {

using Dims = std::vector<std::int64_t>;
using Order = std::vector<std::size_t>;

/// Axis i of the result is axis order[i] of x.
Tensor transposed(const Tensor& x, const Order& order) {
  const std::size_t rank = order.size();
  Dims dims(rank);
  Dims strides(rank);
  for (std::size_t i = 0; i < rank; ++i) {
    dims[i] = x.shape().dims()[order[i]];
    strides[i] = 1;
    for (std::size_t axis = order[i] + 1; axis < rank; ++axis) strides[i] *= x.shape().dims()[axis];
  }
  Tensor y = uninitialized_tensor(DType::f32, Shape(dims));
  const std::span<const float> from = x.as<float>();
  Dims at(rank, 0);
  std::int64_t offset = 0;
  for (float& element : y.as_writable<float>()) {
    element = from[static_cast<std::size_t>(offset)];
    for (std::size_t axis = rank; axis-- > 0;) {
      offset += strides[axis];
      if (++at[axis] < dims[axis]) break;
      offset -= strides[axis] * dims[axis];
      at[axis] = 0;
    }
  }
  return y;
}

Order inverse(const Order& order) {
  Order back(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) back[order[i]] = i;
  return back;
}

Tensor zeros(const Shape& shape) { return Tensor(DType::f32, shape); }

/// Returns the last axis in the opposite order.
Tensor flipped(const Tensor& x) {
  Tensor y = x.clone();
  const auto channels = static_cast<std::ptrdiff_t>(x.shape()[-1]);
  const std::span<float> all = y.as_writable<float>();
  for (auto at = all.begin(); at != all.end(); at += channels) std::reverse(at, at + channels);
  return y;
}

/// Returns the same elements, in the same order.
TheirTensor same(std::string role, const Shape& shape, std::string ours) {
  return {.role = std::move(role),
          .shape = shape,
          .ours = {std::move(ours)},
          .to_ours = [](const Tensor& x) { return std::vector<Tensor>{x}; },
          .to_theirs = [](std::span<const Tensor> x) { return x[0]; }};
}

/// Ours, seen as `view`, has its axes in another order there, and the shape `shape`.
TheirTensor reordered(std::string role, const Shape& shape, std::string ours,
                      const Shape& our_shape, const Shape& view, const Order& order) {
  Dims seen;
  for (const std::size_t axis : order) seen.push_back(view.dims()[axis]);
  const Shape their_view(seen);
  return {.role = std::move(role),
          .shape = shape,
          .ours = {std::move(ours)},
          .to_ours =
              [=](const Tensor& x) {
                const Tensor y = transposed(x.reshaped(their_view), inverse(order));
                return std::vector<Tensor>{y.reshaped(our_shape)};
              },
          .to_theirs =
              [=](std::span<const Tensor> x) {
                return transposed(x[0].reshaped(view), order).reshaped(shape);
              }};
}

/// Returns the same with ours flipped along its channels.
TheirTensor with_flipped_channels(TheirTensor tensor) {
  const auto to_ours = tensor.to_ours;
  const auto to_theirs = tensor.to_theirs;
  tensor.to_ours = [to_ours](const Tensor& x) { return std::vector{flipped(to_ours(x)[0])}; };
  tensor.to_theirs = [to_theirs](std::span<const Tensor> x) {
    return to_theirs(std::array{flipped(x[0])});
  };
  return tensor;
}

/// Ours are (filters, height, width, depth, channels) under four axes.
TheirTensor conv3d_weight(const WeightLayer& layer, bool keras) {
  const Shape& w = layer.weights.at("weight");
  const std::int64_t d = layer.planes;
  const std::int64_t channels = w[3] / d;
  const Shape view{w[0], w[1], w[2], d, channels};
  return keras ? reordered("kernel", {d, w[1], w[2], channels, w[0]}, "weight", w, view,
                           {3, 1, 2, 4, 0})
               : reordered("weight", {w[0], channels, d, w[1], w[2]}, "weight", w, view,
                           {0, 4, 3, 1, 2});
}

TheirTensor conv_weight(const WeightLayer& layer, bool keras, bool bgr) {
  if (layer.planes > 0) return conv3d_weight(layer, keras);
  const Shape& w = layer.weights.at("weight");  // (filters, height, width, channels)
  TheirTensor tensor =
      keras ? reordered("kernel", {w[1], w[2], w[3], w[0]}, "weight", w, w, {1, 2, 3, 0})
            : reordered("weight", {w[0], w[3], w[1], w[2]}, "weight", w, w, {0, 3, 1, 2});
  return bgr && layer.first_conv && w[3] == 3 ? with_flipped_channels(std::move(tensor)) : tensor;
}

TheirTensor dense_weight(const WeightLayer& layer, WeightNames names, const NameRule& rule) {
  const Shape& w = layer.weights.at("weight");  // (units, features)
  if (names == WeightNames::keras) {
    return reordered("kernel", {w[1], w[0]}, "weight", w, w, {1, 0});
  }
  const bool conv = (names == WeightNames::timm && rule.conv_in_timm) ||
                    (names == WeightNames::torchvision && rule.conv_in_torchvision);
  if (layer.flattened.rank() == 0) {
    return same("weight", conv ? Shape{w[0], w[1], 1, 1} : w, "weight");
  }
  const Shape view = layer.flattened.batched(w[0]);  // (units, height, width, channels)
  if (view.rank() == 5) return reordered("weight", w, "weight", w, view, {0, 4, 1, 2, 3});
  const Shape theirs{view[0], view[3], view[1], view[2]};
  return reordered("weight", conv ? theirs : w, "weight", w, view, {0, 3, 1, 2});
}

/// Keras's matrix (features, gates * units) for our (gates * units, features). `gates`: which of
/// ours stands where there.
TheirTensor gate_matrix(const std::string& role, const std::string& ours, const Shape& w,
                        const Order& gates) {
  const auto count = static_cast<std::int64_t>(gates.size());
  const std::int64_t units = w[0] / count;
  const Shape theirs{w[1], w[0]};
  const auto exchanged = [=](const Tensor& x, const Order& order) {  // rows, gate by gate
    Tensor y = uninitialized_tensor(DType::f32, x.shape());
    const std::int64_t block = units * x.shape()[1];
    for (std::size_t g = 0; g < order.size(); ++g) {
      std::ranges::copy(x.as<float>().subspan(order[g] * static_cast<std::size_t>(block),
                                              static_cast<std::size_t>(block)),
                        y.as_writable<float>().begin() + static_cast<std::ptrdiff_t>(g) * block);
    }
    return y;
  };
  return {.role = role,
          .shape = theirs,
          .ours = {ours},
          .to_ours =
              [=](const Tensor& x) {
                return std::vector<Tensor>{exchanged(transposed(x, {1, 0}), inverse(gates))};
              },
          .to_theirs =
              [=](std::span<const Tensor> x) {
                return transposed(exchanged(x[0], gates), {1, 0});
              }};
}

/// Keras's bias for our two: both of a GRU as rows (2, gates * units), their sum of an LSTM.
TheirTensor gate_bias(std::int64_t columns, const Order& gates, bool both) {
  const auto n = static_cast<std::size_t>(columns);
  const std::size_t units = n / gates.size();
  const auto exchange = [=](std::span<const float> from, std::span<float> to, const Order& order) {
    for (std::size_t g = 0; g < order.size(); ++g) {
      std::ranges::copy(from.subspan(order[g] * units, units),
                        to.begin() + static_cast<std::ptrdiff_t>(g * units));
    }
  };
  return {.role = "bias",
          .shape = both ? Shape{2, columns} : Shape{columns},
          .ours = {"bias_ih_l0", "bias_hh_l0"},
          .to_ours =
              [=](const Tensor& x) {
                std::vector<Tensor> ours{zeros({columns}), zeros({columns})};
                for (std::size_t i = 0; i < (both ? 2U : 1U); ++i) {
                  exchange(x.as<float>().subspan(i * n, n), ours[i].as_writable<float>(),
                           inverse(gates));
                }
                return ours;
              },
          .to_theirs =
              [=](std::span<const Tensor> x) {
                Tensor y = zeros(both ? Shape{2, columns} : Shape{columns});
                std::vector<float> row(n);
                for (std::size_t i = 0; i < 2; ++i) {
                  exchange(x[i].as<float>(), row, gates);
                  const std::span<float> to = y.as_writable<float>();
                  for (std::size_t j = 0; j < n; ++j) to[(both ? i * n : 0) + j] += row[j];
                }
                return y;
              }};
}

std::vector<TheirTensor> keras_gates(const WeightLayer& layer) {
  const bool gru = layer.kind == WeightLayer::Kind::gru;
  // r, z, n are z, r, h there; i, f, g, o are i, f, c, o.
  const Order gates = gru ? Order{1, 0, 2} : Order{0, 1, 2, 3};
  std::vector<TheirTensor> all;
  all.push_back(gate_matrix("kernel", "weight_ih_l0", layer.weights.at("weight_ih_l0"), gates));
  all.push_back(
      gate_matrix("recurrent_kernel", "weight_hh_l0", layer.weights.at("weight_hh_l0"), gates));
  if (layer.has("bias_ih_l0")) {
    all.push_back(gate_bias(layer.weights.at("bias_ih_l0")[0], gates, gru));
  }
  return all;
}

std::string keras_role(const WeightLayer& layer, const std::string& role) {
  if (layer.kind == WeightLayer::Kind::embedding) return "embeddings";
  if (layer.kind != WeightLayer::Kind::norm) return role;
  if (role == "weight") return "gamma";
  if (role == "bias") return "beta";
  return role == "running_mean" ? "moving_mean" : "moving_variance";
}

/// Roles that PyTorch's libraries call otherwise.
struct Role {
  std::string_view ours, torchvision, timm;
};
constexpr std::array kRoles{Role{"gamma", "layer_scale", "gamma"},
                            Role{"cls_token", "class_token", "cls_token"},
                            Role{"pos_embed", "pos_embedding", "pos_embed"},
                            Role{"in_proj_weight", "in_proj_weight", "weight"},
                            Role{"in_proj_bias", "in_proj_bias", "bias"}};

std::string torch_role(const std::string& role, WeightNames names) {
  const auto found = std::ranges::find(kRoles, role, &Role::ours);
  if (found == kRoles.end()) return role;
  return std::string(names == WeightNames::timm ? found->timm : found->torchvision);
}

}  // namespace

std::vector<TheirTensor> their_tensors(const WeightLayer& layer, WeightNames names,
                                       const NameRule& rule, bool bgr) {
  using Kind = WeightLayer::Kind;
  const bool keras = names == WeightNames::keras;
  std::vector<TheirTensor> all;
  if (keras && (layer.kind == Kind::gru || layer.kind == Kind::lstm)) {
    require(layer.has("weight_ih_l0"),
            "the layer '{}' is reversed, which has no counterpart in Keras", layer.name);
    return keras_gates(layer);
  }
  require(!keras || layer.kind != Kind::other, "the layer '{}' has no counterpart in Keras",
          layer.name);
  for (const std::string& role : layer.roles) {
    const Shape& shape = layer.weights.at(role);
    if (names == WeightNames::linnet) {
      all.push_back(same(role, shape, role));
    } else if (layer.kind == Kind::conv && role == "weight") {
      all.push_back(conv_weight(layer, keras, bgr));
    } else if (layer.kind == Kind::dense && role == "weight") {
      all.push_back(dense_weight(layer, names, rule));
    } else {
      const bool scale = role == "gamma" && names == WeightNames::torchvision;
      all.push_back(same(keras ? keras_role(layer, role) : torch_role(role, names),
                         scale ? Shape{shape[0], 1, 1} : shape, role));
    }
  }
  return all;
}

}  // namespace linnet
