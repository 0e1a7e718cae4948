// SPDX-License-Identifier: Apache-2.0
#include "commands/bench_record.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <vector>

#include "base/bytes_text.h"
#include "base/counted.h"
#include "config/optimizer.h"
#include "report/machine.h"
#include "report/run_record.h"

namespace linnet::command {
namespace {

std::string count(double value) {
  return value >= 100 ? fmt::format("{:.0f}", value) : fmt::format("{:.3g}", value);
}

/// A record has null for losses that are not finite.
std::string loss_text(const Json& loss) {
  const bool finite = loss.is_number() && std::isfinite(loss.get<double>());
  return finite ? fmt::format("{:.5g}", loss.get<double>()) : "not finite";
}

std::string race_text(const Json& race) {
  const auto seconds = [&](const char* key) { return race[key].get<double>(); };
  return fmt::format(
      "accuracy    {:.2f} % after {} and {:.3f} s: {:.3f} s of training, {:.3f} s of tests, "
      "{:.3f} s of start-up, {:.3f} s of reading data\n",
      100 * seconds("accuracy"), counted(race["epochs"].get<int>(), "epoch"), seconds("seconds"),
      seconds("training_seconds"), seconds("test_seconds"), seconds("startup_seconds"),
      seconds("data_seconds"));
}

}  // namespace

Json bench_json(const Job& job, const BenchOptions& options, const Model& model,
                const BenchData& data, const TimedRun& run) {
  const Dataset& train = data.splits.train;
  const Spread seconds = spread_of(run.seconds);
  const auto rate = [&](double of) { return static_cast<double>(run.samples) / of; };
  Json json;
  add_setup(json, job, model, train, data.splits.test.size(), run.seconds.size());
  add_scores(json, run.epochs);
  if (options.infer()) {
    Json unused;
    add_update_options(unused, job.training);
    for (const auto& [key, value] : unused.items()) json[key] = nullptr;
  }
  json["mode"] = options.mode;
  json["warmup"] = *options.warmup;
  json["streamed"] = job.training.streamed;
  json["int8"] = options.int8;
  json["disabled_passes"] = job.training.disabled_passes;
  json["synthetic"] = data.synthetic.empty() ? Json(false) : Json(true);
  json["last_batch"] = run.samples % job.training.batch == 0 ? "full" : "incomplete, included";
  add_speed(json, run.samples, seconds);
  json["samples_per_second_min"] = rate(seconds.max);
  json["samples_per_second_max"] = rate(seconds.min);
  json["timed_seconds"] = run.seconds;
  for (const char* key : {"losses", "test_losses", "test_accuracies"}) json[key] = Json::array();
  for (const EpochReport& epoch : run.epochs) {
    json["losses"].push_back(epoch.train.loss);
    if (epoch.test.samples == 0) continue;
    json["test_losses"].push_back(epoch.test.loss);
    json["test_accuracies"].push_back(epoch.test.accuracy);  // of values: NaN, which becomes null
  }
  json["failed"] = run.failed.empty() ? Json() : Json(run.failed);
  json["startup_seconds"] = run.startup_seconds;
  json["peak_bytes"] = peak_bytes();
  json["planned_bytes"] = run.planned_bytes > 0 ? Json(run.planned_bytes) : Json();
  json["shards"] = options.infer() ? Json() : Json(run.shards);
  json["interrupted"] = false;
  json["stopped_early"] = false;
  json["bad_images"] = train.info().bad_files.size() + data.splits.test.info().bad_files.size();
  json["notes"] = run.notes;
  add_origin(json, model, job.model);
  json["folder"] = nullptr;
  return json;
}

Json race_json(const Race& race, double wanted, double reading) {
  double training = 0;
  for (const double seconds : race.run.seconds) training += seconds;
  return {{"wanted", wanted},
          {"reached", race.run.failed.empty()},
          {"accuracy", race.accuracy},
          {"epochs", race.run.epochs.size()},
          {"training_seconds", training},
          {"test_seconds", race.test_seconds},
          {"startup_seconds", race.run.startup_seconds},
          {"data_seconds", reading},
          {"seconds", training + race.test_seconds + race.run.startup_seconds + reading}};
}

std::string bench_text(const Json& json, bool synthetic) {
  const auto text = [&](const char* key) {
    return json[key].is_string() ? json[key].get<std::string>() : json[key].dump();
  };
  const auto number = [&](const char* key) { return json[key].get<double>(); };
  const Json& seconds = json["epoch_seconds"];
  std::string out = fmt::format(
      "{} on {} ({}{}), {}, batch {}, {}\n"
      "samples/s   {} median, {} to {}, of {} epochs of {} samples after {} warm-up\n"
      "epoch       {:.4g} s median, {:.4g} to {:.4g}\n"
      "start-up    {:.3f} s\n",
      text("workload"), text("data"), json["streamed"].get<bool>() ? "streamed" : "resident",
      synthetic ? ", synthetic" : "", text("mode"), text("batch"), text("precision"),
      count(number("samples_per_second")), count(number("samples_per_second_min")),
      count(number("samples_per_second_max")), text("epochs"), text("train_samples"),
      text("warmup"), seconds["median"].get<double>(), seconds["min"].get<double>(),
      seconds["max"].get<double>(), number("startup_seconds"));
  if (const Json& losses = json["losses"]; !losses.empty()) {
    out += fmt::format("loss        {} in the first epoch, {} in the last\n",
                       loss_text(losses.front()), loss_text(losses.back()));
  }
  if (!json["test_loss"].is_null()) {
    out += fmt::format("test        loss {:.5g}", number("test_loss"));
    if (!json["test_accuracy"].is_null()) {
      out += fmt::format(", accuracy {:.2f} %", 100 * number("test_accuracy"));
    }
    out += fmt::format(" on {} samples\n", text("test_samples"));
  }
  if (!json["to_accuracy"].is_null()) out += race_text(json["to_accuracy"]);
  out +=
      fmt::format("memory      {} at the peak", bytes_text(json["peak_bytes"].get<std::size_t>()));
  if (!json["planned_bytes"].is_null()) {
    out += fmt::format(", {} planned", bytes_text(json["planned_bytes"].get<std::size_t>()));
  }
  const auto libraries = json["libraries"].get<std::vector<std::string>>();
  return out +
         fmt::format("\nparameters  {}\ndevice      {}, {}, {} threads; {}\nversion     {} ({})\n",
                     text("parameters"), text("device"), text("device_name"), text("threads"),
                     libraries.empty() ? "own kernels alone"
                                       : fmt::format("{}", fmt::join(libraries, ", ")),
                     text("version"), text("commit"));
}

}  // namespace linnet::command
