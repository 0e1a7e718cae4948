// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <utility>

#include "base/check.h"
#include "data/lengths.h"
#include "data/targets.h"
#include "model/augment_graph.h"
#include "model/bind_columns.h"
#include "model/check_values.h"
#include "model/loss_graph.h"
#include "model/step_graph.h"

namespace linnet {
namespace {

/// Records of one number are single numbers too.
Shape record_as(const Shape& record, const Shape& wanted) {
  return record.rank() == 0 && wanted == Shape{1} ? wanted : record;
}

/// Returns whether a crop makes one of the other.
bool same_channels(const Shape& image, const Shape& input) {
  return image.rank() == 3 && input.rank() == 3 && image[2] == input[2];
}

void check_input(const NetworkInput& input, DType dtype, const Shape& shape, bool only,
                 const Dataset& data, bool crops = false) {
  const std::string of = only ? "" : fmt::format(" for '{}'", input.name);
  require<DataError>(shape == input.sample || (crops && same_channels(shape, input.sample)),
                     "the network takes samples of {}{} but the data set '{}' holds {}",
                     to_string(input.sample), of, data.info().name, to_string(shape));
  require<DataError>((dtype == DType::i32) == (input.dtype == DType::i32),
                     "the network takes {}{} but the data set '{}' holds {}{}",
                     input.dtype == DType::i32 ? "ids (i32)" : "numbers (f32 or u8)", of,
                     data.info().name, to_string(dtype),
                     dtype == DType::i32 ? "; convert it to f32" : "");
}

/// One target, which belongs to an output of shape `outputs`.
struct TargetData {
  std::string what;                 ///< as name_of_target() says
  std::filesystem::path file = {};  ///< that holds it, if that is known
  bool labels = false;
  std::int64_t classes = 0;                            ///< of labels
  std::optional<std::int32_t> ignored = std::nullopt;  ///< the label that needs no output
  Shape shape = {};                                    ///< of values, or of a sample's labels
};

/// "row 12, column (0, 3) of ... is the label 7" for the first label, of those that count, for
/// which `bad` holds; else "".
template <class F>
std::string first_label(const Column& column, const TargetData& target, const Dataset& data,
                        F bad) {
  std::string found;
  for_each_counted<std::int32_t>(column, [&](std::span<const std::int32_t> labels,
                                             std::size_t first) {
    const auto at = std::ranges::find_if(labels, [&](std::int32_t label) {
      return label != target.ignored && bad(label);
    });
    if (at == labels.end()) return false;
    const std::size_t index = first + static_cast<std::size_t>(at - labels.begin());
    found = fmt::format("{} has the label {}",
                        place_of(index, target.shape, target.file, target.what, data), *at);
    return true;
  });
  return found;
}

/// Returns the loss instead of Loss::automatic.
Loss check_target(Loss loss, const Column& column, const TargetData& target, const Shape& outputs,
                  const Dataset& data) {
  if (loss == Loss::automatic) {
    const bool several = &column == &data.targets()[0] && is_multi_label(data);
    loss = target.labels ? Loss::cross_entropy : several ? Loss::binary_cross_entropy : Loss::mse;
  }
  if (target.labels) {
    const bool binary = loss == Loss::binary_cross_entropy;
    require(loss == Loss::cross_entropy || loss == Loss::focal || loss == Loss::hinge || binary,
            "this loss expects values; the data set '{}' has labels", data.info().name);
    const std::string_view name = loss == Loss::cross_entropy ? "cross-entropy"
                                  : binary                    ? "binary cross-entropy"
                                                              : "a loss of labels";
    if (target.shape.rank() == 0) {
      require(outputs.rank() == 1, "{} expects outputs (N, classes); the network gives {}{}", name,
              to_string(outputs.batched(data.size())),
              outputs.rank() > 1 ? "; Flatten or a global pooling before its last layer makes one "
                                   "row of each sample"
                                 : "");
    } else {
      require<DataError>(outputs.rank() == target.shape.rank() + 1 &&
                             std::ranges::equal(outputs.dims().first(target.shape.rank()),
                                                target.shape.dims()),
                         "{} expects an axis of classes after those of the labels; the data set "
                         "'{}' has labels of {} a sample, the network gives {}",
                         name, data.info().name, to_string(target.shape), to_string(outputs));
    }
    // One output of a binary loss tells two classes apart.
    const std::int64_t classes = binary && outputs[-1] == 1 ? 2 : outputs[-1];
    if (target.classes > classes) {
      const std::string label =
          first_label(column, target, data, [&](std::int32_t id) { return id >= classes; });
      fail<DataError>("the network ends in {} outputs but the data set '{}' has {} classes{}{}",
                      outputs[-1], data.info().name, target.classes, label.empty() ? "" : "; ",
                      label);
    }
  } else {
    require<DataError>(target.shape == outputs,
                       "the network gives {} a sample but the data set '{}' has values of {}{}",
                       to_string(outputs), data.info().name, to_string(target.shape),
                       target.shape.rank() == 0 && outputs.rank() == 1
                           ? "; labels of classes are integers"
                           : "");
  }
  return loss;
}

/// Losses of probabilities want values that are some.
void check_values(Loss loss, const Column& column, const TargetData& target, const Dataset& data) {
  std::string_view name;
  if (loss == Loss::cross_entropy) name = "cross-entropy expects labels or values";
  if (loss == Loss::kl_divergence) name = "the KL divergence expects values";
  if (loss == Loss::binary_cross_entropy) name = "binary cross-entropy expects values";
  if (loss == Loss::focal) name = "the focal loss expects labels or values";
  if (name.empty() || column.source != nullptr) return;
  for_each_counted<float>(column, [&](std::span<const float> values, std::size_t first) {
    const auto bad =
        std::ranges::find_if(values, [](float value) { return !(value >= 0 && value <= 1); });
    if (bad == values.end()) return false;
    const std::size_t index = first + static_cast<std::size_t>(bad - values.begin());
    fail<DataError>("{} in [0, 1], but the data set '{}' has the value {}: {}", name,
                    data.info().name, *bad,
                    place_of(index, target.shape, target.file, target.what, data));
  });
}

/// Returns the variance of all elements of a target, about their one mean.
double variance_of(const Column& column, const Dataset& data) {
  require<DataError>(column.source == nullptr,
                     "the normalized squared error needs the variance of the targets, and those of "
                     "'{}' come from a source of records; use mse",
                     data.info().name);
  double sum = 0;
  double squares = 0;
  double count = 0;
  double shift = 0;  // near the mean, so that squares lose nothing
  for_each_counted<float>(column, [&](std::span<const float> values, std::size_t) {
    if (count == 0 && !values.empty()) shift = values.front();
    for (const float value : values) {
      sum += value - shift;
      squares += (value - shift) * (value - shift);
    }
    count += static_cast<double>(values.size());
    return false;
  });
  const double mean = sum / std::max(count, 1.0);
  const double variance = squares / std::max(count, 1.0) - mean * mean;
  require<DataError>(variance > 0 && std::isfinite(variance),
                     "the normalized squared error divides by the variance of the targets, which "
                     "is {} in the data set '{}'; use mse",
                     variance, data.info().name);
  return variance;
}

TargetData target_of(const Column& column, const Shape& outputs,
                     std::optional<std::int32_t> ignored, const Dataset& data) {
  TargetData target{.what = name_of_target(column, data),
                    .file = file_of_target(data),
                    .labels = column.dtype() == DType::i32,
                    .ignored = ignored,
                    .shape = record_as(column.record(), outputs)};
  if (!target.labels) return target;
  target.shape = column.record();
  const std::string negative =
      first_label(column, target, data, [](std::int32_t id) { return id < 0; });
  require<DataError>(negative.empty(), "{}; expected class indices of at least 0", negative);
  target.classes = classes_of(column, ignored);
  if (&column == &data.targets()[0] && !data.classes().empty()) {
    target.classes = std::ssize(data.classes());
  }
  return target;
}

/// Returns the records of a column in memory as a network of these numbers reads them.
const Tensor& records_of(const NetworkDefinition& network, const Column& column) {
  const bool exact = network.numbers == DType::f64 && column.exact.elements() > 0;
  return exact ? column.exact : column.data;
}

}  // namespace

StepData assumed_data(const NetworkDefinition& network, Loss loss) {
  if (loss == Loss::automatic) {
    const Shape outputs = network.output_sample();
    loss = outputs.rank() == 1 && outputs[0] > 1 ? Loss::cross_entropy : Loss::mse;
  }
  StepData data;
  data.inputs = network.inputs.size();
  for (const NetworkInput& input : network.inputs) {
    data.parts.push_back(
        {input.name,
         {input.dtype != DType::i32 && input.sample.rank() > 1 ? DType::u8 : input.dtype,
          input.sample.batched(1)},
         {}});
  }
  const ValueType labels{DType::i32, Shape{1}};
  const ValueType values{DType::f32, network.output_sample().batched(1)};
  data.parts.push_back({"targets", loss == Loss::cross_entropy ? labels : values, {}});
  data.targets.push_back(
      {.how = {.output = network.outputs[0].name, .loss = loss}, .part = data.inputs});
  return data;
}

std::vector<StepData::Part> step_inputs(const NetworkDefinition& network, const Dataset& data,
                                        bool crops) {
  const std::vector<const Column*> columns = bind_inputs(network, data);
  std::vector<StepData::Part> parts;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const Column& column = *columns[i];
    const NetworkInput& input = network.inputs[i];
    if (network.sequences_of(i)) {
      parts.push_back({.name = input.name,
                       .record = {DType::i32, Shape{1, 1}},
                       .bytes = column.lengths.bytes(),
                       .source = nullptr});
      continue;
    }
    const Shape record = record_as(column.record(), input.sample);
    check_input(input, column.dtype(), record, columns.size() == 1, data, crops && i == 0);
    const Tensor& records = records_of(network, column);
    const DType dtype = column.source != nullptr ? column.dtype() : records.dtype();
    parts.push_back({.name = i == 0 ? "samples" : input.name,
                     .record = {dtype, record.batched(1)},
                     .bytes = records.bytes(),
                     .source = column.source.get()});
  }
  return parts;
}

