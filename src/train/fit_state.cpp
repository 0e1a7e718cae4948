// SPDX-License-Identifier: Apache-2.0
#include "train/fit_state.h"

#include <linnet/checkpoint.h>
#include <linnet/version.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <utility>

#include "base/check.h"
#include "base/finite.h"
#include "base/json.h"
#include "ops/metrics/metrics.h"

namespace linnet {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kFormat = 1;
constexpr const char* kBest = "fit/best/";
constexpr const char* kMetrics = "fit/metrics/";
constexpr std::size_t kLossColumn = 13;  // of numbers_of(): the losses that are kept of the epoch
constexpr std::size_t kColumns = 14;

constexpr std::array<std::pair<const char*, Evaluation EpochReport::*>, 2> kHeldOut{
    {{"validation/", &EpochReport::validation}, {"test/", &EpochReport::test}}};

Tensor number(std::int64_t value) { return Tensor(std::vector<std::int64_t>{value}, Shape{}); }

Tensor text(const std::string& value) {
  return Tensor(std::vector<std::uint8_t>(value.begin(), value.end()));
}

template <class T>
std::vector<T> values_of(const State& state, const char* name) {
  const Tensor& tensor = state[name];
  require(tensor.dtype() == dtype_of<T>(), "expected {} as '{}'; got {}", to_string(dtype_of<T>()),
          name, to_string(tensor.dtype()));
  const std::span<const T> values = tensor.as<T>();
  return {values.begin(), values.end()};
}

std::int64_t number_of(const State& state, const char* name, std::int64_t least) {
  const std::vector<std::int64_t> values = values_of<std::int64_t>(state, name);
  require(values.size() == 1 && values[0] >= least,
          "expected a number of at least {} as the entry '{}'", least, name);
  return values[0];
}

Json json_of(const State& state, const char* name) {
  const std::vector<std::uint8_t> bytes = values_of<std::uint8_t>(state, name);
  Json json =
      parse_json<Json>(std::string(bytes.begin(), bytes.end()), 1, fmt::format("'{}'", name));
  require(json.is_object(), "the entry '{}' is damaged", name);
  return json;
}

std::array<double, kColumns> numbers_of(const EpochReport& report, std::size_t losses) {
  std::array<double, kColumns> row{};
  auto to = row.begin();
  *to++ = static_cast<double>(report.epoch);
  for (const Evaluation* part : {&report.train, &report.validation, &report.test}) {
    *to++ = part->loss;
    *to++ = part->accuracy;
    *to++ = static_cast<double>(part->samples);
  }
  for (const double value : {report.learning_rate, report.seconds, report.samples_per_second,
                             static_cast<double>(losses)}) {
    *to++ = value;
  }
  return row;
}

EpochReport report_of(std::span<const double> row) {
  for (const std::size_t count : {0, 3, 6, 9}) {  // numbers_of()
    require(is_count(row[count]), "the entry 'fit/epochs' is damaged");
  }
  EpochReport report;
  auto from = row.begin();
  report.epoch = static_cast<std::int64_t>(*from++);
  for (Evaluation* part : {&report.train, &report.validation, &report.test}) {
    part->loss = *from++;
    part->accuracy = *from++;
    part->samples = static_cast<std::int64_t>(*from++);
  }
  report.learning_rate = *from++;
  report.seconds = *from++;
  report.samples_per_second = *from++;
  return report;
}

void save_epochs(const std::vector<EpochReport>& epochs, State& state) {
  std::vector<double> rows(epochs.size() * kColumns);
  std::vector<float> losses;
  std::size_t left = kLossHistory;
  for (std::size_t e = epochs.size(); e-- > 0;) {  // the newest first
    const std::vector<float>& steps = epochs[e].step_losses;
    const std::size_t kept = std::min(left, steps.size());
    left -= kept;
    losses.insert(losses.begin(), steps.end() - static_cast<std::ptrdiff_t>(kept), steps.end());
    std::ranges::copy(numbers_of(epochs[e], kept),
                      rows.begin() + static_cast<std::ptrdiff_t>(e * kColumns));
  }
  state.set("fit/epochs", Tensor(std::move(rows), {std::ssize(epochs), kColumns}));
  state.set("fit/epoch_losses", Tensor(std::move(losses)));
  for (const auto& [part, evaluation] : kHeldOut) {
    std::map<std::string, std::vector<double>> metrics;
    for (std::size_t e = 0; e < epochs.size(); ++e) {
      for (const auto& [name, value] : (epochs[e].*evaluation).metrics) {
        metrics[name].resize(epochs.size());
        metrics[name][e] = value;
      }
    }
    for (auto& [name, values] : metrics) {
      state.set(fmt::format("{}{}{}", kMetrics, part, name), Tensor(std::move(values)));
    }
  }
}

std::vector<EpochReport> epochs_of(const State& state) {
  const std::vector<double> rows = values_of<double>(state, "fit/epochs");
  const std::vector<float> losses = values_of<float>(state, "fit/epoch_losses");
  require(rows.size() % kColumns == 0, "the entry 'fit/epochs' is damaged");
  std::vector<EpochReport> epochs;
  std::size_t place = 0;
  for (std::size_t at = 0; at < rows.size(); at += kColumns) {
    const std::span row = std::span(rows).subspan(at, kColumns);
    EpochReport& report = epochs.emplace_back(report_of(row));
    const double kept = row[kLossColumn];
    require(is_count(kept) && kept <= static_cast<double>(losses.size() - place),
            "the entry 'fit/epoch_losses' is damaged");
    const auto steps = std::span(losses).subspan(place, static_cast<std::size_t>(kept));
    report.step_losses.assign(steps.begin(), steps.end());
    place += steps.size();
  }
  for (const auto& [part, evaluation] : kHeldOut) {
    for (const auto& [name, values] : state.part(std::string(kMetrics) + part)) {
      require(values.dtype() == DType::f64 && values.elements() == std::ssize(epochs),
              "the entry '{}{}{}' is damaged", kMetrics, part, name);
      for (std::size_t e = 0; e < epochs.size(); ++e) {
        Evaluation& measured = epochs[e].*evaluation;
        if (measured.samples > 0) measured.metrics[name] = values.as<double>()[e];
      }
    }
  }
  return epochs;
}

}  // namespace

