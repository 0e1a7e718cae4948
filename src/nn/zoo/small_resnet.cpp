// SPDX-License-Identifier: Apache-2.0
#include <linnet/zoo.h>

#include <algorithm>
#include <cstdint>

#include "nn/zoo/conv_norm.h"
#include "nn/zoo/options.h"

namespace linnet::zoo {
namespace {

constexpr std::int64_t kHalvedFrom = 64;   // pixels of the shorter side; twice as many: a quarter
constexpr std::int64_t kNarrowedFrom = 4;  // pixels of a stage that the next one halves
constexpr std::int64_t kFirstFilters = 32;
constexpr double kDropout = 0.2;

}  // namespace

Network small_resnet(const ImageOptions& options) {
  check_options("a small ResNet", options.sample, options.classes);
  const double epsilon = options.epsilon;
  std::int64_t side = std::min(options.sample[0], options.sample[1]);
  const bool quartered = side >= 2 * kHalvedFrom;
  const std::int64_t first = side >= kHalvedFrom ? 2 : 1;
  Network network(options.sample, {options.pixels, conv(kFirstFilters, 3, first, "conv1"),
                                   norm(epsilon, "bn1"), relu("relu1")});
  side = (side + first - 1) / first;
  if (quartered) {
    network.add(MaxPool2d{.size = 3, .stride = 2, .padding = Padding2d::all(1)});
    side = (side + 1) / 2;
  }
  for (std::int64_t stage = 0; stage < 3; ++stage) {
    const std::int64_t filters = kFirstFilters << stage;
    const std::int64_t stride = stage > 0 && side >= kNarrowedFrom ? 2 : 1;
    side = (side + stride - 1) / stride;
    const std::string name = fmt::format("layer{}", stage + 1);
    Residual residual{.body = {conv(filters, 3, stride, "conv1"), norm(epsilon, "bn1"),
                               relu("relu1"), conv(filters, 3, 1, "conv2"), norm(epsilon, "bn2")},
                      .name = name};
    if (stage > 0) residual.shortcut = {conv(filters, 1, stride, "conv"), norm(epsilon, "bn")};
    network.add(residual).add(relu(name + ".relu"));
  }
  network.add(GlobalAvgPool2d{});
  if (options.classes > 0) network.add(Dropout{.rate = kDropout});
  add_logits(network, options.classes, "fc");
  return network;
}

}  // namespace linnet::zoo
