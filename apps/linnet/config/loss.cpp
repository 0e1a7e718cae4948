// SPDX-License-Identifier: Apache-2.0
#include "config/loss.h"

#include <linnet/oversample.h>

#include <algorithm>
#include <charconv>
#include <iterator>

#include "base/check.h"
#include "config/options.h"
#include "describe/nearest.h"
#include "model/options.h"

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

constexpr std::string_view kWeights = "class_weights";
constexpr std::string_view kWhere = "[loss]";

/// Says what a table [loss.OUTPUT] holds: no options of the whole network.
const Description& output_table() {
  static const Description kAll = [] {
    const Description& all = description_of<OutputLoss>();
    Description made{.kind = all.kind,
                     .name = all.name,
                     .fields = all.fields_without({"output", "custom", "options"}),
                     .defaults = all.defaults};
    std::ranges::copy(lifted<&OutputLoss::options>(
                          description_of<LossOptions>().fields_without({"l1", "l2"})),
                      std::back_inserter(made.fields));
    return made;
  }();
  return kAll;
}

/// Reads a table [loss.OUTPUT], the loss of an output of the network.
void read_output_loss(const SettingEntry& entry, Job& job) {
  const std::vector<std::string> outputs = job.network.output_names();
  // Without [network] the outputs are those of a model to start from, which training checks.
  const bool known = job.network.parameters() > 0;
  const std::string where = fmt::format("[loss.{}]", entry.key);
  if (known && std::ranges::find(outputs, entry.key) == outputs.end()) {
    throw SettingError(entry.value.place,
                       fmt::format("{} names no output of the network{}", where,
                                   did_you_mean(entry.key, outputs, "expected")));
  }
  LossOptions plain;
  plain.l1 = job.training.loss_options.l1;
  plain.l2 = job.training.loss_options.l2;
  if (entry.key == outputs.front() &&
      (job.balanced_classes || job.training.loss != Loss::automatic ||
       job.training.loss_options != plain)) {
    throw SettingError(entry.value.place,
                       where +
                           " is the loss of the first output; expected none in [training] and "
                           "no options but l1 and l2 in [loss]");
  }
  OutputLoss loss{.output = entry.key};
  output_table().read(&loss, entry.value, where);
  job.training.output_losses.push_back(std::move(loss));
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
  add_flags(command, description_of<LossOptions>(), settings.options);
  command.add_option("--class-weights", settings.class_weights,
                     "Weights of the classes in the loss: auto (all classes count alike) or a "
                     "number for each class: 1,2,0.5");
}

void apply(const LossSettings& settings, Job& job) {
  std::optional<Loss> chosen;
  if (settings.loss) chosen = static_cast<Loss>(index_of(loss_choices(), *settings.loss));
  job.task->replace_loss(job.training, chosen, false);
  const auto [loss, options] = first_loss(job.training, job.network);
  *loss = chosen.value_or(*loss);
  description_of<LossOptions>().read(options, settings.options, "the options");
  for (OutputLoss& other : job.training.output_losses) {  // a series has an output for each target
    if (other.loss == *loss) {
      description_of<LossOptions>().read(&other.options, settings.options, "the options");
    }
  }
  if (settings.class_weights.empty()) return;
  job.balanced_classes = settings.class_weights == "auto";
  options->class_weights =
      job.balanced_classes ? std::vector<double>{} : numbers_of(settings.class_weights);
}

void read_loss(const Setting& table, Job& job) {
  SettingTable own;
  std::vector<const SettingEntry*> outputs;
  job.balanced_classes = false;
  for (const SettingEntry& entry : *table.get_if<SettingTable>()) {
    if (entry.value.get_if<SettingTable>() != nullptr) {
      outputs.push_back(&entry);
    } else if (entry.key == kWeights && entry.value.get_if<std::string>() != nullptr) {
      FieldReading{kWeights, std::string(kWhere), entry.value}.choice({"auto"});
      job.balanced_classes = true;
    } else {
      own.push_back(entry);
    }
  }
  description_of<LossOptions>().read(&job.training.loss_options, {std::move(own), table.place},
                                     std::string(kWhere));
  for (const SettingEntry* output : outputs) read_output_loss(*output, job);
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
