// SPDX-License-Identifier: Apache-2.0
#include <linnet/functions.h>
#include <linnet/layers/batch_norm.h>
#include <linnet/layers/group_norm.h>
#include <linnet/layers/layer_norm.h>

#include <algorithm>

#include "base/check.h"
#include "onnx/node_import.h"

namespace linnet::onnx {
namespace {

/// Returns the order of channels last, after the axes of pixels.
std::vector<int> channels_last(const Trace& x) {
  require<DataError>(x.axes.size() >= 2, "expected channels as axis 1; got {}",
                     text_of(dims_of(x)));
  std::vector<int> order;
  for (int i = 2; i < static_cast<int>(x.axes.size()); ++i) order.push_back(i);
  order.push_back(1);
  return order;
}

void set_channels(NodeImport& n, const std::string& layer, const char* role, std::size_t input,
                  std::int64_t channels) {
  require<DataError>(n.constant(input)->dims() == Dims{channels}, "expected {} numbers; got {}",
                     channels, text_of(n.constant(input)->dims()));
  n.network().set_weight(layer, role, n.constant(input), as_is({channels}));
}

void batch_norm(NodeImport& n) {
  const Trace x = n.floats(0);
  n.ignore("is_test");  // before opset 7
  require<DataError>(n.integer("training_mode", 0) == 0 && n.integer("spatial", 1) == 1,
                     "training_mode and spatial = 0 are not supported");
  const std::vector<int> order = channels_last(x);
  const std::int64_t channels = dims_of(x)[1];
  BatchNorm norm;
  norm.epsilon = n.number("epsilon", 1e-5);
  norm.momentum = 1 - n.number("momentum", 0.9);
  norm.name = n.layer_name(*n.constant(1));
  const Expression y = arranged(x, order, 0) | norm;
  set_channels(n, norm.name, "weight", 1, channels);
  set_channels(n, norm.name, "bias", 2, channels);
  set_channels(n, norm.name, "running_mean", 3, channels);
  set_channels(n, norm.name, "running_var", 4, channels);
  n.give(from_rows(x, n.scoped(y), order, 0));
}

void instance_norm(NodeImport& n) {
  const Trace x = n.floats(0);
  const std::vector<int> order = channels_last(x);
  const std::int64_t channels = dims_of(x)[1];
  GroupNorm norm;
  norm.groups = channels;
  norm.epsilon = n.number("epsilon", 1e-5);
  norm.name = n.layer_name(*n.constant(1));
  const Expression y = arranged(x, order, 0) | norm;
  set_channels(n, norm.name, "weight", 1, channels);
  set_channels(n, norm.name, "bias", 2, channels);
  n.give(from_rows(x, n.scoped(y), order, 0));
}

void group_norm(NodeImport& n) {
  const Trace x = n.floats(0);
  n.ignore("stash_type");
  const std::vector<int> order = channels_last(x);
  const std::int64_t channels = dims_of(x)[1];
  GroupNorm norm;
  norm.groups = n.integer("num_groups", 0);
  norm.epsilon = n.number("epsilon", 1e-5);
  norm.name = n.layer_name(*n.constant(1));
  require<DataError>(norm.groups > 0 && channels % norm.groups == 0,
                     "expected groups that divide {} channels; got {}", channels, norm.groups);
  const Expression y = arranged(x, order, 0) | norm;
  if (n.opset() >= 21) {
    set_channels(n, norm.name, "weight", 1, channels);
    set_channels(n, norm.name, "bias", 2, channels);
  } else {  // a number for each group
    for (const std::size_t i : {1, 2}) {
      require<DataError>(n.constant(i)->dims() == Dims{norm.groups}, "expected {} numbers; got {}",
                         norm.groups, text_of(n.constant(i)->dims()));
      std::vector<float> each;
      for (const float value : n.constant(i)->floats()) {
        each.insert(each.end(), static_cast<std::size_t>(channels / norm.groups), value);
      }
      n.network().set_weight(norm.name, i == 1 ? "weight" : "bias", std::move(each));
    }
  }
  n.give(from_rows(x, n.scoped(y), order, 0));
}

/// Returns the axes from `first` on as the last ones of an expression, the others before them.
std::vector<int> last_axes(const Trace& x, int first, int batch) {
  std::vector<int> order;
  for (int i = 0; i < static_cast<int>(x.axes.size()); ++i) {
    if (i != batch) order.push_back(i);
  }
  std::ranges::stable_sort(order, {}, [&](int i) {
    const Axis& places = x.axes[static_cast<std::size_t>(i)];
    return i >= first ? 1000 + i : places.empty() ? 0 : places.front();
  });
  return order;
}

void layer_norm(NodeImport& n) {
  const Trace x = n.floats(0);
  n.ignore("stash_type");
  const int first = n.axis(n.integer("axis", -1), x.axes.size());
  const int batch = batch_axis(x);
  require<DataError>(batch < first, "would normalise over the batch");
  const Dims dims = dims_of(x);
  const Dims normed(dims.begin() + first, dims.end());
  LayerNorm norm;
  norm.epsilon = n.number("epsilon", 1e-5);
  norm.axes = static_cast<std::int64_t>(normed.size());
  norm.name = n.layer_name(*n.constant(1));
  const std::vector<int> order = last_axes(x, first, batch);
  const Expression y = arranged(x, order, batch) | norm;
  for (const std::size_t i : {1, 2}) {
    if (!n.has(i)) continue;
    require<DataError>(n.constant(i)->dims() == normed, "expected {}; got {}", text_of(normed),
                       text_of(n.constant(i)->dims()));
    n.network().set_weight(norm.name, i == 1 ? "weight" : "bias", n.constant(i), as_is(normed));
  }
  if (!n.has(2)) {
    n.network().set_weight(norm.name, "bias",
                           std::vector<float>(static_cast<std::size_t>(elements_of(normed))));
  }
  n.give(from_rows(x, n.scoped(y), order, batch));
  if (!n.wants(1) && !n.wants(2)) return;
  std::vector<bool> reduced(x.axes.size(), false);
  Axes over;
  for (std::size_t i = static_cast<std::size_t>(first); i < x.axes.size(); ++i) {
    reduced[i] = true;
    for (const int place : x.axes[i]) over.push_back(place - 1);
  }
  require<DataError>(!over.empty(), "expected axes of more than one number");
  std::ranges::sort(over);
  const Expression centred = x.e - mean(x.e, over, true);
  const Expression scale = rsqrt(mean(square(centred), over) + norm.epsilon);
  if (n.wants(1)) n.give(without(x, mean(x.e, over), reduced, true, x.type), 1);
  if (n.wants(2)) n.give(without(x, scale, reduced, true, x.type), 2);
}

/// Axes of the expression that these ONNX axes are.
Axes places(NodeImport& n, const Trace& x, const std::vector<std::int64_t>& axes) {
  Axes all;
  for (const std::int64_t axis : axes) {
    for (const int place : x.axes[static_cast<std::size_t>(n.axis(axis, x.axes.size()))]) {
      require<DataError>(place > 0, "would reduce axis {}, the batch", axis);
      all.push_back(place - 1);
    }
  }
  require<DataError>(!all.empty(), "expected axes of more than one number");
  std::ranges::sort(all);
  return all;
}

void rms_norm(NodeImport& n) {
  const Trace x = n.floats(0);
  n.ignore("stash_type");
  const int first = n.axis(n.integer("axis", -1), x.axes.size());
  std::vector<std::int64_t> axes;
  for (int i = first; i < static_cast<int>(x.axes.size()); ++i) axes.push_back(i);
  const Axes over = places(n, x, axes);
  const double epsilon = n.number("epsilon", 1e-5);
  const Trace y = n.as(x, x.e * rsqrt(mean(square(x.e), over, true) + epsilon));
  const Aligned both = n.align({y, n.input(1)});
  n.give(Trace{both.operands[0] * both.operands[1], both.axes, x.type});
}

void lp_norm(NodeImport& n) {
  const Trace x = n.floats(0);
  const std::int64_t p = n.integer("p", 2);
  require<DataError>(p == 1 || p == 2, "expected p of 1 or 2; got {}", p);
  const Axes over = places(n, x, {n.integer("axis", -1)});
  const Expression size = p == 1 ? sum(abs(x.e), over, true) : sqrt(sum(square(x.e), over, true));
  n.give(n.as(x, where(equal(size, 0), 0, x.e / size)));
}

void mean_variance_norm(NodeImport& n) {
  const Trace x = n.floats(0);
  const Axes over = places(n, x, n.integers("axes", {0, 2, 3}));
  const Expression centred = x.e - mean(x.e, over, true);
  n.give(n.as(x, centred / (sqrt(mean(square(centred), over, true)) + 1e-9)));
}

}  // namespace

void add_norms(Operators& all) {
  all["BatchNormalization"] = {batch_norm,
                               "inference mode; a training computes batch statistics again"};
  all["InstanceNormalization"] = {instance_norm, {}};
  all["GroupNormalization"] = {group_norm, {}};
  all["LayerNormalization"] = {layer_norm, "scale and bias with the shape of the normalised dims"};
  all["RMSNormalization"] = {rms_norm, {}};
  all["LpNormalization"] = {lp_norm, "not along the batch"};
  all["MeanVarianceNormalization"] = {mean_variance_norm, "not over the batch"};
}

}  // namespace linnet::onnx
