// SPDX-License-Identifier: Apache-2.0
#include <linnet/whiten.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "base/check.h"
#include "base/covariance.h"
#include "base/eigen.h"
#include "data/fit_images.h"
#include "data/subsample.h"
#include "describe/nearest.h"
#include "model/bind_columns.h"
#include "model/inner_values.h"
#include "model/input_batches.h"
#include "model/model_state.h"
#include "model/options.h"
#include "model/step_graph.h"
#include "ops/conv2d/conv2d.h"
#include "plan/passes/match.h"

namespace linnet {
namespace {

constexpr std::int64_t kMostSamples = 250;                    // computed at a time
constexpr std::int64_t kMostNumbers = std::int64_t{1} << 23;  // of their values
constexpr std::int64_t kMostTaps = 1024;                      // of a patch: more take minutes

/// A convolution that the network has, and its parameter.
struct Convolution {
  const ParameterSpec* weight = nullptr;
  Value input = {};
  ConvShape shape = {};  ///< at one sample
};

Convolution convolution_of(const NetworkDefinition& network, const std::string& layer) {
  std::vector<std::string> names;
  for (const Node& node : network.graph.nodes()) {
    const auto* conv = op_as<Conv2dOp>(&node);
    if (conv == nullptr) continue;
    const auto weight =
        std::ranges::find(network.parameters, node.inputs[Conv2dOp::In::w], &ParameterSpec::value);
    if (weight == network.parameters.end()) continue;
    names.push_back(node.name);
    if (weight->name != layer + ".weight") continue;
    const Value x = node.inputs[Conv2dOp::In::x];
    const Shape sample = network.graph.shape(x).sample();
    return {&*weight, x, conv_shape(conv->attrs(), sample.batched(1), weight->shape, layer)};
  }
  fail("[whiten '{}'] expected the name of a conv2d layer; {}", layer,
       names.empty() ? "the network has none" : "these are " + some_of(names));
}

/// The windows along an axis that lie inside the image.
struct Windows {
  Windows(std::int64_t size, std::int64_t kernel, std::int64_t dilation, std::int64_t by,
          std::int64_t pad)
      : stride(by), first((pad + by - 1) / by * by - pad) {
    const std::int64_t last = size - 1 - (kernel - 1) * dilation;
    count = last < first ? 0 : (last - first) / by + 1;
  }
  std::int64_t at(std::int64_t i) const { return first + i * stride; }

