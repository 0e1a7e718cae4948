// SPDX-License-Identifier: Apache-2.0
#include "config/loss.h"

#include <algorithm>
#include <charconv>

#include "base/check.h"
#include "config/options.h"

namespace linnet::command {
namespace {

std::vector<double> numbers_of(const std::string& text) {
  std::vector<double> numbers;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (true) {
    double number = 0;
    const auto [rest, error] = std::from_chars(at, end, number);
    require(error == std::errc{} && (rest == end || *rest == ','),
            "--class-weights takes auto or numbers with commas between, such as 1,2,0.5; got '{}'",
            text);
    numbers.push_back(number);
    if (rest == end) return numbers;
    at = rest + 1;
  }
}

/// An array of numbers; empty where the key is missing.
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

}  // namespace

std::vector<std::string> loss_choices() {
  const std::vector<std::string_view> names = loss_names();
  return {names.begin(), names.end()};
}

void add_loss_options(CLI::App& command, LossSettings& settings) {
  command.add_option("--loss", settings.loss, "What the training makes small")
      ->check(one_of(loss_choices()));
  command.add_option("--label-smoothing", settings.label_smoothing,
                     "Part of every label that is spread over all classes, in [0, 1)");
  command.add_option("--class-weights", settings.class_weights,
                     "auto (every class counts alike) or a number for each class: 1,2,0.5");
}

void apply(const LossSettings& settings, Job& job) {
  TrainingOptions& t = job.training;
  if (settings.loss) t.loss = static_cast<Loss>(index_of(loss_choices(), *settings.loss));
  t.loss_options.label_smoothing =
      settings.label_smoothing.value_or(t.loss_options.label_smoothing);
  if (settings.class_weights.empty()) return;
  job.balanced_classes = settings.class_weights == "auto";
  t.loss_options.class_weights =
      job.balanced_classes ? std::vector<double>{} : numbers_of(settings.class_weights);
}

void read_loss(Section& section, Job& job) {
  LossOptions& o = job.training.loss_options;
  o.label_smoothing = section.number("label_smoothing", o.label_smoothing);
  const toml::node* weights = section.node("class_weights");
  job.balanced_classes = weights != nullptr && weights->is_string();
  if (job.balanced_classes) {
    section.choice("class_weights", 0, {"auto"});
  } else {
    o.class_weights = numbers_of(section, "class_weights", "\"auto\" or an array of numbers");
  }
  o.positive_weights = numbers_of(section, "positive_weights", "an array of numbers");
  if (section.has("ignore_index")) {
    o.ignore_index = static_cast<std::int32_t>(section.integer("ignore_index", 0, -kMostExtent));
  } else {
    section.node("ignore_index");
  }
  o.focal_gamma = section.number("focal_gamma", o.focal_gamma);
  o.focal_alpha = section.number("focal_alpha", o.focal_alpha);
  o.huber_delta = section.number("huber_delta", o.huber_delta);
  o.l1 = section.number("l1", o.l1);
  o.l2 = section.number("l2", o.l2);
  section.close();
}

TrainingOptions with_class_weights(const Job& job, const Dataset& train) {
  TrainingOptions options = job.training;
  if (job.balanced_classes) {
    std::vector<double>& weights = options.loss_options.class_weights;
    weights = balanced_class_weights(train, options.loss_options.ignore_index);
    // An output without a class of the data, an ignored label's say, is one that never occurs.
    const Shape outputs = job.network.output_shape();
    const auto count = static_cast<std::size_t>(outputs.rank() > 0 ? outputs[-1] : 1);
    weights.resize(std::max(weights.size(), count), 0.0);
  }
  return options;
}

}  // namespace linnet::command