void FitState::save(State& state) const {
  state.set("fit/format", number(kFormat));
  Json json = Json::object();
  for (const auto& [name, value] : settings) json[name] = value;
  state.set("fit/settings", text(json.dump()));
  if (!engines.empty()) state.set("fit/engines", text(Json(engines).dump()));
  state.set("fit/first_epoch", number(first_epoch));
  state.set("fit/last_epoch", number(last_epoch));
  state.set("fit/epoch", number(epoch));
  state.set("fit/updates", number(static_cast<std::int64_t>(updates)));
  state.set("fit/seconds", Tensor(std::vector<double>{seconds}, Shape{}));
  state.set("fit/counters", Tensor(counters));
  state.set("fit/losses", Tensor(losses));
  state.set("fit/best_step", number(best_step));
  state.set("fit/stopped_early", number(stopped_early ? 1 : 0));
  state.set("fit/waited", Tensor(std::vector<double>(waited.begin(), waited.end())));
  save_epochs(epochs, state);
  if (!best) return;
  for (const auto& [name, value] : *best) state.set(kBest + name, value);
}

std::optional<FitState> FitState::of(const State& state) {
  if (state.find("fit/format") == nullptr) return std::nullopt;
  const std::int64_t format = number_of(state, "fit/format", 1);
  require(format == kFormat, "its format is {}; this version reads format {}", format, kFormat);
  FitState fit;
  const Json settings = json_of(state, "fit/settings");
  for (const auto& [name, value] : settings.items()) {
    require(value.is_string(), "the entry 'fit/settings' is damaged");
    fit.settings.emplace_back(name, value.get<std::string>());
  }
  fit.engines = engine_choices(state);
  fit.first_epoch = number_of(state, "fit/first_epoch", 1);
  fit.last_epoch = number_of(state, "fit/last_epoch", fit.first_epoch);
  fit.epoch = number_of(state, "fit/epoch", fit.first_epoch);
  fit.updates = static_cast<std::uint64_t>(number_of(state, "fit/updates", 0));
  const std::vector<double> seconds = values_of<double>(state, "fit/seconds");
  fit.counters = values_of<double>(state, "fit/counters");
  fit.losses = values_of<float>(state, "fit/losses");
  fit.best_step = number_of(state, "fit/best_step", -1);
  fit.stopped_early = number_of(state, "fit/stopped_early", 0) != 0;
  const std::vector<double> waited = values_of<double>(state, "fit/waited");
  require(seconds.size() == 1 && waited.size() == fit.waited.size() &&
              fit.counters.size() == (fit.updates > 0 ? kCounters : 0U) &&
              fit.losses.size() == std::min<std::uint64_t>(fit.updates, kLossHistory),
          "its entries do not fit together");
  fit.seconds = seconds[0];
  std::ranges::copy(waited, fit.waited.begin());
  fit.epochs = epochs_of(state);
  State best = state.part(kBest);
  if (best.size() > 0) fit.best = std::move(best);
  return fit;
}