  std::int64_t stride;
  std::int64_t first;
  std::int64_t count = 0;
};

/// Adds the patches of images (N, H, W, C), f64, in the order of the weights (KH, KW, C).
void add_patches(Covariance& covariance, const ConvShape& conv, std::span<const double> images) {
  const Conv2dAttrs& a = conv.attrs;
  const Windows rows(conv.h, conv.kh, a.dilation_h, a.stride_h, a.pad_top);
  const Windows columns(conv.w, conv.kw, a.dilation_w, a.stride_w, a.pad_left);
  const auto channels = static_cast<std::size_t>(conv.c);
  const auto image = static_cast<std::size_t>(conv.h * conv.w) * channels;
  std::vector<double> patch(static_cast<std::size_t>(conv.taps()));
  for (std::size_t begin = 0; begin < images.size(); begin += image) {
    for (std::int64_t i = 0; i < rows.count; ++i) {
      for (std::int64_t j = 0; j < columns.count; ++j) {
        auto to = patch.begin();
        for (std::int64_t k = 0; k < conv.kh; ++k) {
          for (std::int64_t l = 0; l < conv.kw; ++l) {
            const std::int64_t pixel =
                (rows.at(i) + k * a.dilation_h) * conv.w + columns.at(j) + l * a.dilation_w;
            const auto from = begin + static_cast<std::size_t>(pixel) * channels;
            to = std::ranges::copy(images.subspan(from, channels), to).out;
          }
        }
        covariance.add(patch);
      }
    }
  }
}

/// Adds the patches that the convolution reads of these samples.
void add_samples(Covariance& covariance, const Convolution& conv, const std::string& layer,
                 ModelState& model, const Dataset& data) {
  const NetworkDefinition& network = model.definition();
  const auto input = std::ranges::find(network.inputs, conv.input, &NetworkInput::value);
  if (input == network.inputs.end()) {
    const Tensor read = values_before(model, layer, conv.input, data).to(DType::f64);
    return add_patches(covariance, conv.shape, read.as<double>());
  }
  const std::vector<StepData::Part> parts = step_inputs(network, data);
  const StepData::Part& part = parts[static_cast<std::size_t>(input - network.inputs.begin())];
  InputBatches samples(part, DType::f64, data.size(), data.size());
  const Shape shape = input->sample.batched(data.size());
  const Tensor read = Tensor::borrow(DType::f64, shape, samples.at(0, data.size()));
  add_patches(covariance, conv.shape, read.as<double>());
}

Covariance patches_of(const Convolution& conv, Model& model, const Dataset& data,
                      const Whiten& how) {
  const NetworkDefinition& network = model.state().definition();
  const std::int64_t count = std::min(how.samples, data.size());
  const std::int64_t together =
      std::clamp<std::int64_t>(kMostNumbers / (conv.shape.in_pixels() * conv.shape.c), 1,
                               kMostSamples);
  Covariance covariance(static_cast<std::size_t>(conv.shape.taps()));
  for (std::int64_t begin = 0; begin < count; begin += together) {
    std::vector<std::int64_t> rows;
    for (std::int64_t i = begin; i < std::min(begin + together, count); ++i) {
      rows.push_back(kept_record(i, data.size(), count));
    }
    Dataset samples = data.take(rows);
    const Column* images = bind_inputs(network, samples)[0];
    const auto index = static_cast<std::size_t>(images - samples.inputs().data());
    samples = fit_images(std::move(samples), network.inputs[0].sample, index);
    add_samples(covariance, conv, how.layer, model.state(), samples);
  }
  return covariance;
}

}  // namespace

void whiten(Model& model, const Dataset& data, const Whiten& how) {
  description_of<Whiten>().check(&how, how.layer);
  const Convolution conv = convolution_of(model.state().definition(), how.layer);
  const ConvShape& shape = conv.shape;
  const std::string weights = "w=" + to_string(conv.weight->shape);
  require(shape.attrs.groups == 1, "[whiten '{}'] expected a convolution in one group; got {}",
          how.layer, shape.attrs.groups);
  const std::int64_t taps = shape.taps();
  require(taps <= kMostTaps, "[whiten '{}'] expected patches of at most {} numbers; got {} of {}",
          how.layer, kMostTaps, taps, weights);
  require(shape.co >= 2 * taps,
          "[whiten '{}'] expected at least 2 * {} * {} * {} = {} filters; got {}", how.layer,
          shape.kh, shape.kw, shape.c, 2 * taps, weights);
  require<DataError>(data.size() > 0, "[whiten '{}'] expected samples; the data set '{}' has none",
                     how.layer, data.info().name);
  const Covariance patches = patches_of(conv, model, data, how);
  require(patches.count() > 0, "[whiten '{}'] no patch lies inside x=(N, {}, {}, {}); {}",
          how.layer, shape.h, shape.w, shape.c, weights);
  const std::vector<double> covariance = patches.matrix();
  const bool finite = std::ranges::all_of(covariance, [](double x) { return std::isfinite(x); });
  require<DataError>(finite, "[whiten '{}'] its input has values that are not finite", how.layer);
  const auto size = static_cast<std::size_t>(taps);
  const Eigen eigen = symmetric_eigen(covariance, size);
  require<DataError>(eigen.values.front() > 0, "[whiten '{}'] all patches of its input are equal",
                     how.layer);
  Tensor set = model.parameter(conv.weight->name).to(DType::f64);
  const std::span<double> filters = set.as_writable<double>();
  for (std::size_t i = 0; i < size; ++i) {
    const double scale = 1 / std::sqrt(std::max(eigen.values[i], 0.0) + how.epsilon);
    for (std::size_t j = 0; j < size; ++j) {
      const double weight = scale * eigen.vectors[i * size + j];
      filters[i * size + j] = weight;
      filters[(size + i) * size + j] = -weight;
    }
  }
  model.set_parameter(conv.weight->name, set);
}

}  // namespace linnet
