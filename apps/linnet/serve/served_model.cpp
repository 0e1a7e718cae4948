// SPDX-License-Identifier: Apache-2.0
#include "serve/served_model.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <utility>

#include "base/check.h"
#include "base/utf8.h"
#include "report/print.h"
#include "table/values.h"

namespace linnet::command {
namespace {

constexpr std::size_t kSmall = 256 << 10;  // bytes that a request may need without waiting

/// Returns the answer with this JSON; what is not UTF-8 in it is replaced.
HttpAnswer answer_of(const Json& json) {
  return {.body = json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"};
}

std::vector<std::string> words_of(const SavedRun& run, const Model& model) {
  std::error_code error;
  const bool texts =
      task_of(model).reads(TaskFiles::texts) && std::filesystem::exists(run.vocabulary, error);
  return texts ? run.words() : std::vector<std::string>{};
}

}  // namespace

ServedModel::ServedModel(const SavedRun& run, ModelOptions on, const ServedBy& by)
    : model_(load_model(run, on)),
      reader_(model_, words_of(run, model_), by.limits),
      shown_(shown_of(model_)),
      by_(by) {
  if (!reader_.task().answers_tables()) {
    batcher_.emplace(model_, by.batches, shown_.probabilities(), reader_.type(), by.metrics);
  }
}

HttpAnswer ServedModel::describe() const { return answer_of(reader_.description()); }

void ServedModel::end() {
  if (batcher_) batcher_->end();
}

Reserve ServedModel::reserve_for(Held& held) {
  const auto latest = MemoryBudget::Clock::now() + by_.batches.limit;
  return [this, &held, latest](std::size_t bytes) {
    if (bytes > kSmall) held.emplace(by_.memory, bytes, latest);
  };
}

namespace {

/// Returns the coverage of "interval=0.9" among the parameters of a request; nothing without it.
std::optional<double> interval_of(const HttpRequest& request) {
  constexpr std::string_view kName = "interval=";
  std::string_view rest = request.query;
  while (!rest.empty()) {
    const std::string_view one = rest.substr(0, rest.find('&'));
    rest.remove_prefix(std::min(one.size() + 1, rest.size()));
    if (!one.starts_with(kName)) continue;
    const std::string_view text = one.substr(kName.size());
    const std::optional<double> coverage = number_of(text, '.');
    require(coverage && *coverage > 0 && *coverage < 1,
            "expected a number between 0 and 1 after 'interval='; got '{}'", escaped(text));
    return coverage;
  }
  return {};
}

}  // namespace

Json ServedModel::forecasts(const HttpRequest& request) {
  const std::optional<double> interval = interval_of(request);
  Held held;
  const Table rows = reader_.read_series(request.type, request.body, reserve_for(held));
  const std::lock_guard lock(forecasting_);
  TableAnswer answer = reader_.task().answer(model_, rows, interval.value_or(0));
  by_.metrics.count_batch(1);
  return std::move(answer.json);
}

Json ServedModel::predictions(const HttpRequest& request) {
  require<Overloaded>(!batcher_->full(), "the queue is full");  // before anything is read
  Shown shown = shown_;
  const std::optional<double> interval = interval_of(request);
  if (interval) show_intervals(shown, model_, *interval);
  Held held;
  ReadSamples read = reader_.read(request.type, request.body, reserve_for(held));
  if (held) held->keep(read.samples.size() * reader_.sample_memory());
  Json answers = Json::array();
  for (const std::vector<float>& row : batcher_->predict(std::move(read.samples))) {
    Json answer = answer_json(shown, row);
    if (!read.notes.empty() && !read.notes[answers.size()].empty()) {
      answer["notes"] = read.notes[answers.size()];
    }
    answers.push_back(std::move(answer));
  }
  Json json = Json::object();
  const std::vector<std::string> targets = reader_.task().targets(model_);
  if (!targets.empty()) json["targets"] = targets;
  if (interval) json["interval"] = *interval;
  json["predictions"] = std::move(answers);
  return json;
}

HttpAnswer ServedModel::predict(const HttpRequest& request) {
  try {
    return answer_of(batcher_ ? predictions(request) : forecasts(request));
  } catch (const Overloaded& error) {
    return http_error(503, error.what());
  } catch (const TooLarge& error) {
    return http_error(413, error.what());
  } catch (const WrongType& error) {
    return http_error(415, error.what());
  } catch (const Error& error) {
    return http_error(400, error.what());
  }
}

NamedModel::NamedModel(std::string name, std::filesystem::path path, ModelOptions on,
                       const ServedBy& by)
    : name_(std::move(name)), path_(std::move(path)), on_(std::move(on)), by_(by) {
  const SavedRun run = find_run(path_);
  file_ = run.model;
  stamp_ = stamp_of(file_);
  current_ = std::make_shared<ServedModel>(run, on_, by_);
}

std::string NamedModel::stamp_of(const std::filesystem::path& file) {
  struct stat found {};
  if (::stat(file.c_str(), &found) != 0) return "";
  return fmt::format("{} {} {}.{:09}", found.st_ino, found.st_size, found.st_mtim.tv_sec,
                     found.st_mtim.tv_nsec);
}

std::shared_ptr<ServedModel> NamedModel::current() const {
  const std::lock_guard lock(mutex_);
  return current_;
}

void NamedModel::refresh(bool asked) {
  const std::string stamp = stamp_of(file_);
  const bool replaced = stamp != stamp_ && !stamp.empty();  // one that is gone may come back
  if (!replaced && !asked) return;
  if (replaced) stamp_ = stamp;  // an unreadable model is reported once
  const std::string what = replaced ? "was replaced" : "is loaded again after SIGHUP";
  try {
    auto loaded = std::make_shared<ServedModel>(find_run(path_), on_, by_);
    const std::lock_guard lock(mutex_);
    current_.swap(loaded);
  } catch (const Error& error) {
    print_note("'{}' {}, but the new model cannot be served: {}; the old one goes on",
               file_.string(), what, error.what());
    return;
  }
  print_note("'{}' {}; the new model is served", file_.string(), what);
}

}  // namespace linnet::command
