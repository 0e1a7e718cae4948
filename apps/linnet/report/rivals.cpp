// SPDX-License-Identifier: Apache-2.0
#include "report/rivals.h"

#include <fmt/format.h>
#include <linnet/table_transform.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "analysis/linear_rival.h"
#include "data/targets.h"
#include "report/metrics.h"
#include "tasks/task.h"
#include "train/metrics_of_model.h"

namespace linnet::command {
namespace {

constexpr double kLeastProbability = 1e-7;  // of a class that the training set lacks

/// A simpler answer, and what it is worth.
struct Rival {
  std::string name = {};    ///< in the table
  std::string phrase = {};  ///< in the verdict
  Metrics metrics = {};
};

std::string percent(double share) { return fmt::format("{:.2f} %", 100 * share); }

std::string figure(double value) {
  return std::isfinite(value) ? fmt::format("{:.4f}", value) : std::string("–");
}

/// Returns what a model is judged by: the larger, the better.
double judged(const Metrics& m) {
  switch (m.kind) {
    case Metrics::Kind::labels: return m.accuracy;
    case Metrics::Kind::binary: return m.auc.mean;
    case Metrics::Kind::values: break;
  }
  return -m.rmse;
}

bool better(const Metrics& a, const Metrics& b) { return judged(a) > judged(b); }

/// Names and texts of the scores of a kind.
std::vector<std::pair<std::string, std::string>> scores_of(const Metrics& m) {
  switch (m.kind) {
    case Metrics::Kind::labels:
      return {{"accuracy", percent(m.accuracy)},
              {"macro F1", figure(m.scores.macro.f1)},
              {"log loss", figure(m.log_loss)}};
    case Metrics::Kind::binary: return {{"mean ROC AUC", figure(m.auc.mean)}};
    case Metrics::Kind::values: break;
  }
  return {{"R²", figure(m.r_squared)},
          {"mean absolute error", short_value(m.mae)},
          {"root mean squared error", short_value(m.rmse)}};
}

Json scores_json(const Metrics& m) {
  switch (m.kind) {
    case Metrics::Kind::labels:
      return {{"accuracy", number_json(m.accuracy)}, {"log_loss", number_json(m.log_loss)}};
    case Metrics::Kind::binary: return {{"mean_roc_auc", number_json(m.auc.mean)}};
    case Metrics::Kind::values: break;
  }
  return {{"r_squared", number_json(m.r_squared)},
          {"mae", number_json(m.mae)},
          {"rmse", number_json(m.rmse)}};
}

/// The same scores for each sample: the logarithms of the classes' shares in the training set.
std::vector<float> priors(const HeldOut& held, const Dataset& train, std::size_t classes,
                          std::size_t& most) {
  std::vector<double> counts(classes);
  for (const std::int32_t label : labels_of(train)) {
    if (label >= 0 && static_cast<std::size_t>(label) < classes)
      counts[static_cast<std::size_t>(label)] += 1;
  }
  most = static_cast<std::size_t>(std::ranges::max_element(counts) - counts.begin());
  if (counts.empty() || counts[most] == 0) return {};
  double all = 0;
  for (const double count : counts) all += count;
  std::vector<float> answers;
  for (std::size_t i = 0; i < held.predictions.size(); ++i) {
    answers.push_back(
        static_cast<float>(std::log(std::max(counts[i % classes] / all, kLeastProbability))));
  }
  return answers;
}

std::vector<float> means(const HeldOut& held, const Dataset& train) {
  const std::span<const float> learned = values_of(train);
  const auto columns =
      static_cast<std::size_t>(std::max<std::int64_t>(1, value_shape_of(held.data).elements()));
  if (learned.empty() || values_of(held.data).empty()) return {};
  std::vector<double> sums(columns);
  for (std::size_t i = 0; i < learned.size(); ++i) sums[i % columns] += learned[i];
  const auto rows = static_cast<double>(learned.size()) / static_cast<double>(columns);
  std::vector<float> answers;
  for (std::size_t i = 0; i < held.predictions.size(); ++i) {
    answers.push_back(static_cast<float>(sums[i % columns] / rows));
  }
  return answers;
}

ReportTable table_of(const Metrics& model, const std::vector<Rival>& rivals,
                     const std::string& part) {
  ReportTable table{.title = fmt::format("Result ({} set)", part), .header = {"answer"}};
  for (const auto& [name, text] : scores_of(model)) table.header.push_back(name);
  const auto add = [&](const std::string& name, const Metrics& metrics) {
    table.rows.push_back({name});
    for (const auto& score : scores_of(metrics)) table.rows.back().push_back(score.second);
  };
  add("this model", model);
  for (const Rival& rival : rivals) add(rival.name, rival.metrics);
  return table;
}

/// "98.55 %", or "0.9703 and 1.2" of R² and the mean absolute error.
std::string short_score(const Metrics& m) {
  const auto scores = scores_of(m);
  return scores[0].second +
         (m.kind == Metrics::Kind::values ? " and " + scores[1].second : std::string());
}

std::string verdict_of(const HeldOut& held, const std::vector<Rival>& rivals) {
  const Metrics& model = *held.metrics;
  const bool values = model.kind == Metrics::Kind::values;
  std::string text = values ? fmt::format("the model's R² is {} and its mean absolute error {} on",
                                          figure(model.r_squared), short_value(model.mae))
                     : model.kind == Metrics::Kind::labels
                         ? fmt::format("the model is right for {} of", percent(model.accuracy))
                         : fmt::format("the model's mean ROC AUC is {} on", figure(model.auc.mean));
  text += fmt::format(" {} {} {}", grouped(std::to_string(model.samples)), held.part, held.what);
  const char* mark = "; ";
  for (const Rival& rival : rivals) {
    text += fmt::format("{}{}{} {}", std::exchange(mark, ", "), values ? "of " : "", rival.phrase,
                        short_score(rival.metrics));
  }
  return text;
}

/// Where the model is not better than the trivial answer, the last of the rivals.
std::string worse_than(const Metrics& model, const Rival& trivial, const std::string& answer) {
  if (better(model, trivial.metrics)) return {};
  switch (model.kind) {
    case Metrics::Kind::labels:
      return fmt::format(
          "the model is not better than the answer '{}' for every sample: accuracy {}, that answer "
          "{}",
          answer, percent(model.accuracy), percent(trivial.metrics.accuracy));
    case Metrics::Kind::binary:
      return fmt::format("the model is not better than chance: mean ROC AUC {}, chance 0.5",
                         figure(model.auc.mean));
    case Metrics::Kind::values: break;
  }
  return fmt::format(
      "the model is not better than the training set's mean for every sample: RMSE {}, the mean {}",
      short_value(model.rmse), short_value(trivial.metrics.rmse));
}

/// The answer that looks at no input; nothing where there is none.
std::optional<std::pair<Rival, std::vector<float>>> trivial_answer(const HeldOut& held,
                                                                   const Dataset& train,
                                                                   std::size_t classes,
                                                                   std::string& name) {
  Rival rival;
  std::vector<float> answers;
  switch (held.metrics->kind) {
    case Metrics::Kind::labels: {
      if (classes == 0 || labels_of(held.data).empty()) return std::nullopt;
      std::size_t most = 0;
      answers = priors(held, train, classes, most);
      name = class_name(train.classes(), most);
      rival.name = rival.phrase = fmt::format("always '{}'", name);
      break;
    }
    case Metrics::Kind::binary:
      answers.assign(held.predictions.size(), 0);
      rival.name = rival.phrase = "chance";
      break;
    case Metrics::Kind::values:
      answers = means(held, train);
      rival.name = "always the training set's mean";
      rival.phrase = "the training set's mean";
  }
  if (answers.empty()) return std::nullopt;
  return std::pair(std::move(rival), std::move(answers));
}

}  // namespace

Rivals rivals_of(const Model& model, const HeldOut& held, const Dataset& train,
                 std::optional<std::int32_t> ignore_index) {
  Rivals found;
  if (!held.metrics || held.metrics->samples == 0) return found;
  const Metrics& own = *held.metrics;
  if (!std::isfinite(judged(own))) return found;
  const std::size_t classes = own.scores.classes.size();  // 0: no labels
  std::string answer;
  const auto trivial = trivial_answer(held, train, classes, answer);
  if (!trivial) return found;
  std::vector<Rival> rivals;
  const auto add = [&](Rival rival, const std::vector<float>& answers) {
    rival.metrics = measure_for(model, answers, held.data, ignore_index);
    rivals.push_back(std::move(rival));
    Json json = scores_json(rivals.back().metrics);
    json["beaten"] = better(own, rivals.back().metrics);
    return json;
  };
  if (task_of(model).takes_rows(model)) {
    const std::vector<float> linear =
        linear_predictions(train, held.data, static_cast<std::int64_t>(classes));
    const char* kind = classes > 0 ? "logistic regression" : "ridge regression";
    if (linear.size() == held.predictions.size()) {
      found.json["linear"] =
          add({.name = fmt::format("linear model ({})", kind), .phrase = "a linear model"}, linear);
    }
  }
  found.json["trivial"] = {{"answer", trivial->first.name}};
  found.json["trivial"].update(add(trivial->first, trivial->second));
  found.table = table_of(own, rivals, held.part);
  found.worse = worse_than(own, rivals.back(), answer);
  found.verdict = verdict_of(held, rivals);
  return found;
}

}  // namespace linnet::command
