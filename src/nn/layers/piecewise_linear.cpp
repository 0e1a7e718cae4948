// SPDX-License-Identifier: Apache-2.0
#include <linnet/layers/piecewise_linear.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "base/check.h"
#include "base/percentile.h"
#include "nn/builder.h"
#include "nn/layer_fields.h"
#include "ops/arithmetic/arithmetic.h"
#include "ops/expand/expand.h"
#include "ops/reshape/reshape.h"
#include "ops/unary/unary.h"

namespace linnet {
namespace {

/// More samples than these change quantiles little.
constexpr std::int64_t kMostSamples = 65536;

/// Appends the edges of one feature, whose samples are sorted.
void add_edges(std::vector<float> sorted, std::int64_t bins, std::vector<double>& edges) {
  std::vector<float> different = sorted;
  different.erase(std::ranges::unique(different).begin(), different.end());
  std::vector<double> own;
  if (std::ssize(different) <= bins + 1) {
    own.assign(different.begin(), different.end());
  } else {
    for (std::int64_t k = 0; k <= bins; ++k) {
      own.push_back(percentile(sorted, static_cast<double>(k) / static_cast<double>(bins)));
    }
    own.erase(std::ranges::unique(own).begin(), own.end());
  }
  own.resize(static_cast<std::size_t>(bins) + 1, own.back());
  edges.insert(edges.end(), own.begin(), own.end());
}

}  // namespace

void PiecewiseLinear::build(NetworkBuilder& builder) const {
  const std::string layer = builder.begin(*this);
  const Shape& x = builder.shape();
  require(x.rank() == 2, "[piecewise_linear '{}'] expected samples of one axis; got {}", layer,
          to_string(x));
  const std::int64_t features = x[-1];
  const auto of_each = static_cast<std::size_t>(bins) + 1;
  require(edges.size() == static_cast<std::size_t>(features) * of_each,
          "[piecewise_linear '{}'] expected {} edges, {} for each of {} features; got {}", layer,
          static_cast<std::size_t>(features) * of_each, of_each, features, edges.size());
  std::vector<double> scale;
  std::vector<double> shift;
  for (std::size_t i = 0; i < edges.size(); ++i) {
    require(std::isfinite(edges[i]), "[piecewise_linear '{}'] expected finite edges; got {}", layer,
            edges[i]);
    if (i % of_each == 0) continue;
    const double width = edges[i] - edges[i - 1];
    require(width >= 0, "[piecewise_linear '{}'] expected ascending edges; got {} after {}", layer,
            edges[i], edges[i - 1]);
    // A bin whose scale f32 does not hold counts as one without width.
    const bool wide = std::isfinite(static_cast<float>(1 / width));
    scale.push_back(wide ? 1 / width : 0);
    shift.push_back(-edges[i - 1]);
  }
  Graph& graph = builder.graph();
  const auto with = [&](Arithmetic kind, std::vector<double> numbers) {
    const Value constant = graph.add_constant(std::move(numbers));
    builder.set_current(graph.emit(ArithmeticOp({kind}), {builder.current(), constant}, layer));
  };
  builder.apply(ReshapeOp({.shape = {-1, features, 1}}), layer);
  builder.apply(ExpandOp({.shape = {features, bins}}), layer);
  builder.apply(ReshapeOp({.shape = {-1, features * bins}}), layer);
  // The difference comes first: of numbers that lie close it is exact.
  with(Arithmetic::add, std::move(shift));
  with(Arithmetic::multiply, std::move(scale));
  builder.apply(UnaryOp({.kind = Unary::clip, .alpha = 0, .beta = 1}), layer);
}

PiecewiseLinear quantile_bins(const Tensor& samples, std::int64_t bins) {
  require(samples.dtype() == DType::f32 && samples.shape().rank() == 2 && samples.elements() > 0,
          "expected samples (N, features) of f32 for the edges of bins; got {} {}",
          to_string(samples.dtype()), to_string(samples.shape()));
  require(bins >= 1, "expected at least one bin; got {}", bins);
  const std::span<const float> all = samples.as<float>();
  const std::int64_t rows = samples.shape()[0];
  const std::int64_t features = samples.shape()[1];
  const std::int64_t step = (rows + kMostSamples - 1) / kMostSamples;
  PiecewiseLinear made{.bins = bins};
  for (std::int64_t f = 0; f < features; ++f) {
    std::vector<float> own;
    for (std::int64_t row = 0; row < rows; row += step) {
      own.push_back(all[static_cast<std::size_t>(row * features + f)]);
    }
    std::ranges::sort(own);
    add_edges(std::move(own), bins, made.edges);
  }
  return made;
}

void register_piecewise_linear(LayerTypes& types) {
  types.add({.kind = "piecewise_linear",
             .name = "PiecewiseLinear",
             .in = "(N, features)",
             .out = "(N, features * bins)",
             .fields = {field<&PiecewiseLinear::bins>("bins").at_least(1).required(),
                        field<&PiecewiseLinear::edges>("edges").required()}},
            PiecewiseLinear{.bins = 2, .edges = {-1, 0, 1}});
}

}  // namespace linnet
