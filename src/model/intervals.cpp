// SPDX-License-Identifier: Apache-2.0
#include "model/intervals.h"

#include <linnet/table_transform.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "base/check.h"
#include "base/json.h"
#include "data/targets.h"
#include "describe/nearest.h"
#include "model/bind_columns.h"
#include "model/model_state.h"
#include "model/output_form.h"

namespace linnet {
namespace {

constexpr std::int64_t kMostPlaces = 1024;       // numbers of a sample, in all outputs
constexpr std::int64_t kMostQuantiles = 1000;    // of each of them
constexpr std::int64_t kLeastQuantiles = 64;     // of each of many
constexpr std::int64_t kQuantilesInAll = 65536;  // so that forecasts of many steps stay small
constexpr std::int64_t kMostSamples = std::int64_t{1} << 53;
constexpr double kRounding = 1e-9;  // of products that are whole numbers, such as 0.7 * 10
constexpr const char* kDamagedErrors = "its errors of held-out samples are damaged";

std::string_view what_of(Answers answers) {
  switch (answers) {
    case Answers::classes:
    case Answers::scores: return "classes";
    case Answers::labels: return "labels";
    case Answers::values: break;
  }
  return "values";
}

void require_values(const Model& model) {
  require(model.answers() == Answers::values,
          "prediction intervals are for models of values; this model predicts {}",
          what_of(model.answers()));
}

bool are_values(const Column& target) {
  return target.dtype() == DType::f32 && !target.has_lengths();
}

std::int64_t width_of(const NetworkDefinition& network, std::size_t output) {
  return network.output_sample(output).elements();
}

/// Returns the numbers of a sample that have a target.
std::int64_t places_of(const NetworkDefinition& network,
                       const std::vector<const Column*>& targets) {
  std::int64_t places = 0;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    if (targets[i] != nullptr) places += width_of(network, i);
  }
  return places;
}

/// 7 digits, in which a file holds them, are more than an f32 has.
double short_number(double value) { return std::stod(fmt::format("{:.7g}", value)); }

/// Returns `count` of the errors of one number, evenly by rank.
std::vector<double> quantiles_of(std::vector<double> errors, std::int64_t count) {
  std::ranges::sort(errors);
  const std::int64_t n = std::ssize(errors);
  std::vector<double> kept;
  for (std::int64_t i = 1; i <= count; ++i) {
    const std::int64_t rank = (i * n + count - 1) / count;
    kept.push_back(short_number(errors[static_cast<std::size_t>(rank - 1)]));
  }
  return kept;
}

OutputErrors errors_of(const std::string& name, const Column& target, const Tensor& outputs,
                       std::int64_t places) {
  const std::span<const float> y = outputs.as<float>();
  const Tensor targets = column_in_memory(target);
  const std::span<const float> t = targets.as<float>();
  const std::int64_t samples = target.size();
  const std::size_t width = y.size() / static_cast<std::size_t>(samples);
  const std::int64_t most = std::clamp(kQuantilesInAll / places, kLeastQuantiles, kMostQuantiles);
  OutputErrors errors{.output = name};
  for (std::size_t place = 0; place < width; ++place) {
    std::vector<double> all;
    for (std::size_t i = place; i < y.size(); i += width) {
      all.push_back(std::abs(static_cast<double>(y[i]) - static_cast<double>(t[i])));
      require<DataError>(std::isfinite(all.back()),
                         "the output '{}' or its target is not finite in sample {}", name,
                         i / width);
    }
    errors.quantiles.push_back(quantiles_of(std::move(all), std::min(samples, most)));
  }
  return errors;
}

bool are_quantiles(const std::vector<double>& of, std::int64_t samples) {
  const bool few = !of.empty() && std::ssize(of) <= std::min(samples, kMostQuantiles);
  return few && std::ranges::is_sorted(of) && of.front() >= 0 &&
         std::ranges::all_of(of, [](double one) { return std::isfinite(one); });
}

/// "0.9523", rounded down.
std::string most_coverage(std::int64_t samples) {
  const double most = static_cast<double>(samples) / static_cast<double>(samples + 1);
  return fmt::format("{:g}", std::floor(most * 1e4) / 1e4);
}

/// Returns the rank of the error that is the half-width, from 1.
std::int64_t rank_of(double coverage, std::int64_t samples) {
  const auto n = static_cast<double>(samples);
  const double place = (n + 1) * coverage;
  const auto rank = static_cast<std::int64_t>(std::ceil(place - kRounding * place));
  require(rank <= samples,
          "an interval of coverage {:g} needs the errors of at least {} held-out samples; the "
          "model has those of {}, enough for a coverage of {}",
          coverage, samples_for_interval(coverage), samples, most_coverage(samples));
  return std::max<std::int64_t>(rank, 1);
}

}  // namespace

