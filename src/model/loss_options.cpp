// SPDX-License-Identifier: Apache-2.0
#include <linnet/dataset.h>

#include <algorithm>
#include <array>

#include "base/check.h"
#include "data/lengths.h"
#include "data/targets.h"
#include "model/loss_graph.h"
#include "model/options.h"

namespace linnet {
namespace {

constexpr std::int64_t kMostClasses = 1 << 20;  // a stray label would cost gigabytes
constexpr std::array<std::string_view, 13> kLossNames{"automatic",
                                                      "cross_entropy",
                                                      "mse",
                                                      "mae",
                                                      "binary_cross_entropy",
                                                      "huber",
                                                      "kl_divergence",
                                                      "hinge",
                                                      "cosine",
                                                      "focal",
                                                      "minkowski",
                                                      "quantile",
                                                      "normalized_squared_error"};

void require_weights(const std::vector<double>& weights, std::string_view what,
                     const Shape& outputs) {
  const std::int64_t count = outputs.rank() > 0 ? outputs[-1] : 1;
  require(static_cast<std::int64_t>(weights.size()) == count,
          "expected {} {}, one for each output; got {}", count, what, weights.size());
}

}  // namespace

std::vector<std::string_view> loss_names() { return {kLossNames.begin(), kLossNames.end()}; }

void check_loss_options(Loss loss, const LossOptions& o, bool labels, const Shape& outputs) {
  const std::string_view name = kLossNames[static_cast<std::size_t>(loss)];
  const auto belongs = [&](bool given, std::string_view option, bool right) {
    require(!given || right, "the loss {} of {} takes no {}", name, labels ? "labels" : "values",
            option);
  };
  const bool binary = loss == Loss::binary_cross_entropy;
  description_of<LossOptions>().check(&o, "");
  belongs(o.label_smoothing > 0, "label smoothing", loss == Loss::cross_entropy || binary);
  belongs(!o.class_weights.empty(), "class weights",
          labels || binary || loss == Loss::cross_entropy || loss == Loss::mse ||
              loss == Loss::mae || loss == Loss::normalized_squared_error);
  if (!o.class_weights.empty()) require_weights(o.class_weights, "class weights", outputs);
  belongs(o.ignore_index.has_value(), "ignored label", labels && !binary);
  belongs(o.quantile != LossOptions{}.quantile, "quantile", loss == Loss::quantile);
  belongs(!o.positive_weights.empty(), "positive weights", binary);
  if (!o.positive_weights.empty()) require_weights(o.positive_weights, "positive weights", outputs);
}

std::vector<double> balanced_class_weights(const Dataset& data,
                                           std::optional<std::int32_t> ignore_index) {
  require(!all_labels_of(data).empty(),
          "the data set '{}' has no labels; class weights need labels", data.info().name);
  const Column& target = data.targets()[0];
  const std::int64_t classes =
      data.classes().empty() ? classes_of(target, ignore_index) : std::ssize(data.classes());
  require(classes <= kMostClasses,
          "the data set '{}' has the label {}; expected at most {} classes for class weights",
          data.info().name, classes - 1, kMostClasses);
  std::vector<std::int64_t> count(static_cast<std::size_t>(classes));
  std::int64_t samples = 0;
  for_each_counted<std::int32_t>(target, [&](std::span<const std::int32_t> labels, std::size_t) {
    for (const std::int32_t label : labels) {
      if (label == ignore_index) continue;
      ++samples;
      require(label >= 0 && label < classes, "the data set '{}' has the label {} of {} classes",
              data.info().name, label, classes);
      ++count[static_cast<std::size_t>(label)];
    }
    return false;
  });
  std::vector<double> weights(count.size());
  std::transform(count.begin(), count.end(), weights.begin(), [&](std::int64_t n) {
    if (n == 0) return 0.0;
    return static_cast<double>(samples) /
           (static_cast<double>(count.size()) * static_cast<double>(n));
  });
  return weights;
}

}  // namespace linnet
