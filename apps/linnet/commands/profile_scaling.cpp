// SPDX-License-Identifier: Apache-2.0
#include "commands/profile_scaling.h"

#include <fmt/format.h>
#include <linnet/version.h>

#include <algorithm>
#include <vector>

#include "commit.h"

namespace linnet::command {
namespace {

constexpr std::size_t kNamed = 12;  // operators in the table

}  // namespace

Json scaling_json(const std::string& name, bool inference, const ThreadScaling& scaling) {
  Json json;
  json["name"] = name;
  json["mode"] = inference ? "infer" : "train";
  json["batch"] = scaling.batch;
  json["steps"] = scaling.steps;
  json["stage_seconds"] = scaling.stage_seconds;
  json["task_seconds"] = scaling.task_seconds;
  json["measured_threads"] = scaling.measured_threads;
  json["points"] = Json::array();
  for (const ScalingPoint& point : scaling.points) {
    json["points"].push_back({{"threads", point.threads},
                              {"seconds", point.seconds},
                              {"speedup", point.speedup},
                              {"efficiency", point.efficiency}});
  }
  json["judged"] = scaling.judged;
  json["operators"] = Json::array();
  for (const OperatorScaling& op : scaling.operators) {
    json["operators"].push_back({{"operator", op.name},
                                 {"layer", op.layer},
                                 {"shapes", op.shapes},
                                 {"stages", op.stages},
                                 {"fewest_tasks", op.fewest},
                                 {"seconds", op.seconds},
                                 {"longest_task", op.longest},
                                 {"unused", op.unused},
                                 {"lost", op.lost}});
  }
  json["version"] = version();
  json["commit"] = kCommit;
  return json;
}

std::string scaling_text(const ThreadScaling& scaling) {
  std::string out = fmt::format("{:>7}  {:>10}  {:>8}  {:>10}\n", "threads", "µs a step", "speedup",
                                "efficiency");
  for (const ScalingPoint& point : scaling.points) {
    out += fmt::format("{:>7}  {:>10.1f}  {:>8.2f}  {:>10.2f}\n", point.threads,
                       1e6 * point.seconds, point.speedup, point.efficiency);
  }
  std::vector<OperatorScaling> sorted = scaling.operators;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.unused > b.unused; });
  if (sorted.size() > kNamed) sorted.resize(kNamed);
  std::size_t name = 8;
  std::size_t layer = 5;
  for (const OperatorScaling& op : sorted) {
    name = std::max(name, op.name.size());
    layer = std::max(layer, op.layer.size());
  }
  out += fmt::format(
      "\nwhat stops {} threads, as a share of their time\n{:<{}}  {:<{}}  {:>6}  {:>6}  {:>5}  "
      "{:>9}  {:>10}  shapes\n",
      scaling.judged, "operator", name, "layer", layer, "lost %", "stages", "tasks", "µs alone",
      "µs longest");
  for (const OperatorScaling& op : sorted) {
    out += fmt::format("{:<{}}  {:<{}}  {:>6.1f}  {:>6}  {:>5}  {:>9.1f}  {:>10.1f}  {}\n", op.name,
                       name, op.layer, layer, 100 * op.lost, op.stages, op.fewest, 1e6 * op.seconds,
                       1e6 * op.longest, op.shapes);
  }
  return out +
         fmt::format(
             "\ntasks of a step of {} samples, timed on one thread (medians of {} steps) and "
             "scheduled; a stage costs {:.2f} µs and a task {:.3f} µs to hand out, measured on "
             "{} threads\nan upper bound: memory and caches are taken to serve every thread "
             "as they serve one\n",
             scaling.batch, scaling.steps, 1e6 * scaling.stage_seconds, 1e6 * scaling.task_seconds,
             scaling.measured_threads);
}

}  // namespace linnet::command