std::int64_t samples_for_interval(double coverage) {
  return static_cast<std::int64_t>(std::ceil(coverage / (1 - coverage) * (1 - kRounding)));
}

void calibrate_intervals(Model& model, const Dataset& held_out, std::int64_t batch) {
  require_values(model);
  const NetworkDefinition& network = model.state().definition();
  const std::vector<const Column*> targets = bind_targets(network, held_out);
  const std::int64_t samples = held_out.size();
  require<DataError>(samples > 0, "the data set '{}' has no samples to measure errors on",
                     held_out.info().name);
  const std::int64_t places = places_of(network, targets);
  require(places <= kMostPlaces,
          "expected at most {} numbers a sample for prediction intervals; the network has {}",
          kMostPlaces, places);
  for (std::size_t i = 0; i < targets.size(); ++i) {
    if (targets[i] == nullptr) continue;
    require<DataError>(
        are_values(*targets[i]),
        "expected the target '{}' of the data set '{}' to be values, the same number "
        "in each sample",
        targets[i]->name, held_out.info().name);
    require<DataError>(targets[i]->record().elements() == width_of(network, i),
                       "the target '{}' of the data set '{}' has {} a sample; the network's output "
                       "'{}' {}",
                       targets[i]->name, held_out.info().name, to_string(targets[i]->record()),
                       network.outputs[i].name, to_string(network.output_sample(i)));
  }
  const std::vector<Tensor> outputs = predict_outputs(model, held_out, batch);
  HeldOutErrors errors{.samples = samples};
  for (std::size_t i = 0; i < targets.size(); ++i) {
    if (targets[i] == nullptr) continue;
    errors.outputs.push_back(errors_of(network.outputs[i].name, *targets[i], outputs[i], places));
  }
  set_held_out_errors(model, std::move(errors));
}

bool calibrate_where_possible(Model& model, const Dataset& held_out) {
  if (held_out.size() == 0 || held_out.targets().empty()) return false;
  if (model.answers() != Answers::values) return false;
  const NetworkDefinition& network = model.state().definition();
  const std::vector<const Column*> targets = bind_targets(network, held_out);
  for (std::size_t i = 0; i < targets.size(); ++i) {
    if (targets[i] == nullptr) continue;
    const bool fits =
        are_values(*targets[i]) && targets[i]->record().elements() == width_of(network, i);
    if (!fits) return false;
  }
  if (places_of(network, targets) > kMostPlaces) return false;
  calibrate_intervals(model, held_out);
  return true;
}

const HeldOutErrors& held_out_errors(const Model& model) { return model.state().held_out_errors; }

void set_held_out_errors(Model& model, HeldOutErrors errors) {
  const NetworkDefinition& network = model.state().definition();
  require(errors.samples >= 0 && errors.samples <= kMostSamples &&
              (errors.samples > 0) == !errors.outputs.empty(),
          "expected errors of outputs on at least 1 sample, or none of both; got {} samples and {} "
          "outputs",
          errors.samples, errors.outputs.size());
  std::int64_t places = 0;
  std::vector<std::string> seen;
  for (const OutputErrors& of : errors.outputs) {
    const auto output = std::ranges::find(network.outputs, of.output, &NetworkOutput::name);
    require(output != network.outputs.end() && std::ranges::count(seen, of.output) == 0,
            "expected errors of each output once; got them of '{}'", of.output);
    seen.push_back(of.output);
    const std::int64_t width =
        width_of(network, static_cast<std::size_t>(output - network.outputs.begin()));
    require(std::ssize(of.quantiles) == width,
            "the output '{}' has {} numbers a sample; got the errors of {}", of.output, width,
            of.quantiles.size());
    places += width;
    require(places <= kMostPlaces, "expected errors of at most {} numbers a sample; got {}",
            kMostPlaces, places);
    for (const std::vector<double>& quantiles : of.quantiles) {
      require(are_quantiles(quantiles, errors.samples),
              "expected 1 to {} errors of the output '{}', finite, at least 0 and rising; got {}",
              std::min(errors.samples, kMostQuantiles), of.output, quantiles.size());
    }
  }
  model.state().held_out_errors = std::move(errors);
}

