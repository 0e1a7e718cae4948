// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <utility>

#include "base/check.h"
#include "model/augment_graph.h"
#include "model/check_values.h"
#include "model/loss_graph.h"
#include "model/step_graph.h"

namespace linnet {
namespace {

std::span<const std::byte> sample_bytes(const Dataset& data) {
  if (data.sample_dtype == DType::u8) return std::as_bytes(std::span(data.bytes));
  if (data.sample_dtype == DType::i32) return std::as_bytes(std::span(data.ids));
  return std::as_bytes(std::span(data.floats));
}

std::span<const std::byte> target_bytes(const Dataset& data) {
  return data.labels.empty() ? std::as_bytes(std::span(data.values))
                             : std::as_bytes(std::span(data.labels));
}

const Column& find(const std::vector<Column>& columns, const std::string& name,
                   std::string_view what, const Dataset& data) {
  for (const Column& column : columns) {
    if (column.name == name) return column;
  }
  fail("the network's {} '{}' has no data in the data set '{}'", what, name, data.name);
}

/// Whether a crop makes one of the other.
bool same_channels(const Shape& picture, const Shape& input) {
  return picture.rank() == 3 && input.rank() == 3 && picture[2] == input[2];
}

void check_input(const NetworkInput& input, DType dtype, const Shape& shape, bool only,
                 const Dataset& data, bool crops = false) {
  const std::string of = only ? "" : fmt::format(" for '{}'", input.name);
  require(shape == input.sample || (crops && same_channels(shape, input.sample)),
          "the network takes samples of {}{} but the data set '{}' holds {}",
          to_string(input.sample), of, data.name, to_string(shape));
  require((dtype == DType::i32) == (input.dtype == DType::i32),
          "the network takes {}{} but the data set '{}' holds {}",
          input.dtype == DType::i32 ? "ids (i32)" : "numbers (f32 or u8)", of, data.name,
          to_string(dtype));
}

/// One target, which belongs to an output of shape `outputs`.
struct TargetData {
  std::string what;                 ///< "targets", or the column
  std::filesystem::path file = {};  ///< that holds it, if that is known
  bool labels = false;
  std::int64_t classes = 0;                            ///< of labels
  std::span<const std::int32_t> ids = {};              ///< the labels
  std::optional<std::int32_t> ignored = std::nullopt;  ///< the label that needs no output
  Shape shape = {};                                    ///< of values
};

/// "; row 12, column 0 of ... is the label 7" for the first label without an output, if any.
std::string label_without_output(const TargetData& target, std::int64_t outputs,
                                 const Dataset& data) {
  const auto found = std::ranges::find_if(target.ids, [&](std::int32_t id) {
    return id >= outputs && id != target.ignored;
  });
  if (found == target.ids.end()) return "";
  const auto row = static_cast<std::size_t>(found - target.ids.begin());
  return fmt::format("; {} is the label {}", place_of(row, {}, target.file, target.what, data),
                     *found);
}

/// The loss in the place of Loss::automatic.
Loss check_target(Loss loss, const TargetData& target, const Shape& outputs, const Dataset& data) {
  if (loss == Loss::automatic) loss = target.labels ? Loss::cross_entropy : Loss::mse;
  if (target.labels) {
    require(loss == Loss::cross_entropy || loss == Loss::focal || loss == Loss::hinge,
            "this loss wants values, but the data set '{}' has labels", data.name);
    require(outputs.rank() == 1, "{} wants outputs (N, classes); the network gives {}",
            loss == Loss::cross_entropy ? "cross-entropy" : "a loss of labels",
            to_string(outputs.batched(data.size())));
    if (target.classes > outputs[0]) {
      fail("the network ends in {} outputs but the data set '{}' has {} classes{}", outputs[0],
           data.name, target.classes, label_without_output(target, outputs[0], data));
    }
  } else {
    require(target.shape == outputs,
            "the network gives {} a sample but the data set '{}' has values of {}",
            to_string(outputs), data.name, to_string(target.shape));
  }
  return loss;
}

/// Losses of probabilities want values that are some.
void check_values(Loss loss, std::span<const std::byte> bytes, const TargetData& target,
                  const Dataset& data) {
  std::string_view name;
  if (loss == Loss::cross_entropy) name = "cross-entropy wants labels or values";
  if (loss == Loss::kl_divergence) name = "the KL divergence wants values";
  if (loss == Loss::binary_cross_entropy) name = "binary cross-entropy wants values";
  if (loss == Loss::focal) name = "the focal loss wants labels or values";
  if (name.empty()) return;
  const auto* values = reinterpret_cast<const float*>(bytes.data());
  for (std::size_t i = 0; i < bytes.size() / sizeof(float); ++i) {
    if (values[i] >= 0 && values[i] <= 1) continue;
    fail("{} in [0, 1], but the data set '{}' has the value {}: {}", name, data.name, values[i],
         place_of(i, target.shape, target.file, target.what, data));
  }
}

TargetData target_of(const Column& column, std::optional<std::int32_t> ignored) {
  TargetData target{.what = fmt::format("column '{}'", column.name),
                    .labels = column.dtype == DType::i32,
                    .ids = column.ids,
                    .ignored = ignored,
                    .shape = column.shape};
  for (std::size_t row = 0; row < column.ids.size(); ++row) {
    const std::int32_t label = column.ids[row];
    if (label == ignored) continue;
    require(label >= 0, "the label {} of row {} in the {} is negative", label, row, target.what);
    target.classes = std::max<std::int64_t>(target.classes, label + std::int64_t{1});
  }
  return target;
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
         {input.dtype == DType::i32 ? DType::i32 : DType::u8, input.sample.batched(1)},
         {}});
  }
  const ValueType labels{DType::i32, Shape{1}};
  const ValueType values{DType::f32, network.output_sample().batched(1)};
  data.parts.push_back({"targets", loss == Loss::cross_entropy ? labels : values, {}});
  data.targets.push_back({.how = {.output = network.outputs[0].name, .loss = loss}});
  return data;
}

