// SPDX-License-Identifier: Apache-2.0
#include <linnet/expression.h>
#include <linnet/functions.h>
#include <linnet/layers.h>
#include <linnet/zoo.h>

#include <array>
#include <span>

#include "nn/zoo/designs.h"
#include "nn/zoo/options.h"

namespace linnet::zoo {
namespace {

constexpr std::int64_t kPatch = 16;
constexpr std::int64_t kBlocks = 12;
constexpr double kNormEpsilon = 1e-6;
constexpr Initializer kSmall{Initializer::Kind::normal, 0.02};

struct Vit {
  std::string_view name;
  std::int64_t width;
  std::int64_t heads;
};
constexpr std::array kVits{Vit{"tiny", 192, 3}, Vit{"small", 384, 6}, Vit{"base", 768, 12}};

/// Puts the class token, a trained row, before the patches.
CustomLayer class_token() {
  const auto function = [](const Expression& x, LayerWeights& weights) {
    const std::int64_t width = x.shape()[-1];
    const Expression token = weights.add("cls_token", {1, 1, width}, kSmall);
    return concat({reshape(token, {1, width}), x}, 0);
  };
  return {.kind = "class_token", .function = function, .name = "token"};
}

CustomLayer positions() {
  const auto function = [](const Expression& x, LayerWeights& weights) {
    const Shape& shape = x.shape();
    const Expression rows = weights.add("pos_embed", {1, shape[0], shape[1]}, kSmall);
    return x + reshape(rows, shape);
  };
  return {.kind = "positions", .function = function, .name = "positions"};
}

/// Returns the row of the class token.
CustomLayer first_row() {
  const auto function = [](const Expression& x, LayerWeights& /*weights*/) {
    return reshape(slice(x, 0, 0, 1), {x.shape()[-1]});
  };
  return {.kind = "first_row", .function = function, .name = "first_row"};
}

}  // namespace

Network vit(std::string_view size, const ImageOptions& options) {
  const auto& design = design_named<Vit>("ViT", kVits, size);
  check_options("a ViT", options.sample, options.classes);
  const std::int64_t rows = options.sample[0] / kPatch;
  const std::int64_t columns = options.sample[1] / kPatch;
  require(rows > 0 && columns > 0, "a ViT expects images of at least 16 x 16; got {}",
          to_string(options.sample));
  Network network(options.sample,
                  {options.pixels,
                   Conv2d{.filters = design.width,
                          .kernel = kPatch,
                          .stride = kPatch,
                          .weight_init = kSmall,
                          .name = "patch_embed.proj"},
                   Reshape{.sample = {rows * columns, design.width}}, class_token(), positions()});
  for (std::int64_t i = 0; i < kBlocks; ++i) {
    network.add(TransformerEncoderLayer{.heads = design.heads,
                                        .feed_forward = 4 * design.width,
                                        .dropout = 0,
                                        .activation = GELU{},
                                        .norm_first = true,
                                        .epsilon = kNormEpsilon,
                                        .name = fmt::format("blocks.{}", i)});
  }
  network.add(LayerNorm{.epsilon = kNormEpsilon, .name = "norm"}).add(first_row());
  add_logits(network, options.classes, "head", kSmall);
  return network;
}

}  // namespace linnet::zoo
