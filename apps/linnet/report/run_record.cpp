// SPDX-License-Identifier: Apache-2.0
#include "report/run_record.h"

#include <fmt/format.h>
#include <linnet/devices.h>
#include <linnet/version.h>

#include <utility>

#include "backend/cpu/onednn_library.h"
#include "commit.h"
#include "config/device.h"
#include "config/optimizer.h"
#include "core/dims.h"
#include "report/machine.h"

namespace linnet::command {
namespace {

#ifdef __clang__
constexpr const char* kCompiler = "Clang " __clang_version__;
#else
constexpr const char* kCompiler = "GCC " __VERSION__;
#endif

}  // namespace

void add_setup(Json& json, const Job& job, const Model& model, const Dataset& train,
               std::int64_t test_samples, std::size_t epochs) {
  json["workload"] = job.name;
  json["data"] = train.info().name;
  json["sample_shape"] = dims_of(train.inputs()[0].record());
  json["train_samples"] = train.size();
  json["test_samples"] = test_samples;
  add_device(json, model, job.model);
  json["threads"] = model.threads();
  json["seed"] = job.training.seed;
  json["batch"] = job.training.batch;
  json["epochs"] = epochs;
  add_update_options(json, job.training);
  if (job.balanced_classes) json["loss_settings"]["class_weights"] = "auto";
  json["parameters"] = model.network().parameters();
}

void add_scores(Json& json, const std::vector<EpochReport>& epochs) {
  const EpochReport last = epochs.empty() ? EpochReport{} : epochs.back();
  const std::pair<std::string, const Evaluation*> parts[] = {{"train", &last.train},
                                                             {"validation", &last.validation},
                                                             {"test", &last.test}};
  const auto measured = [](const Evaluation& of, double value) {
    return of.samples > 0 ? number_json(value) : Json();
  };
  for (const auto& [part, evaluation] : parts) {
    json[part + "_loss"] = measured(*evaluation, evaluation->loss);
    json[part + "_accuracy"] = measured(*evaluation, evaluation->accuracy);
  }
}

void add_speed(Json& json, std::int64_t samples, const Spread& seconds) {
  json["samples_per_second"] =
      seconds.median > 0 ? static_cast<double>(samples) / seconds.median : 0.0;
  json["epoch_seconds"] = {{"median", seconds.median}, {"min", seconds.min}, {"max", seconds.max}};
}

void add_origin(Json& json, const Model& model, const ModelOptions& options) {
  const Machine machine = this_machine();
  json["version"] = version();
  json["commit"] = kCommit;
  json["compiler"] = kCompiler;
  json["libraries"] = libraries(model, options);
  json["machine"] = {{"processor", machine.processor},
                     {"cores", machine.cores},
                     {"memory_bytes", machine.memory_bytes},
                     {"flags", machine.flags}};
}

std::vector<std::string> libraries(const Model& model, const ModelOptions& options) {
  if (model.device() != "cpu") return cuda_status(options.cuda.library).libraries;
  const std::string onednn = cpu::onednn_version();
  if (onednn.empty()) return {};  // the plan needs none of it
  return {"oneDNN " + onednn};
}

}  // namespace linnet::command
