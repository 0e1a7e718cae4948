// SPDX-License-Identifier: Apache-2.0
#include "tasks/table/networks.h"

#include <linnet/layers.h>
#include <linnet/model.h>
#include <linnet/table_task.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "base/check.h"

namespace linnet {
namespace {

constexpr double kEmbeddingStd = 0.1;
/// The number of rows below which a linear model is often the best one, and never a bad member.
constexpr std::int64_t kRowsOfLinear = 700;
/// Scales the inputs of the linear member, so that it learns at the others' rate.
constexpr double kLinearScale = 8;
constexpr std::int64_t kBins = 12;
constexpr std::int64_t kRowsOfABin = 4;
/// Most numbers of an encoded row: more cost more than they gain.
constexpr std::int64_t kMostEncoded = 4096;

/// fastai's rule for the length of an embedding.
std::int64_t embedding_length(std::int64_t categories) {
  const double length = std::round(1.6 * std::pow(static_cast<double>(categories), 0.56));
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(length), 2, 32);
}

/// The inputs of a transform's samples, of which there may be one alone.
struct Inputs {
  std::optional<Expression> numbers = {};
  std::optional<Expression> ids = {};
};

Inputs add_inputs(FunctionalNetwork& network, const TableTransform& transform) {
  Inputs inputs;
  const auto features = static_cast<std::int64_t>(transform.feature_names().size());
  if (features > 0) inputs.numbers = network.input("numbers", {features});
  if (transform.id_columns() > 0) {
    inputs.ids = network.input("categories", {transform.id_columns()}, DType::i32);
  }
  return inputs;
}

/// Returns all parts as one.
Expression joined(const std::vector<Expression>& parts) {
  return parts.size() == 1 ? parts.front() : concat(parts, 0);
}

/// Returns the numbers beside an embedding of all ids.
Expression one_vector(const Inputs& inputs, const TableTransform& transform) {
  std::vector<Expression> parts;
  if (inputs.numbers) parts.push_back(*inputs.numbers);
  if (inputs.ids) {
    const std::int64_t length = embedding_length(transform.vocabulary() / transform.id_columns());
    parts.push_back(*inputs.ids |
                    Embedding{.vocabulary = transform.vocabulary(),
                              .features = length,
                              .weight_init = {Initializer::Kind::normal, kEmbeddingStd}} |
                    Flatten{});
  }
  return joined(parts);
}

Expression hidden_layers(Expression x, const TaskSizes& sizes) {
  for (int layer = 0; layer < 2; ++layer) {
    x = x | Dense{.units = sizes.units} | LayerNorm{} | ReLU{};
    if (sizes.dropout > 0) x = x | Dropout{.rate = sizes.dropout};
  }
  return x;
}

std::int64_t outputs_of(const TableTransform& transform) {
  return static_cast<std::int64_t>(transform.target_kind() == TableTarget::classes
                                       ? transform.classes().size()
                                       : transform.targets().size());
}

/// Returns the layer that add_target_scale() appends; nothing: none.
std::optional<Layer> target_scale(const TableTransform& transform) {
  std::vector<double> means = transform.target_means();
  const std::vector<double> stds = transform.target_stds();
  if (means.empty()) return std::nullopt;
  const std::vector<double> offsets = transform.target_offsets();
  for (std::size_t i = 0; i < means.size(); ++i) means[i] -= offsets[i];
  if (means.size() == 1) return Rescale{.scale = stds[0], .shift = means[0]};
  // Normalize computes (y - m) / s; this one's inverse has the mean -m / s and the std 1 / s.
  Normalize back{.mean = {}, .std = {}, .scale = 1};
  for (std::size_t i = 0; i < means.size(); ++i) {
    back.mean.push_back(-means[i] / stds[i]);
    back.std.push_back(1 / stds[i]);
  }
  return back;
}

Answers answers_of(const TableTransform& transform) {
  switch (transform.target_kind()) {
    case TableTarget::classes: return Answers::classes;
    case TableTarget::labels: return Answers::labels;
    case TableTarget::value:
    case TableTarget::novelty:
    case TableTarget::automatic: break;
  }
  return Answers::values;
}

/// Features one after the other that are encoded by bins, or are not.
struct Run {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  bool encoded = false;
};

/// Says how the numbers of samples are encoded. A column of two values gets no bins.
struct Encoding {
  std::vector<Run> runs = {};
  PiecewiseLinear bins = {};  ///< of those that are encoded; no edges: none is
};

Encoding encoding_of(const Dataset& train, const TableTransform& transform) {
  Encoding encoding;
  const auto features = static_cast<std::int64_t>(transform.feature_names().size());
  const std::int64_t bins = std::clamp<std::int64_t>(train.size() / kRowsOfABin, 2, kBins);
  if (features == 0 || features * 2 > kMostEncoded) return encoding;
  const Tensor& numbers = train.inputs().front().data;
  require(numbers.shape().rank() == 2 && numbers.shape()[1] == features,
          "expected samples of the table transform, (N, {}); got {}", features,
          to_string(numbers.shape()));
  const PiecewiseLinear all = quantile_bins(numbers, bins);
  const auto edges_of = [&](std::int64_t feature) {
    return all.edges.begin() + feature * (bins + 1);
  };
  std::int64_t encoded = 0;
  for (std::int64_t f = 0; f < features; ++f) {
    const bool many = edges_of(f)[2] > edges_of(f)[1];
    if (many) ++encoded;
    if (encoding.runs.empty() || encoding.runs.back().encoded != many) {
      encoding.runs.push_back({.begin = f, .end = f, .encoded = many});
    }
    encoding.runs.back().end = f + 1;
  }
  if (encoded == 0) return encoding;
  const std::int64_t fewer = std::clamp<std::int64_t>(kMostEncoded / encoded, 2, bins);
  encoding.bins = fewer == bins ? all : quantile_bins(numbers, fewer);
  std::vector<double> edges;
  for (const Run& run : encoding.runs) {
    if (!run.encoded) continue;
    const auto begin = encoding.bins.edges.begin();
    edges.insert(edges.end(), begin + run.begin * (fewer + 1), begin + run.end * (fewer + 1));
  }
  encoding.bins.edges = std::move(edges);
  return encoding;
}

/// Returns the numbers with bins in place of those that are encoded.
Expression encoded(const Expression& numbers, const Encoding& encoding) {
  std::vector<Expression> with_bins;
  std::vector<Expression> others;
  for (const Run& run : encoding.runs) {
    (run.encoded ? with_bins : others).push_back(slice(numbers, 0, run.begin, run.end));
  }
  const Expression bins = joined(with_bins) | encoding.bins;
  return others.empty() ? bins : concat({bins, joined(others)}, 0);
}

/// Returns an autoencoder whose output is the mean squared error of a row's features. Its middle
/// has half as many numbers as there are features, so it has to learn how these depend on each
/// other.
Network novelty_network(const TableTransform& transform) {
  require(transform.id_columns() == 0,
          "a novelty is learned of numbers and of categories of at most 32 values; {} more: leave "
          "them out, or raise most_one_hot",
          transform.id_columns() == 1 ? "1 column has"
                                      : fmt::format("{} columns have", transform.id_columns()));
  constexpr std::int64_t kMostUnits = 128;
  const auto features = static_cast<std::int64_t>(transform.feature_names().size());
  const std::int64_t units = std::clamp<std::int64_t>(4 * features, 16, kMostUnits);
  FunctionalNetwork functional;
  const Expression x = functional.input("numbers", {features});
  const Expression again = x | Dense{.units = units} | Tanh{} | Dense{.units = (features + 1) / 2} |
                           Dense{.units = units} | Tanh{} | Dense{.units = features};
  return functional.build({{"output", mean(square(again - x), {0}, true)}});
}

enum class Member : std::uint8_t { plain, encoded, linear };

/// Returns the kinds of members; 0 of them: as many as suit the rows.
std::vector<Member> kinds_of(std::int64_t members, std::int64_t rows, bool encodes) {
  std::vector<Member> turns{Member::plain};
  if (encodes) turns.push_back(Member::encoded);
  if (rows < kRowsOfLinear) turns.push_back(Member::linear);
  if (members == 0) members = std::max<std::int64_t>(std::ssize(turns), 2);
  std::vector<Member> kinds;
  for (std::int64_t k = 0; k < members; ++k) {
    kinds.push_back(turns[static_cast<std::size_t>(k) % turns.size()]);
  }
  return kinds;
}

}  // namespace

