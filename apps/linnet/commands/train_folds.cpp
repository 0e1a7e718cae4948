// SPDX-License-Identifier: Apache-2.0
#include "commands/train_folds.h"

#include <fmt/format.h>
#include <linnet/metrics.h>
#include <linnet/trainer.h>

#include <cmath>
#include <filesystem>
#include <map>
#include <span>
#include <utility>

#include "base/check.h"
#include "base/files.h"
#include "base/join.h"
#include "commands/commands.h"
#include "commands/interrupt.h"
#include "commands/side_by_side.h"
#include "config/images.h"
#include "config/loss.h"
#include "config/named_data.h"
#include "report/json.h"
#include "report/metrics.h"
#include "report/rivals.h"
#include "report/terminal_line.h"

namespace linnet::command {
namespace {

/// A column of scores.
struct Score {
  std::string key;   ///< in JSON
  std::string name;  ///< in the table
  enum class Form : std::uint8_t { percent, share, number } form = Form::number;
  std::vector<double> folds = {};

  double mean() const {
    double sum = 0;
    for (const double score : folds) sum += score;
    return sum / static_cast<double>(folds.size());
  }
  /// Of the folds as a sample: divided by one less than their number.
  double std() const {
    const double middle = mean();
    double sum = 0;
    for (const double score : folds) sum += (score - middle) * (score - middle);
    return std::sqrt(sum / static_cast<double>(folds.size() - 1));
  }
  std::string text(double score) const {
    if (form == Form::percent) return fmt::format("{:.2f} %", 100 * score);
    return form == Form::share ? fmt::format("{:.4f}", score) : fmt::format("{:.4g}", score);
  }
};

/// Returns what the metrics of all folds say, in columns.
std::vector<Score> scores_of(const std::vector<Json>& folds) {
  std::vector<Score> scores;
  const auto add = [&](const char* key, const char* name, Score::Form form) {
    Score score{key, name, form};
    for (const Json& fold : folds) {
      const Json& metrics = fold["metrics"];
      const bool macro = key == std::string_view("macro_f1");
      const Json found = macro ? metrics.value("macro", Json::object()).value("f1", Json())
                               : metrics.value(key, Json());
      score.folds.push_back(found.is_number() ? found.get<double>() : kUndefined);
    }
    scores.push_back(std::move(score));
  };
  const Json& metrics = folds.front()["metrics"];
  if (metrics.contains("accuracy")) {
    add("accuracy", "accuracy", Score::Form::percent);
    add("macro_f1", "macro F1", Score::Form::share);
    add("log_loss", "log loss", Score::Form::share);
  } else if (metrics.contains("mean_roc_auc")) {
    add("mean_roc_auc", "mean ROC AUC", Score::Form::share);
  } else {
    add("r_squared", "R²", Score::Form::share);
    add("mae", "MAE", Score::Form::number);
    add("rmse", "RMSE", Score::Form::number);
  }
  return scores;
}

/// Hears of a signal, and shows where the training is.
class FoldWatcher : public Callback {
 public:
  FoldWatcher(TerminalLine& line, std::int64_t fold, std::int64_t folds, bool quiet)
      : line_(line), fold_(fold), folds_(folds), shows_(line.live() && !quiet) {}
  void on_epoch(const EpochReport& report) override {
    if (!shows_) return;
    line_.draw(fmt::format("fold {} of {}, epoch {}", fold_ + 1, folds_, report.epoch));
  }
  bool stop_requested() override { return InterruptGuard::requested(); }