namespace {

void check_losses(const NetworkDefinition& network, std::span<const OutputLoss> losses) {
  for (const OutputLoss& loss : losses) {
    require(std::ranges::count(network.outputs, loss.output, &NetworkOutput::name) == 1,
            "a loss is given for '{}', which is not an output of the network", loss.output);
    require(std::ranges::count(losses, loss.output, &OutputLoss::output) == 1,
            "two losses are given for the output '{}'", loss.output);
    require(std::isfinite(loss.weight), "the weight of the loss of '{}' must be finite; got {}",
            loss.output, loss.weight);
    require(loss.options.l1 == 0 && loss.options.l2 == 0,
            "l1 and l2 apply to the whole network; expected none for the output '{}'", loss.output);
    require(!loss.target || std::isfinite(*loss.target),
            "the target of the output '{}' must be finite; got {}", loss.output,
            loss.target.value_or(0));
  }
}

/// Returns what the options say of an output's loss.
OutputLoss loss_of(const TrainingOptions& options, const NetworkDefinition& network,
                   std::size_t output) {
  OutputLoss loss{.output = network.outputs[output].name};
  if (output == 0) {
    loss.loss = options.loss;
    loss.options = options.loss_options;
    loss.custom = options.custom_loss;
  }
  const auto own = std::ranges::find(options.output_losses, loss.output, &OutputLoss::output);
  return own == options.output_losses.end() ? loss : *own;
}

/// What weighs samples or steps must fit the target's loss; `steps`: T of weights or lengths.
void check_steps(std::int64_t steps, std::string_view what, const TargetData& target,
                 const OutputLoss& loss, const Shape& outputs, const Dataset& data) {
  const bool one = target.labels && target.shape.rank() == 0;
  require(!one && outputs.rank() > 0 && outputs[0] == steps,
          "the {} of '{}' are for {} steps, but the output '{}' gives {} a sample{}", what,
          data.info().name, steps, loss.output, to_string(outputs),
          one ? ", with one label for each sample" : "");
  const bool rows = loss.loss == Loss::cross_entropy || loss.loss == Loss::kl_divergence ||
                    loss.loss == Loss::cosine;
  require(
      loss.custom || !rows || outputs.rank() > 1,
      "the {} of '{}' are for steps, but the loss {} has one value for the whole output '{}' of {}",
      what, data.info().name, loss_names()[static_cast<std::size_t>(loss.loss)], loss.output,
      to_string(outputs));
}

/// A loss of your own gets labels as one-hot rows, which none outside the classes has.
std::optional<std::int32_t> ignored_label(const OutputLoss& loss) {
  return loss.custom ? std::nullopt : loss.options.ignore_index;
}

/// The part with the samples' folds, where members hold some out.
void add_folds(StepData& step, const NetworkDefinition& network, const Dataset& data) {
  if (!has_folds(network, data)) return;
  const bool steps = data.weights().shape().rank() > 1 ||
                     std::ranges::any_of(step.targets, [](const TargetLoss& target) {
                       return target.lengths.has_value();
                     });
  require(!steps,
          "members hold out whole samples; leave out the lengths and weights of steps of '{}'",
          data.info().name);
  step.fold = step.parts.size();
  step.parts.push_back({.name = "folds",
                        .record = {DType::f32, Shape{1}},
                        .bytes = data.folds().bytes(),
                        .source = nullptr});
}

/// The parts after the targets.
void add_weights(StepData& step, const NetworkDefinition& network,
                 std::span<const Column* const> targets, const Dataset& data) {
  if (data.weights().elements() > 0) {
    const Shape& shape = data.weights().shape();
    step.weights = step.parts.size();
    step.parts.push_back({.name = "weights",
                          .record = {DType::f32, shape.with_batch(1)},
                          .bytes = data.weights().bytes(),
                          .source = nullptr});
  }
  for (TargetLoss& target : step.targets) {
    const Column* column = targets[target.output];
    if (column == nullptr || !column->has_lengths()) continue;
    target.lengths = step.parts.size();
    step.parts.push_back({.name = network.outputs[target.output].name + ".lengths",
                          .record = {DType::i32, Shape{1}},
                          .bytes = column->lengths.bytes(),
                          .source = nullptr});
  }
}

}  // namespace

