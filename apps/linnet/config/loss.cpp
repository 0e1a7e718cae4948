// SPDX-License-Identifier: Apache-2.0
#include "config/loss.h"

#include <linnet/oversample.h>

#include <algorithm>
#include <charconv>

#include "base/check.h"
#include "config/options.h"
#include "describe/nearest.h"

namespace linnet::command {
namespace {

std::vector<double> numbers_of(const std::string& text) {
  std::vector<double> numbers;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (true) {
    double number = 0;
    const auto [rest, error] = std::from_chars(at, end, number);
    require(
        error == std::errc{} && (rest == end || *rest == ','),
        "--class-weights: expected auto or numbers separated by commas, such as 1,2,0.5; got '{}'",
        text);
    numbers.push_back(number);
    if (rest == end) return numbers;
    at = rest + 1;
  }
}

/// Returns an array of numbers; empty where the key is missing.
std::vector<double> numbers_of(Section& section, std::string_view key, std::string_view expected) {
  const toml::node* found = section.node(key);
  if (found == nullptr) return {};
  if (!found->is_array() || found->as_array()->empty()) section.refuse_type(key, expected);
  std::vector<double> numbers;
  for (const toml::node& item : *found->as_array()) {
    if (!item.is_number()) section.refuse_type(key, expected);
    numbers.push_back(*item.value<double>());
  }
  return numbers;
}

/// Reads the options that every loss may have, but for the class weights.
void read_options(Section& section, LossOptions& o) {
  o.label_smoothing = section.number("label_smoothing", o.label_smoothing);
  o.positive_weights = numbers_of(section, "positive_weights", "an array of numbers");
  if (section.has("ignore_index")) {
    o.ignore_index =
        static_cast<std::int32_t>(section.integer("ignore_index", 0, -kLargestInteger));
  } else {
    section.node("ignore_index");
  }
  o.focal_gamma = section.number("focal_gamma", o.focal_gamma);
  o.focal_alpha = section.number("focal_alpha", o.focal_alpha);
  o.huber_delta = section.number("huber_delta", o.huber_delta);
}

/// Reads the tables [loss.OUTPUT], each with the loss of an output of the network.
void read_output_losses(Section& section, Job& job) {
  const std::vector<std::string> outputs = job.network.output_names();
  // Without [network] the outputs are those of a model to start from, which training checks.
  const bool known = job.network.parameters() > 0;
  LossOptions plain;
  plain.l1 = job.training.loss_options.l1;
  plain.l2 = job.training.loss_options.l2;
  for (const std::string& name : section.tables()) {
    if (section.knows(name)) continue;
    if (known && std::ranges::find(outputs, name) == outputs.end()) {
      const std::string near = did_you_mean(name, outputs);
      section.refuse(name, fmt::format("[loss.{}] names no output of the network{}", name,
                                       near.empty() ? "; expected " + listed(outputs) : near));
    }
    const bool first = name == outputs.front();
    if (first && (job.balanced_classes || job.training.loss != Loss::automatic ||
                  job.training.loss_options != plain)) {
      section.refuse(name, fmt::format("[loss.{}] is the loss of the first output; expected none "
                                       "in [training] and no options but l1 and l2 in [loss]",
                                       name));
    }
    Section own = section.table(name, fmt::format("[loss.{}]", name));
    OutputLoss to;
    to.output = name;
    to.loss = static_cast<Loss>(own.choice("loss", 0, loss_choices()));
    to.weight = own.number("weight", to.weight);
    if (own.has("target")) to.target = own.number("target", 0);
    own.node("target");
    to.options.class_weights = numbers_of(own, "class_weights", "an array of numbers");
    read_options(own, to.options);
    own.close();
    job.training.output_losses.push_back(std::move(to));
  }
}

/// Returns loss and options of the network's first output.
std::pair<Loss*, LossOptions*> first_loss(TrainingOptions& training, const Network& network) {
  const std::string first = network.output_names().front();
  for (OutputLoss& loss : training.output_losses) {
    if (loss.output == first) return {&loss.loss, &loss.options};
  }
  return {&training.loss, &training.loss_options};
}

}  // namespace

std::vector<std::string> loss_choices() {
  const std::vector<std::string_view> names = loss_names();
  return {names.begin(), names.end()};
}

void add_loss_options(CLI::App& command, LossSettings& settings) {
  command.add_option("--loss", settings.loss, "Loss that the training minimises")
      ->check(one_of(loss_choices()));
  command.add_option(
      "--label-smoothing", settings.label_smoothing,
      "Label smoothing: share of every label that is spread over all classes, in [0, 1)");
  command.add_option("--class-weights", settings.class_weights,
                     "Weights of the classes in the loss: auto (all classes count alike) or a "
                     "number for each class: 1,2,0.5");
}

void apply(const LossSettings& settings, Job& job) {
  const auto [loss, options] = first_loss(job.training, job.network);
  if (settings.loss) *loss = static_cast<Loss>(index_of(loss_choices(), *settings.loss));
  options->label_smoothing = settings.label_smoothing.value_or(options->label_smoothing);
  if (settings.class_weights.empty()) return;
  job.balanced_classes = settings.class_weights == "auto";
  options->class_weights =
      job.balanced_classes ? std::vector<double>{} : numbers_of(settings.class_weights);
}

void read_loss(Section& section, Job& job) {
  LossOptions& o = job.training.loss_options;
  const toml::node* weights = section.node("class_weights");
  job.balanced_classes = weights != nullptr && weights->is_string();
  if (job.balanced_classes) {
    section.choice("class_weights", 0, {"auto"});
  } else {
    o.class_weights = numbers_of(section, "class_weights", "\"auto\" or an array of numbers");
  }
  read_options(section, o);
  o.l1 = section.number("l1", o.l1);
  o.l2 = section.number("l2", o.l2);
  read_output_losses(section, job);
  section.close();
}

Dataset with_oversampling(const Job& job, const Dataset& train) {
  if (job.oversample == 0) return train;
  TrainingOptions training = job.training;
  return oversample(train,
                    {.share = job.oversample,
                     .seed = training.seed,
                     .ignore_index = first_loss(training, job.network).second->ignore_index});
}

TrainingOptions with_class_weights(const Job& job, const Dataset& train) {
  TrainingOptions options = job.training;
  if (job.balanced_classes) {
    LossOptions& first = *first_loss(options, job.network).second;
    std::vector<double>& weights = first.class_weights;
    weights = balanced_class_weights(train, first.ignore_index);
    // An output without a class of the data, an ignored label's say, is one that never occurs.
    const Shape outputs = job.network.output_shape();
    const auto count = static_cast<std::size_t>(outputs.rank() > 0 ? outputs[-1] : 1);
    weights.resize(std::max(weights.size(), count), 0.0);
  }
  return options;
}

}  // namespace linnet::command
