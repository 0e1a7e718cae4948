// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <linnet/run_log.h>
#include <linnet/trainer.h>
#include <linnet/training_warnings.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/files.h"
#include "base/folder.h"
#include "base/join.h"
#include "base/shell_word.h"
#include "commands/commands.h"
#include "commands/interrupt.h"
#include "commands/train.h"
#include "commands/train_checks.h"
#include "commands/train_folds.h"
#include "commands/train_options.h"
#include "commands/train_report.h"
#include "commands/train_watcher.h"
#include "commands/train_within.h"
#include "config/config.h"
#include "config/prepared.h"
#include "config/pretrained.h"
#include "config/ranks.h"
#include "config/views.h"
#include "dist/rank_group.h"
#include "model/intervals.h"
#include "nn/definition.h"
#include "nn/views.h"
#include "report/folder_lock.h"
#include "report/print.h"
#include "report/rivals.h"

namespace linnet::command {
namespace {

/// Returns the training; its errors say which weights are kept.
History train_watched(Model& model, const Splits& data, const TrainingOptions& training,
                      Watcher& watcher, const RunFolder& folder) {
  try {
    return train(model, data, training, &watcher);
  } catch (const Error& error) {
    if (watcher.saved_epoch() == 0) throw;
    const std::string sentence =
        fmt::format("{}; the weights of epoch {} are kept in '{}'", error.what(),
                    watcher.saved_epoch(), folder.model().string());
    const auto* lost = dynamic_cast<const RankError*>(&error);
    if (lost != nullptr) throw RankError(lost->rank, sentence);
    throw Error(sentence);
  }
}

void clean_cache() {
  const std::filesystem::path cache = cache_folder();
  if (!cache.empty()) return remove_leftovers(cache);
  print_note(
      "measured choices are not kept between runs: there is no cache folder "
      "(neither $XDG_CACHE_HOME nor $HOME is set, and there is no temporary folder of this user)");
}

LoadedData data_of(const Job& job, bool quiet) {
  LoadedData data = load_data(job);
  if (!quiet) print_notes(data.note);
  return data;
}

constexpr const char* kCsvFile = "history.csv";

void add_logs(Watcher& watcher, const std::vector<std::string>& names, const Model& model,
              const RunFolder& folder) {
  const auto wanted = [&](const char* name) { return std::ranges::count(names, name) > 0; };
  if (wanted("csv")) watcher.add_log(std::make_unique<CsvLog>(folder.path() / kCsvFile));
  if (wanted("tensorboard")) {
    watcher.add_log(
        std::make_unique<TensorBoardLog>(folder.path(), TensorBoardOptions{.model = model}));
  }
}

/// Of the notes on data, those that load_data() leaves out: what looks like a mistake.
std::vector<std::string> warnings_of(const std::vector<std::string>& notes) {
  constexpr std::string_view kWarning = "warning: ";
  std::vector<std::string> warnings;
  for (const std::string& note : notes) {
    if (note.starts_with(kWarning)) warnings.push_back(note.substr(kWarning.size()));
  }
  return warnings;
}

/// What all ranks of a job prepare alike.
struct Prepared {
  Model model;
  LoadedData data;
  Splits trained;  ///< `data` with samples of rare classes repeated, if the job says so
  std::vector<std::string> warnings;
};

/// Returns the data that the training sees, and says where that is more than there are.
Splits oversampled(const Job& job, LoadedData& data, bool quiet) {
  Splits trained = data.splits;
  trained.train = with_oversampling(job, data.splits.train);
  const std::int64_t before = data.splits.train.size();
  if (trained.train.size() == before) return trained;
  const std::string note =
      fmt::format("samples of rare classes are repeated: {} training samples become {}", before,
                  trained.train.size());
  if (!quiet) print_note("{}", note);
  data.note += (data.note.empty() ? "" : "\n") + note;
  return trained;
}

Prepared prepare(Job& job, const TrainOptions& options) {
  Model model = make_model(job);  // before the data: a missing device costs no download
  if (options.views) job.views = parse_views(*options.views);
  check_used(options.given, model);
  check_shards(options, job.training, model);
  if (job.views) model.network().with_views(*job.views);  // throws before work
  LoadedData data = data_of(job, options.quiet);
  if (model.device() == "cpu" && data.splits.train.inputs()[0].source == nullptr) {
    options.given.refuse({"--streamed"}, "image files and GPUs",
                         "these data are in memory, and the network runs on the CPU");
  }
  data.splits = match_classes(job, model, std::move(data.splits), options.force);
  if (job.for_images) {
    model = Model(fit_network(job, data.splits.train.inputs()[0].record()), job.model);
  }
  Splits trained = oversampled(job, data, options.quiet);
  std::vector<std::string> warnings = warnings_of(job.task->notes());
  for (std::string& warning :
       training_warnings(model, data.splits, with_class_weights(job, trained.train))) {
    warnings.push_back(std::move(warning));
  }
  for (const std::string& warning : warnings) {
    if (!options.quiet) print_note("warning: {}", warning);
  }
  remember_samples(model, data.splits.train);
  return {std::move(model), std::move(data), std::move(trained), std::move(warnings)};
}

/// Rank 0 alone has the run's folder. Once that is ready it tells the others where checkpoints are;
/// nothing: the run is finished.
std::string meet_at(const Ranks& ranks, const std::string& checkpoints) {
  RankGroup* group = RankAccess::group(ranks);
  return group == nullptr ? checkpoints : group->broadcast(checkpoints, "the start of the run");
}

/// Hears of signals in ranks that show and write nothing.
class SilentWatcher : public Callback {
 public:
  explicit SilentWatcher(InterruptGuard& guard) : guard_(guard) {}
  void on_progress(const Progress&) override { guard_.training(); }
  bool stop_requested() override { return InterruptGuard::requested(); }