namespace {

/// Returns the outputs whose target is one number.
std::vector<bool> constant_targets(const NetworkDefinition& network,
                                   std::span<const OutputLoss> losses) {
  std::vector<bool> constant;
  for (const NetworkOutput& output : network.outputs) {
    const auto own = std::ranges::find(losses, output.name, &OutputLoss::output);
    constant.push_back(own != losses.end() && own->target);
  }
  return constant;
}

/// Returns the target columns of the outputs that have a loss, and null for those in `constant`.
std::vector<const Column*> target_columns(const NetworkDefinition& network, const Dataset& data,
                                          const TrainingOptions& options, LossesOf losses,
                                          const std::vector<bool>& constant) {
  const bool any_constant = std::ranges::find(constant, true) != constant.end();
  std::vector<const Column*> columns(constant.size(), nullptr);
  if (losses == LossesOf::names) {
    std::vector<bool> wanted;
    for (std::size_t i = 0; i < constant.size(); ++i) {
      const std::string& name = network.outputs[i].name;
      const auto named = std::ranges::count(options.output_losses, name, &OutputLoss::output);
      wanted.push_back(named > 0 && !constant[i]);
    }
    columns = bind_targets(network, data, wanted);
  } else if (!any_constant || !data.targets().empty()) {
    columns = bind_targets(network, data);
  }
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (constant[i]) columns[i] = nullptr;
  }
  return columns;
}