 private:
  TerminalLine& line_;
  std::int64_t fold_;
  std::int64_t folds_;
  bool shows_;
};

/// Trains on all parts but one. Returns what folds.json says of it; null where a signal ended it.
Json train_fold(Job job, Callback& watcher, const std::vector<std::string>& classes) {
  Model model = make_model(job);
  Splits data = job.task->data();
  const std::int64_t rows = data.train.size();
  data.train = with_oversampling(job, data.train);
  const TrainingOptions training = with_class_weights(job, data.train);
  const History history = train(model, data, training, &watcher);
  if (history.interrupted) return nullptr;
  model = model.with_member_shares(data.validation);
  HeldOut held{.part = "test", .what = "rows", .data = data.test};
  held.predictions = predictions_of(model, data.test);
  held.metrics = evaluate_metrics(model, data.test);
  Json fold;
  fold["train_samples"] = rows;
  fold["test_samples"] = data.test.size();
  fold["epochs"] = std::ssize(history.epochs);
  fold["metrics"] = to_json(*held.metrics, classes);
  fold.update(
      rivals_of(model, held, job.task->data().train, job.training.loss_options.ignore_index).json);
  return fold;
}

constexpr int kScoreWidth = 14;

std::string column(const std::string& text) { return fmt::format("{:>{}}", text, kScoreWidth); }

/// Returns the mean over the folds of what a simpler answer is worth, by the keys of scores that
/// all folds have; empty where a fold lacks the answer. `kind`: "linear", "trivial".
std::map<std::string, double> mean_of_rival(const std::vector<Json>& folds, const char* kind) {
  std::map<std::string, double> mean;
  std::map<std::string, std::size_t> found;
  for (const Json& fold : folds) {
    if (!fold.contains(kind)) return {};
    for (const auto& [key, value] : fold[kind].items()) {
      if (!value.is_number()) continue;
      mean[key] += value.get<double>() / static_cast<double>(folds.size());
      ++found[key];
    }
  }
  std::erase_if(mean, [&](const auto& one) { return found[one.first] != folds.size(); });
  return mean;
}

/// Names the answer that looks at no input, as all folds do, or in general.
std::string name_of_trivial(const std::vector<Json>& folds) {
  std::string name;
  for (const Json& fold : folds) {
    const std::string own = fold["trivial"]["answer"].get<std::string>();
    if (!name.empty() && own != name) return "the most frequent class";
    name = own;
  }
  return name;
}

/// Says where the folds' mean is not better than that of the answer that looks at no input; else
/// "".
std::string worse_than_trivial(const std::vector<Json>& folds, const std::vector<Score>& scores) {
  const std::map<std::string, double> trivial = mean_of_rival(folds, "trivial");
  const bool values = scores.size() == 3 && scores[0].key == "r_squared";
  const Score& judged = values ? scores[2] : scores[0];
  const auto found = trivial.find(judged.key);
  if (found == trivial.end() || !std::isfinite(judged.mean())) return "";
  const bool better = values ? judged.mean() < found->second : judged.mean() > found->second;
  if (better) return "";
  return fmt::format("the models are not better than {}: mean {} {}, that answer {}",
                     name_of_trivial(folds), judged.name, judged.text(judged.mean()),
                     judged.text(found->second));
}

void print_table(const std::vector<Json>& folds, const std::vector<Score>& scores) {
  std::string text = fmt::format("{:>4} {:>8} {:>8} {:>8}", "fold", "trained", "tested", "epochs");
  for (const Score& score : scores) text += column(score.name);
  text += "\n";
  for (std::size_t i = 0; i < folds.size(); ++i) {
    text += fmt::format("{:>4}", i + 1);
    for (const char* key : {"train_samples", "test_samples", "epochs"}) {
      text += fmt::format(" {:>8}", folds[i][key].get<std::int64_t>());
    }
    for (const Score& score : scores) text += column(score.text(score.folds[i]));
    text += "\n";
  }
  const auto add = [&](const char* name, auto of) {
    text += fmt::format("{:<31}", name);
    for (const Score& score : scores) text += column(score.text(of(score)));
    text += "\n";
  };
  add("mean", [](const Score& score) { return score.mean(); });
  add("std", [](const Score& score) { return score.std(); });
  for (const char* kind : {"linear", "trivial"}) {
    const std::map<std::string, double> rival = mean_of_rival(folds, kind);
    if (rival.empty()) continue;
    const bool linear = kind == std::string_view("linear");
    const std::string name = linear ? "a linear model" : name_of_trivial(folds);
    text += name + std::string(31 - std::min<std::size_t>(31, columns_of(name)), ' ');
    for (const Score& score : scores) {
      const auto found = rival.find(score.key);
      text += found == rival.end() ? std::string(kScoreWidth - 1, ' ') + "–"
                                   : column(score.text(found->second));
    }
    text += "\n";
  }
  print_out(text);
}

Json json_of(const Job& job, const std::vector<Json>& folds, const std::vector<Score>& scores,
             const std::string& worse) {
  Json json{{"data", job.data}, {"folds", folds}, {"mean", {}}, {"std", {}}};
  for (const Score& score : scores) {
    json["mean"][score.key] = score.mean();
    json["std"][score.key] = score.std();
  }
  for (const char* kind : {"linear", "trivial"}) {
    const std::map<std::string, double> rival = mean_of_rival(folds, kind);
    if (!rival.empty()) json[kind] = rival;
  }
  if (json.contains("trivial")) json["trivial"]["answer"] = name_of_trivial(folds);
  if (!worse.empty()) json["warnings"] = {worse};
  return json;
}

}  // namespace

int train_folds(const TrainOptions& options, const Job& first) {
  require(options.resume.empty(),
          "--folds keeps no model that could be continued; leave out --resume");
  const std::filesystem::path out = options.out;
  if (!out.empty()) {  // before the trainings, whose scores must not be lost
    std::error_code error;
    std::filesystem::create_directories(out, error);
    require(!error, "cannot make the folder '{}': {}", out.string(), error.message());
  }
  InterruptGuard guard({});
  guard.training();
  const std::int64_t count = first.task->folds();
  const std::vector<std::string> classes = first.task->data().train.classes();
  std::vector<Json> folds;
  TerminalLine line;
  const auto say = [&](const std::string& text) {
    line.clear();
    print_note("{}", text);
  };
  const auto tell = [&](std::int64_t fold, const std::string& note) {
    if (!options.quiet) say(fmt::format("fold {}: {}", fold + 1, note));
  };
  const auto job_of_fold = [&](std::int64_t fold) {
    if (fold == 0) return first;
    TrainOptions of = options;
    of.of_data.fold = fold;
    of.of_data.rows = first.task->table();
    return job_of(of);
  };
  if (!options.quiet) {
    const std::vector<std::string>& notes = first.task->notes();
    print_notes(join(std::span(notes).first(notes.size() - 1), "\n"));
  }
  const std::size_t at_once = most_side_by_side(first, static_cast<std::size_t>(count));
  bool whole = true;
  if (at_once > 1) {
    const auto draw = [&] {
      if (line.live() && !options.quiet) {
        line.draw(
            fmt::format("{} of {} folds are trained, {} at a time", folds.size(), count, at_once));
      }
    };
    draw();
    whole = run_side_by_side(
        {.count = static_cast<std::size_t>(count),
         .at_once = at_once,
         .train =
             [&](std::size_t i, std::string& said) {
               Job job = job_of_fold(static_cast<std::int64_t>(i));
               job.model.threads = 1;
               FoldWatcher watcher(line, std::ssize(folds), count, true);
               Json fold = train_fold(job, watcher, classes);
               if (fold.is_null()) return kInterrupted;
               fold["note"] = job.task->notes().back();
               said = fold.dump(-1, ' ', false, Json::error_handler_t::replace);
               return kSuccess;
             },
         .ended =
             [&](std::size_t i, const std::string& said, const std::string& failure) {
               require(failure.empty(), "fold {}: {}", i + 1, failure);
               Json fold = object_of(said);
               tell(static_cast<std::int64_t>(i), fold["note"].get<std::string>());
               fold.erase("note");
               folds.push_back(std::move(fold));
               draw();
             }});
  }
  while (whole && std::ssize(folds) < count) {
    const Job job = job_of_fold(std::ssize(folds));
    tell(std::ssize(folds), job.task->notes().back());
    FoldWatcher watcher(line, std::ssize(folds), count, options.quiet);
    Json fold = train_fold(job, watcher, classes);
    whole = !fold.is_null();
    if (whole) folds.push_back(std::move(fold));
  }
  if (!whole) {
    say(fmt::format("interrupted in fold {}; nothing is kept", folds.size() + 1));
    return kInterrupted;
  }
  line.clear();
  const std::vector<Score> scores = scores_of(folds);
  const std::string worse = worse_than_trivial(folds, scores);
  const Json json = json_of(first, folds, scores, worse);
  options.json ? print_json(json) : print_table(folds, scores);
  if (!worse.empty()) print_note("warning: {}", worse);
  if (!out.empty()) write_file_atomically(out / "folds.json", json.dump(2) + "\n");
  return kSuccess;
}

}  // namespace linnet::command