void check_place(const FitState& stopped, const FitLength& length, std::uint64_t trainer_steps,
                 std::int64_t trainer_epochs, const std::string& what) {
  const auto expect = [&](bool fits, std::string_view name, const auto& got,
                          const std::string& expected) {
    require<DataError>(fits, "{} does not fit its training: expected {} as '{}'; got {}", what,
                       expected, name, got);
  };
  const std::int64_t done = stopped.epoch - stopped.first_epoch;  // epochs
  expect(stopped.last_epoch - stopped.first_epoch == length.epochs - 1, "fit/last_epoch",
         stopped.last_epoch,
         fmt::format("the last of {} epochs from {} on", length.epochs, stopped.first_epoch));
  expect(done <= length.epochs, "fit/epoch", stopped.epoch,
         fmt::format("at most {}", stopped.last_epoch + 1));
  expect(trainer_epochs == stopped.epoch - 1, "position/epochs", trainer_epochs,
         fmt::format("{}", stopped.epoch - 1));
  const std::uint64_t most = done < length.epochs ? length.steps : 0;
  expect(stopped.updates <= most, "fit/updates", stopped.updates,
         fmt::format("at most {} steps", most));
  // Compared by division, since the product may not fit into 64 bits.
  expect(trainer_steps >= stopped.updates &&
             (trainer_steps - stopped.updates) / length.steps >= static_cast<std::uint64_t>(done),
         "position/steps", trainer_steps,
         fmt::format("those of {} epochs of {} steps, and {}", done, length.steps,
                     stopped.updates));
  expect(stopped.best_step <= static_cast<std::int64_t>(trainer_steps), "fit/best_step",
         stopped.best_step, fmt::format("at most {}", trainer_steps));
  expect(std::isfinite(stopped.seconds) && stopped.seconds >= 0, "fit/seconds", stopped.seconds,
         "a time");
  expect(is_count(stopped.waited[0]) && stopped.waited[0] <= static_cast<double>(done) &&
             !std::isnan(stopped.waited[1]),
         "fit/waited", stopped.waited[0], fmt::format("at most {} epochs", done));
  const bool finite = std::ranges::all_of(stopped.losses, [](float x) { return std::isfinite(x); });
  expect(finite, "fit/losses", "others", "finite numbers");
  for (std::size_t i = 0; i < stopped.counters.size(); ++i) {
    const double count = stopped.counters[i];
    const auto place = static_cast<Counter>(i);
    const bool is_loss = place == Counter::loss || place == Counter::last_loss;
    expect(std::isfinite(count) && (is_loss || count >= 0), "fit/counters", count, "counts");
    if (place != Counter::samples) continue;
    expect(count <= static_cast<double>(length.samples[0]), "fit/counters", count,
           fmt::format("at most {} samples", length.samples[0]));
  }
  expect(std::ssize(stopped.epochs) == done, "fit/epochs", stopped.epochs.size(),
         fmt::format("{} rows", done));
  for (std::size_t i = 0; i < stopped.epochs.size(); ++i) {
    const EpochReport& report = stopped.epochs[i];
    const std::int64_t epoch = stopped.first_epoch + static_cast<std::int64_t>(i);
    expect(report.epoch == epoch, "fit/epochs", report.epoch, fmt::format("epoch {}", epoch));
    expect(report.train.samples <= length.samples[0] &&
               report.validation.samples <= length.samples[1] &&
               report.test.samples <= length.samples[2],
           "fit/epochs", "more", "at most the samples of the data sets");
  }
}

ResumeReport report_on(const FitState& stopped, std::uint64_t steps, const std::string& what) {
  ResumeReport report;
  report.epoch = stopped.epoch;
  report.step = steps;
  report.epochs = stopped.epochs;
  for (const auto& [name, value] : stopped.settings) {
    if (name != "version" || value == version()) continue;
    report.notes.push_back(
        fmt::format("{} was written by version {}; results of {} may differ in their last bits",
                    what, value, version()));
  }
  return report;
}

std::map<std::string, std::string> engine_choices(const State& checkpoint) {
  std::map<std::string, std::string> engines;
  if (checkpoint.find("fit/engines") == nullptr) return engines;
  const Json chosen = json_of(checkpoint, "fit/engines");
  for (const auto& [node, engine] : chosen.items()) {
    require(engine.is_string(), "the entry 'fit/engines' is damaged");
    engines[node] = engine.get<std::string>();
  }
  return engines;
}

}  // namespace linnet