std::vector<double> interval_half_widths(const Model& model, double coverage,
                                         const std::string& output) {
  require(coverage > 0 && coverage < 1,
          "a prediction interval has a coverage between 0 and 1, such as 0.9; got {:g}", coverage);
  require_values(model);
  const HeldOutErrors& errors = held_out_errors(model);
  require(errors.samples > 0,
          "the model has no errors of held-out samples, which prediction intervals follow from: a "
          "training with a validation set keeps them, and calibrate_intervals() measures them");
  const std::string& name =
      output.empty() ? model.state().definition().outputs.front().name : output;
  const auto of = std::ranges::find(errors.outputs, name, &OutputErrors::output);
  if (of == errors.outputs.end()) {
    std::vector<std::string> names;
    for (const OutputErrors& one : errors.outputs) names.push_back(one.output);
    fail("the model has no errors of the output '{}'{}", name, did_you_mean(name, names));
  }
  const std::int64_t rank = rank_of(coverage, errors.samples);
  std::vector<double> widths;
  for (const std::vector<double>& quantiles : of->quantiles) {
    // The first that is kept of this rank or above.
    const std::int64_t place = (rank - 1) * std::ssize(quantiles) / errors.samples;
    widths.push_back(quantiles[static_cast<std::size_t>(place)]);
  }
  return widths;
}

PredictedIntervals predict_intervals(Model& model, const Dataset& data, double coverage,
                                     std::int64_t batch) {
  const std::vector<double> widths = interval_half_widths(model, coverage);
  const Tensor value = model.predict(data, batch).to(DType::f64);
  const std::span<const double> values = value.as<double>();
  std::vector<double> low(values.begin(), values.end());
  std::vector<double> high = low;
  for (std::size_t i = 0; i < values.size(); ++i) {
    low[i] -= widths[i % widths.size()];
    high[i] += widths[i % widths.size()];
  }
  return {value, Tensor(std::move(low), value.shape()), Tensor(std::move(high), value.shape())};
}

std::string to_json(const HeldOutErrors& errors) {
  nlohmann::json outputs = nlohmann::json::array();
  for (const OutputErrors& of : errors.outputs) {
    outputs.push_back({{"output", of.output}, {"errors", of.quantiles}});
  }
  return nlohmann::json{{"samples", errors.samples}, {"outputs", std::move(outputs)}}.dump();
}

HeldOutErrors held_out_errors_from(const std::string& text) {
  using Json = nlohmann::json;
  constexpr std::size_t kDepth = 5;
  const auto json = parse_json<Json>(text, kDepth, "its errors of held-out samples");
  const bool whole = json.is_object() && json.contains("samples") &&
                     json["samples"].is_number_unsigned() &&
                     json["samples"].get<std::uint64_t>() <= std::uint64_t{kMostSamples} &&
                     json.contains("outputs") && json["outputs"].is_array();
  require<DataError>(whole, "{}", kDamagedErrors);
  HeldOutErrors errors{.samples = json["samples"].get<std::int64_t>()};
  for (const Json& of : json["outputs"]) {
    require<DataError>(of.is_object() && of.contains("output") && of["output"].is_string() &&
                           of.contains("errors") && of["errors"].is_array(),
                       "{}", kDamagedErrors);
    OutputErrors& output = errors.outputs.emplace_back(of["output"].get<std::string>());
    for (const Json& quantiles : of["errors"]) {
      const bool numbers =
          quantiles.is_array() &&
          std::ranges::all_of(quantiles, [](const Json& one) { return one.is_number(); });
      require<DataError>(numbers, "{}", kDamagedErrors);
      output.quantiles.push_back(quantiles.get<std::vector<double>>());
    }
  }
  return errors;
}

}  // namespace linnet