/// Returns the loss of an output against one number.
TargetLoss constant_loss(const NetworkDefinition& network, std::size_t output, OutputLoss loss) {
  const Shape outputs = network.output_sample(output);
  if (loss.loss == Loss::automatic) loss.loss = Loss::mse;
  check_loss_options(loss.loss, loss.options, false, outputs);
  require(loss.loss != Loss::normalized_squared_error || loss.custom,
          "the normalized squared error of the output '{}' needs targets that differ; its target "
          "is one number: use mse",
          loss.output);
  const bool probability = loss.loss == Loss::cross_entropy || loss.loss == Loss::focal ||
                           loss.loss == Loss::binary_cross_entropy ||
                           loss.loss == Loss::kl_divergence;
  require(!probability || loss.custom || (*loss.target >= 0 && *loss.target <= 1),
          "expected a target in [0, 1], a probability, for the output '{}'; got {}", loss.output,
          *loss.target);
  return {.output = output, .how = std::move(loss)};
}

}  // namespace

StepData step_data(const NetworkDefinition& network, const Dataset& data,
                   const TrainingOptions& options, LossesOf losses) {
  require<DataError>(data.size() > 0, "the data set '{}' holds no samples", data.info().name);
  check_losses(network, options.output_losses);
  const std::vector<bool> constant = constant_targets(network, options.output_losses);
  const std::vector<const Column*> targets =
      target_columns(network, data, options, losses, constant);

  StepData step;
  step.samples = data.size();
  std::vector<bool> wanted;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    wanted.push_back(constant[i] || targets[i] != nullptr);
  }
  if (std::ranges::find(wanted, false) != wanted.end()) {
    step.needed = std::make_shared<const NetworkDefinition>(pruned(network, wanted));
  }
  const NetworkDefinition& run = step.run_of(network);
  step.inputs = run.inputs.size();
  step.parts = step_inputs(run, data, options.augment.crops());
  step.l1 = options.loss_options.l1;
  step.l2 = options.loss_options.l2;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    if (constant[i])
      step.targets.push_back(constant_loss(network, i, loss_of(options, network, i)));
    if (targets[i] == nullptr) continue;
    const Column& column = *targets[i];
    const Shape outputs = network.output_sample(i);
    OutputLoss loss = loss_of(options, network, i);
    const std::optional<std::int32_t> ignored = ignored_label(loss);
    if (&column == &data.targets()[0]) data.check_labels(ignored);
    const TargetData target = target_of(column, outputs, ignored, data);
    loss.loss = check_target(loss.loss, column, target, outputs, data);
    check_loss_options(loss.loss, loss.options, target.labels, outputs);
    if (!target.labels && !loss.custom) {
      check_values(loss.loss, column, target, data);
    }
    if (loss.loss == Loss::normalized_squared_error && !loss.custom) {
      loss.loss = Loss::mse;
      loss.weight /= variance_of(column, data);
    }
    const Tensor& weights = data.weights();
    if (weights.shape().rank() == 2) {
      check_steps(weights.shape()[1], "weights", target, loss, outputs, data);
    }
    require(!network.lengths.contains(network.outputs[i].value.id) || column.has_lengths() ||
                weights.shape().rank() == 2,
            "the output '{}' has sequences of different lengths, but the target '{}' of '{}' has "
            "neither lengths nor weights (N, T): padding would count in the loss",
            network.outputs[i].name, column.name, data.info().name);
    if (column.has_lengths()) {
      check_steps(column.record()[0], "lengths of the targets", target, loss, outputs, data);
    }
    step.targets.push_back({i, std::move(loss), step.parts.size()});
    const Tensor& records = records_of(network, column);
    const bool exact = !target.labels && records.dtype() == DType::f64;
    const DType dtype = target.labels ? DType::i32 : exact ? DType::f64 : DType::f32;
    step.parts.push_back({.name = i == 0 ? "targets" : network.outputs[i].name,
                          .record = {dtype, target.shape.batched(1)},
                          .bytes = records.bytes(),
                          .source = column.source.get()});
  }
  add_weights(step, network, targets, data);
  add_folds(step, network, data);
  step.augment = step_augment(options.augment, run, data, step);
  const bool weighed = step.weights || step.fold || run.has_lengths() ||
                       std::ranges::any_of(step.targets, [](const TargetLoss& target) {
                         return target.lengths.has_value();
                       });
  require(
      !step.augment.mix || !weighed,
      "mixup and cutmix combine two samples and cannot combine the weights, lengths and folds of "
      "'{}'",
      data.info().name);
  return step;
}

}  // namespace linnet