std::vector<StepData::Part> step_inputs(const NetworkDefinition& network, const Dataset& data,
                                        bool crops) {
  std::vector<StepData::Part> parts;
  for (const NetworkInput& input : network.inputs) {
    if (parts.empty()) {
      check_input(input, data.sample_dtype, data.sample_shape, network.inputs.size() == 1, data,
                  crops);
      parts.push_back({"samples",
                       {data.sample_dtype, data.sample_shape.batched(1)},
                       sample_bytes(data),
                       data.source.get()});
      continue;
    }
    const Column& column = find(data.more_inputs, input.name, "input", data);
    check_input(input, column.dtype, column.shape, false, data);
    parts.push_back({input.name, {column.dtype, column.shape.batched(1)}, column.data()});
  }
  return parts;
}

namespace {

void check_losses(const NetworkDefinition& network, std::span<const OutputLoss> losses) {
  for (const OutputLoss& loss : losses) {
    require(std::ranges::count(network.outputs, loss.output, &NetworkOutput::name) == 1,
            "a loss is given for '{}', which is no output of the network", loss.output);
    require(std::isfinite(loss.weight), "the weight of the loss of '{}' must be finite; got {}",
            loss.output, loss.weight);
    require(loss.options.l1 == 0 && loss.options.l2 == 0,
            "l1 and l2 belong to the whole network, not to the output '{}'", loss.output);
  }
}

/// What the options say of an output's loss.
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

/// A loss of one's own gets labels as one-hot rows, which none outside the classes has.
std::optional<std::int32_t> ignored_label(const OutputLoss& loss) {
  return loss.custom ? std::nullopt : loss.options.ignore_index;
}

}  // namespace

StepData step_data(const NetworkDefinition& network, const Dataset& data,
                   const TrainingOptions& options) {
  data.validate(ignored_label(loss_of(options, network, 0)));
  require(data.size() > 0, "the data set '{}' holds no samples", data.name);
  check_losses(network, options.output_losses);

  StepData step;
  step.samples = data.size();
  step.inputs = network.inputs.size();
  step.parts = step_inputs(network, data, options.augment.crops());
  step.l1 = options.loss_options.l1;
  step.l2 = options.loss_options.l2;

  const auto add = [&](std::size_t output, const TargetData& target, std::string name,
                       std::span<const std::byte> bytes) {
    OutputLoss loss = loss_of(options, network, output);
    loss.loss = check_target(loss.loss, target, network.output_sample(output), data);
    check_loss_options(loss.loss, loss.options, target.labels, network.output_sample(output));
    if (!target.labels && !loss.custom) check_values(loss.loss, bytes, target, data);
    step.targets.push_back({output, std::move(loss)});
    const ValueType record = target.labels ? ValueType{DType::i32, Shape{1}}
                                           : ValueType{DType::f32, target.shape.batched(1)};
    step.parts.push_back({std::move(name), record, bytes});
  };
  add(0,
      {.what = "targets",
       .file = data.targets_file,
       .labels = !data.labels.empty(),
       .classes = data.classes(),
       .ids = data.labels,
       .ignored = ignored_label(loss_of(options, network, 0)),
       .shape = data.value_shape},
      "targets", target_bytes(data));
  for (const Column& column : data.more_targets) {
    const auto output = std::ranges::find(network.outputs, column.name, &NetworkOutput::name);
    require(output != network.outputs.end(),
            "the data set '{}' has targets for '{}', which is no output of the network", data.name,
            column.name);
    require(output != network.outputs.begin(),
            "the targets of the first output, '{}', are the data set's labels or values",
            column.name);
    const auto index = static_cast<std::size_t>(output - network.outputs.begin());
    const TargetData target = target_of(column, ignored_label(loss_of(options, network, index)));
    add(index, target, column.name, column.data());
  }
  step.augment = step_augment(options.augment, network, data, step);
  return step;
}