TaskSizes table_sizes(std::int64_t rows) {
  if (rows < 2000) return {128, 0.05, {16, 400, 40}};
  if (rows < 10000) return {128, 0.3, {32, 200, 20}};
  if (rows < kRowsOfOneNetwork) return {256, 0.1, {128, 100, 10}};
  // One cycle of the learning rate learns in 24 epochs what a constant one does in 60 of a network
  // twice as wide. No early stopping: the loss may rise before the rate falls.
  return {128, 0, {256, 24, 0}};
}

Expression table_inputs(FunctionalNetwork& network, const TableTransform& transform) {
  return one_vector(add_inputs(network, transform), transform);
}

Network table_network(const TableTransform& transform, std::int64_t rows) {
  require(!transform.empty(), "the table transform is empty; TableTransform::fit() makes one");
  if (transform.target_kind() == TableTarget::novelty) return novelty_network(transform);
  FunctionalNetwork functional;
  const Expression x = hidden_layers(table_inputs(functional, transform), table_sizes(rows));
  Network network = functional.build({{"output", x | Dense{.units = outputs_of(transform)}}});
  add_target_scale(network, transform);
  return network;
}

Network table_ensemble(const TableTransform& transform, const Dataset& train, std::int64_t members,
                       std::int64_t folds) {
  require(members >= 0 && members <= kMostMembers,
          "expected 1 to {} members of an ensemble, or 0 for as many as suit the rows; got {}",
          kMostMembers, members);
  require(folds >= 1 && folds <= kMostValidationFolds,
          "expected 1 to {} folds that members of an ensemble hold out; got {}",
          kMostValidationFolds, folds);
  const bool novelty = transform.target_kind() == TableTarget::novelty;
  require(!novelty || members <= 1, "a novelty is learned by one network; got {} members", members);
  if (novelty || (members == 0 && train.size() >= kRowsOfOneNetwork)) members = 1;
  if (members == 1 && folds == 1) return table_network(transform, train.size());
  require(!transform.empty(), "the table transform is empty; TableTransform::fit() makes one");
  const Encoding encoding = encoding_of(train, transform);
  const std::optional<Layer> scale = target_scale(transform);
  FunctionalNetwork functional;
  const Inputs inputs = add_inputs(functional, transform);
  std::vector<Expression> made;
  for (const Member kind : kinds_of(members, train.size(), !encoding.bins.edges.empty())) {
    Inputs own = inputs;
    if (kind == Member::encoded) own.numbers = encoded(*inputs.numbers, encoding);
    const Expression row = one_vector(own, transform);
    for (std::int64_t fold = 0; fold < folds; ++fold) {
      Expression x = kind == Member::linear ? kLinearScale * row
                                            : hidden_layers(row, table_sizes(train.size()));
      Dense last{.units = outputs_of(transform)};
      if (kind == Member::linear) last.weight_init = kZeros;
      x = x | last;
      made.push_back(scale ? x | *scale : x);
    }
  }
  return functional.build_ensemble(made, answers_of(transform), folds);
}

void add_target_scale(Network& network, const TableTransform& transform) {
  if (const std::optional<Layer> scale = target_scale(transform)) network.add(*scale);
}

}  // namespace linnet
