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

/// Returns what metrics say, in columns.
std::vector<Score> scores_of(const Metrics& m) {
  switch (m.kind) {
    case Metrics::Kind::labels:
      return {{"accuracy", "accuracy", Score::Form::percent, {m.accuracy}},
              {"macro_f1", "macro F1", Score::Form::share, {m.scores.macro.f1}},
              {"log_loss", "log loss", Score::Form::share, {m.log_loss}}};
    case Metrics::Kind::binary:
      return {{"mean_roc_auc", "mean ROC AUC", Score::Form::share, {m.auc.mean}}};
    case Metrics::Kind::values: break;
  }
  return {{"r_squared", "R²", Score::Form::share, {m.r_squared}},
          {"mae", "MAE", Score::Form::number, {m.mae}},
          {"rmse", "RMSE", Score::Form::number, {m.rmse}}};
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

struct Fold {
  std::int64_t trained = 0;
  std::int64_t tested = 0;
  std::int64_t epochs = 0;
  bool interrupted = false;
  Metrics metrics = {};
  Json rivals = {};  ///< scores of simpler answers on the same rows
};

Fold train_fold(Job job, TerminalLine& line, std::int64_t fold, bool quiet) {
  Model model = make_model(job);
  Splits data = job.task->data();
  const std::int64_t rows = data.train.size();
  data.train = with_oversampling(job, data.train);
  const TrainingOptions training = with_class_weights(job, data.train);
  FoldWatcher watcher(line, fold, job.task->folds(), quiet);
  const History history = train(model, data, training, &watcher);
  model = model.with_member_shares(data.validation);
  Fold done{.trained = rows,
            .tested = data.test.size(),
            .epochs = std::ssize(history.epochs),
            .interrupted = history.interrupted};
  if (done.interrupted) return done;
  HeldOut held{.part = "test", .what = "rows", .data = data.test};
  held.predictions = predictions_of(model, data.test);
  held.metrics = evaluate_metrics(model, data.test);
  done.metrics = *held.metrics;
  done.rivals =
      rivals_of(model, held, job.task->data().train, job.training.loss_options.ignore_index).json;
  return done;
}

constexpr int kScoreWidth = 14;

std::string column(const std::string& text) { return fmt::format("{:>{}}", text, kScoreWidth); }

/// Returns the mean over the folds of what a simpler answer is worth, by the keys of scores that
/// all folds have; empty where a fold lacks the answer. `kind`: "linear", "trivial".
std::map<std::string, double> mean_of_rival(const std::vector<Fold>& folds, const char* kind) {
  std::map<std::string, double> mean;
  std::map<std::string, std::size_t> found;
  for (const Fold& fold : folds) {
    if (!fold.rivals.contains(kind)) return {};
    for (const auto& [key, value] : fold.rivals[kind].items()) {
      if (!value.is_number()) continue;
      mean[key] += value.get<double>() / static_cast<double>(folds.size());
      ++found[key];
    }
  }
  std::erase_if(mean, [&](const auto& one) { return found[one.first] != folds.size(); });
  return mean;
}

/// Names the answer that looks at no input, as all folds do, or in general.
std::string name_of_trivial(const std::vector<Fold>& folds) {
  std::string name;
  for (const Fold& fold : folds) {
    const std::string own = fold.rivals["trivial"]["answer"].get<std::string>();
    if (!name.empty() && own != name) return "the most frequent class";
    name = own;
  }
  return name;
}

/// Says where the folds' mean is not better than that of the answer that looks at no input; else
/// "".
std::string worse_than_trivial(const std::vector<Fold>& folds, const std::vector<Score>& scores) {
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

void print_table(const std::vector<Fold>& folds, const std::vector<Score>& scores) {
  std::string text = fmt::format("{:>4} {:>8} {:>8} {:>8}", "fold", "trained", "tested", "epochs");
  for (const Score& score : scores) text += column(score.name);
  text += "\n";
  for (std::size_t i = 0; i < folds.size(); ++i) {
    text += fmt::format("{:>4} {:>8} {:>8} {:>8}", i + 1, folds[i].trained, folds[i].tested,
                        folds[i].epochs);
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

Json json_of(const Job& job, const std::vector<Fold>& folds, const std::vector<Score>& scores,
             const std::vector<std::string>& classes, const std::string& worse) {
  Json json{{"data", job.data}, {"folds", Json::array()}, {"mean", {}}, {"std", {}}};
  for (const Fold& fold : folds) {
    json["folds"].push_back({{"train_samples", fold.trained},
                             {"test_samples", fold.tested},
                             {"epochs", fold.epochs},
                             {"metrics", to_json(fold.metrics, classes)}});
    json["folds"].back().update(fold.rivals);
  }
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
  std::vector<Fold> folds;
  std::vector<Score> scores;
  TerminalLine line;
  const auto say = [&](const std::string& text) {
    line.clear();
    print_note("{}", text);
  };
  for (std::int64_t fold = 0; fold < first.task->folds(); ++fold) {
    TrainOptions of = options;
    of.of_data.fold = fold;
    of.of_data.rows = first.task->table();
    const Job job = fold == 0 ? first : job_of(of);
    const std::vector<std::string>& notes = job.task->notes();
    if (!options.quiet) {
      if (fold == 0) print_notes(join(std::span(notes).first(notes.size() - 1), "\n"));
      say(fmt::format("fold {}: {}", fold + 1, notes.back()));
    }
    folds.push_back(train_fold(job, line, fold, options.quiet));
    if (folds.back().interrupted) {
      say(fmt::format("interrupted in fold {}; nothing is kept", fold + 1));
      return kInterrupted;
    }
    const std::vector<Score> own = scores_of(folds.back().metrics);
    if (fold == 0) {
      scores = own;
      continue;
    }
    for (std::size_t i = 0; i < own.size(); ++i) scores[i].folds.push_back(own[i].folds[0]);
  }
  line.clear();
  const std::string worse = worse_than_trivial(folds, scores);
  const Json json = json_of(first, folds, scores, first.task->data().train.classes(), worse);
  options.json ? print_json(json) : print_table(folds, scores);
  if (!worse.empty()) print_note("warning: {}", worse);
  if (!out.empty()) write_file_atomically(out / "folds.json", json.dump(2) + "\n");
  return kSuccess;
}

}  // namespace linnet::command