namespace {

constexpr double kMostEpochs = 1e9;  // in steps they still fit into 64 bits

void require_range(bool holds, std::string_view what, double got) {
  require(holds, "the optimizer's {}; got {}", what, got);
}

}  // namespace

OptimizerAttrs resolve(const Optimizer& o, std::int64_t epochs, std::int64_t steps_per_epoch) {
  require_range(o.learning_rate >= 0, "learning rate must not be negative", o.learning_rate);
  require_range(o.momentum >= 0 && o.momentum < 1, "momentum must lie in [0, 1)", o.momentum);
  require_range(!o.nesterov || o.momentum > 0, "Nesterov form wants a momentum", o.momentum);
  require_range(o.beta1 >= 0 && o.beta1 < 1, "beta1 must lie in [0, 1)", o.beta1);
  require_range(o.beta2 >= 0 && o.beta2 < 1, "beta2 must lie in [0, 1)", o.beta2);
  require_range(o.alpha >= 0 && o.alpha < 1, "alpha must lie in [0, 1)", o.alpha);
  require_range(o.epsilon > 0, "epsilon must be above 0", o.epsilon);
  require_range(o.weight_decay >= 0, "weight decay must not be negative", o.weight_decay);
  require_range(o.clip_norm >= 0, "clipping norm must not be negative", o.clip_norm);
  const Schedule& s = o.schedule;
  for (const auto& [name, value] : std::initializer_list<std::pair<std::string_view, double>>{
           {"learning rate must be finite", o.learning_rate},
           {"epsilon must be finite", o.epsilon},
           {"weight decay must be finite", o.weight_decay},
           {"clipping norm must be finite", o.clip_norm},
           {"schedule's factor gamma must be finite", s.gamma},
           {"schedule's floor must be finite", s.floor}}) {
    require_range(std::isfinite(value), name, value);
  }
  require_range(s.gamma >= 0, "schedule's factor gamma must not be negative", s.gamma);
  require_range(s.floor >= 0, "schedule's floor must not be negative", s.floor);
  require_range(s.warmup_epochs <= kMostEpochs, "warm-up must be at most 1e9 epochs",
                s.warmup_epochs);
  require_range(s.every_epochs <= kMostEpochs, "schedule step must be at most 1e9 epochs",
                s.every_epochs);
  require_range(s.warmup_epochs >= 0, "warm-up must not be negative", s.warmup_epochs);
  require_range(s.every_epochs > 0, "schedule step must be above 0 epochs", s.every_epochs);
  const auto steps = [&](double e) {
    return static_cast<std::int64_t>(e * static_cast<double>(steps_per_epoch) + 0.5);
  };
  return {.kind = o.kind,
          .learning_rate = o.learning_rate,
          .momentum =
              o.kind == Optimizer::Kind::sgd || o.kind == Optimizer::Kind::rmsprop ? o.momentum : 0,
          .nesterov = o.nesterov,
          .beta1 = o.beta1,
          .beta2 = o.beta2,
          .epsilon = o.epsilon,
          .alpha = o.alpha,
          .weight_decay = o.weight_decay,
          .clip_norm = o.clip_norm,
          .schedule = s.kind,
          .warmup_steps = steps(s.warmup_epochs),
          .every_steps = std::max<std::int64_t>(steps(s.every_epochs), 1),
          .total_steps = epochs * steps_per_epoch,
          .gamma = s.gamma,
          .floor = s.floor};
}

}  // namespace linnet