 private:
  InterruptGuard& guard_;
};

/// Says what the saved model, which sees several views of each image, is worth on the test set.
void add_views(Json& summary, Model& model, const Job& job, const Splits& splits,
               Watcher& watcher) {
  const std::string views = to_string(*job.views);
  summary["tta"] = views;
  if (splits.test.size() == 0 || !summary["test_accuracy"].is_number()) return;
  const Evaluation averaged =
      evaluate(model, splits.test, job.training.loss, 256, job.training.loss_options);
  const double alone = summary["test_accuracy"].get<double>();
  summary["test_accuracy_of_one_view"] = alone;
  summary["test_loss"] = averaged.loss;
  summary["test_accuracy"] = averaged.accuracy;
  watcher.line(
      fmt::format("linnet: one view of each image: test accuracy {:.2f} %; --tta {}: {:.2f} %",
                  100 * alone, views, 100 * averaged.accuracy));
}

/// A training that has ended, and what its summary says.
struct Trained {
  History history;
  Json summary;
};

/// Trains a model and leaves all but the summary in the folder; nothing of a rehearsal that a
/// signal ends.
Trained train_and_report(const Job& job, Prepared prepared, RunFolder& folder,
                         InterruptGuard& guard, const TrainOptions& options,
                         const TimeLimit& limit) {
  const bool rehearses = limit.kind == TimeLimit::Kind::rehearsal;
  auto& [model, data, trained, warnings] = prepared;
  Watcher watcher(model, folder, data.splits.train.info().vocabulary, job.training, guard);
  if (options.quiet || rehearses) watcher.be_quiet();
  watcher.keep_time(limit);
  add_logs(watcher, options.logs, model, folder);
  const TrainingOptions training = with_class_weights(job, trained.train);
  // A GPU may report nothing before the end of an epoch, which must not be lost then.
  if (model.device() != "cpu") guard.training();
  History history = train_watched(model, trained, training, watcher, folder);
  if (rehearses && InterruptGuard::requested()) return {std::move(history), {}};
  watcher.finish();
  const bool timed = limit.kind != TimeLimit::Kind::none;
  history.interrupted = history.interrupted && (!timed || InterruptGuard::requested());
  if (!rehearses) guard.reporting(history.interrupted);
  for (Dataset* part : {&data.splits.validation, &data.splits.test}) {
    if (part->size() > 0) *part = fit_samples(std::move(*part), model);
  }
  const bool weighs = !model.network().definition().outputs.front().members.empty();
  if (weighs) model = model.with_member_shares(data.splits.validation);
  if (job.views) model = model.with_views(*job.views);
  const bool calibrates = calibrate_where_possible(model, data.splits.validation);
  if (weighs || calibrates || job.views) watcher.save();
  const std::optional<TaskReport> own = job.task->report(model);
  const HeldOut held = held_out_of(model, job, data.splits, own.has_value());
  const Rivals rivals =
      own ? own->rivals
          : rivals_of(model, held, data.splits.train, job.training.loss_options.ignore_index);
  const std::string verdict = rivals.worse.empty() ? rivals.verdict : "warning: " + rivals.worse;
  Json summary = Json::object();
  if (!verdict.empty()) summary["verdict"] = verdict;  // first, as in report and terminal
  summary.update(summary_json(job, model, history, data, held, folder));
  if (job.views) add_views(summary, model, job, data.splits, watcher);
  summary.update(rivals.json);
  if (!rivals.worse.empty()) warnings.insert(warnings.begin(), rivals.worse);
  if (own) summary[own->key] = own->json;
  if (!warnings.empty()) summary["warnings"] = warnings;
  if (!verdict.empty()) watcher.line("linnet: " + verdict);
  write_report(job, summary, history, model, data, held, rivals, own ? own->html : "", folder);
  if (own) {
    write_file_atomically(folder.metrics(), own->json.dump(2) + "\n");
    for (const std::string& line : own->lines) watcher.line(line);
  } else {
    report_metrics(job, model, held, data.splits, folder, watcher);
  }
  for (const std::string& note : history.notes) watcher.line("linnet: " + note);
  return {std::move(history), std::move(summary)};
}

constexpr std::int64_t kFewParameters = 1'000'000;
constexpr double kSecondsUnsaved = 10;

/// Lets a small network be saved by time, unless something else was asked for: after each of its
/// short epochs, flushing checkpoint and model to the disk would take longer than the epoch.
void save_by_time(Job& job, const TrainOptions& options, const Model& model) {
  const bool small = model.network().parameters() <= kFewParameters;
  const bool given =
      options.checkpoint_every || configured_training(job).contains("checkpoint_every");
  if (!small || given || job.training.ranks.size() > 1) return;
  job.training.checkpoints.every_epoch = false;
  job.training.checkpoints.every_seconds = kSecondsUnsaved;
}

/// Trains in a folder that is ready.
int train_in(RunFolder& folder, Job job, InterruptGuard& guard, const TrainOptions& options) {
  clean_cache();
  const int ranks = job.training.ranks.size();
  Prepared prepared = prepare(job, options);
  save_by_time(job, options, prepared.model);
  const std::optional<TimeBudget> budget = budget_of(options.within, options.begun);
  std::optional<Deadline> deadline;
  TimeLimit limit;
  if (budget) {
    const auto rehearse = [&](const Job& rehearsed, RunFolder& own, Callback& time) {
      const TimeLimit short_one{.kind = TimeLimit::Kind::rehearsal, .callback = &time};
      Prepared copy = prepared;
      copy.model = prepared.model.copy();
      return train_and_report(rehearsed, std::move(copy), own, guard, options, short_one)
          .history.startup_seconds;
    };
    const auto times = plan_length(job, folder, options, *budget, rehearse);
    if (!times || InterruptGuard::requested()) {
      print_note("interrupted in the rehearsal; nothing is saved");
      return kInterrupted;
    }
    deadline.emplace(*budget, *times);
    limit = {.kind = TimeLimit::Kind::run, .callback = &*deadline, .left = [&] {
               return deadline->left();
             }};
  }
  Checkpoints& checkpoints = job.training.checkpoints;
  checkpoints.folder = folder.checkpoints();
  checkpoints.resume = true;
  auto [history, summary] =
      train_and_report(job, std::move(prepared), folder, guard, options, limit);
  if (budget && !history.interrupted) {
    const std::string note = note_on_time(job.training, history, folder, *budget, options.within);
    summary["within"] = {{"seconds", budget->seconds()}, {"note", note}};
    if (!options.quiet) print_note("{}", note);
  }
  // The last one: a run with a summary of all epochs is finished.
  write_file_atomically(folder.summary(),
                        summary.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
  if (history.interrupted) {
    const std::string launched =
        ranks > 1 ? fmt::format("linnet launch -n {} -- ", ranks) : "linnet ";
    print_note("interrupted; everything so far is saved in {}; to continue: {}train --resume {}",
               folder.path().string(), launched, shell_word(folder.path().string()));
  } else if (!options.quiet) {
    if (history.stopped_early) print_note("stopped early: the held-out loss did not improve");
    print_note("{}; report: {}", test_result(summary), folder.report().string());
  }
  if (options.json) print_json(summary);
  return InterruptGuard::requested() ? kInterrupted : kSuccess;
}

int begin_run(const TrainOptions& options, const CLI::App& command,
              const std::filesystem::path& wanted, const Ranks& ranks) {
  Job job = job_of(options);
  if (job.task->folds() > 0) {
    require(ranks.size() == 1, "--folds trains in one process; got {} ranks", ranks.size());
    return train_folds(options, job);
  }
  RunFolder folder(wanted, job.name);  // first: an hour of loading for a folder in use is lost
  InterruptGuard guard(folder.removable());  // to the end: a report half written is none
  write_run_start(folder.start(), start_of(command, job.configuration));
  meet_at(ranks, folder.checkpoints().string());
  job.training.ranks = ranks;
  return train_in(folder, std::move(job), guard, options);
}

/// Returns the summary of a run that is finished; null for another.
Json finished(const RunFolder& folder) {
  if (!is_file(folder.summary())) return nullptr;
  Json summary = read_object(folder.summary());
  const bool whole = summary.contains("interrupted") && summary["interrupted"] == false;
  return whole ? summary : Json();
}

/// Throws Error for arguments that a finished run was not trained with: they would change nothing.
void require_nothing_new(const RunFolder& folder, const RunStart& started, const RunStart& now) {
  std::vector<std::string> others;
  for (const auto& [name, values] : now.options) {
    const auto before = started.options.find(name);
    const bool same = before != started.options.end() && before->second == values;
    if (same) continue;
    others.push_back(name);
    others.insert(others.end(), values.begin(), values.end());
  }
  if (others.empty()) return;
  const std::string path = shell_word(folder.path().string());
  fail(
      "the run in '{}' is finished, so '{}' would change nothing; to train its model further, "
      "begin a new run: linnet train DATA --from {} --epochs N",
      folder.path().string(), join(others, " "), path);
}

int continue_run(const TrainOptions& given, const CLI::App& command, const Ranks& ranks) {
  RunFolder folder(given.resume);
  const RunStart started = read_run_start(folder.start());
  const RunStart now = start_of(command, "");
  const TrainOptions options = continued_options(started, now, given);
  Job job = job_of(options);
  require(job.task->folds() == 0,
          "--folds keeps no model that could be continued; leave out --resume");
  if (const Json summary = finished(folder); !summary.is_null()) {
    require_nothing_new(folder, started, now);
    print_note("the run in '{}' is finished", folder.path().string());
    if (options.json) print_json(summary);
    meet_at(ranks, "");
    return kSuccess;
  }
  if (checkpoint_files(folder.checkpoints()).empty()) {
    print_note("the run in '{}' ended before its first checkpoint; it starts again",
               folder.path().string());
    std::error_code none;
    std::filesystem::remove(folder.history(), none);
    std::filesystem::remove(folder.path() / kCsvFile, none);
  } else if (job.model.cpu.tune) {
    job.model.cpu.choices = engine_choices(read_checkpoint(folder.checkpoints()).state);
  }
  InterruptGuard guard(folder.removable(), true);
  meet_at(ranks, folder.checkpoints().string());
  job.training.ranks = ranks;
  return train_in(folder, std::move(job), guard, options);
}

/// Trains what rank 0 trains.
int follow(const TrainOptions& given, const CLI::App& command, const Ranks& ranks) {
  const std::string checkpoints = meet_at(ranks, "");
  if (checkpoints.empty()) return kSuccess;
  const std::filesystem::path start = std::filesystem::path(given.resume) / kStartFile;
  const bool continued = !given.resume.empty() && is_file(start);
  const TrainOptions options =
      continued ? continued_options(read_run_start(start), start_of(command, ""), given) : given;
  Job job = job_of(options);
  InterruptGuard guard({}, continued);
  if (continued && job.model.cpu.tune && !checkpoint_files(checkpoints).empty()) {
    job.model.cpu.choices = engine_choices(read_checkpoint(checkpoints).state);
  }
  auto [model, data, trained, warnings] = prepare(job, options);
  job.training.ranks = ranks;
  job.training.checkpoints.folder = checkpoints;
  job.training.checkpoints.resume = true;
  SilentWatcher watcher(guard);
  const History history = train(model, trained, with_class_weights(job, trained.train), &watcher);
  return history.interrupted ? kInterrupted : kSuccess;
}

int train_rank(const TrainOptions& options, const CLI::App& command, const Ranks& ranks) {
  if (ranks.rank() > 0) return follow(options, command, ranks);
  if (options.resume.empty()) return begin_run(options, command, options.out, ranks);
  const std::filesystem::path start = std::filesystem::path(options.resume) / kStartFile;
  if (is_file(start)) return continue_run(options, command, ranks);
  require(!options.config.empty() || !options.workload.empty(),
          "the folder '{}' has no run to continue (no {})", options.resume, kStartFile);
  return begin_run(options, command, options.resume, ranks);
}

int train_job(const TrainOptions& options, const CLI::App& command) {
  check_alone(options.given);
  const Ranks ranks =
      ranks_of_environment(options.rank_deadline,
                           options.reduce == "fast" ? RankReduce::fast : RankReduce::tree);
  require(options.within.empty() || ranks.size() == 1,
          "--within trains in one process; got {} ranks", ranks.size());
  try {
    return train_rank(options, command, ranks);
  } catch (const RankError&) {
    throw;
  } catch (const std::exception& error) {
    ranks.leave(error.what());  // so that the others can say why
    throw;
  }
}

}  // namespace

int train_in_folder(const TrainOptions& options, const std::filesystem::path& folder) {
  TrainOptions of;
  CLI::App command;
  add_train_options(command, of);
  // A run that continues is described by its own record.
  const bool begun = is_file(folder / kStartFile);
  std::vector<std::string> arguments;
  if (!begun) arguments.push_back(options.config);
  if (options.threads) arguments.push_back(fmt::format("--threads={}", *options.threads));
  if (options.on.device()) arguments.push_back("--device=" + *options.on.device());
  std::ranges::reverse(arguments);  // as CLI11 takes them
  command.parse(arguments);
  of.given = GivenOptions(command);
  of.quiet = options.quiet;
  of.kept = options.kept;
  if (begun) {
    of.resume = folder.string();
    return continue_run(of, command, {});
  }
  of.configuration = options.configuration;
  return begin_run(of, command, folder, {});
}

void add_train(CLI::App& app, Action& action) {
  auto o = std::make_shared<TrainOptions>();
  CLI::App* command = app.add_subcommand("train", "Trains a network and writes a run folder");
  add_train_options(*command, *o);
  act(*command, o, action,
      [command](const TrainOptions& options) { return train_job(options, *command); });
}

}  // namespace linnet::command
