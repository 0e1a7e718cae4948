// SPDX-License-Identifier: Apache-2.0
#include "report/saved_run.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/files.h"
#include "base/folder.h"
#include "base/utf8.h"
#include "config/file_kind.h"
#include "config/options.h"
#include "data/vocabulary.h"
#include "model/training_record.h"
#include "report/json.h"
#include "report/run_folder.h"

namespace linnet::command {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostShown = 100;  // bytes of a value that is refused

/// What is there is read, or refused: another seed would draw another test set.
void read_summary(const fs::path& path, SavedRun& run) {
  if (!is_file(path)) return;
  const Json json = read_object(path);
  require(json.is_object(),
          "'{}' should hold a JSON object, as `linnet train` wrote it: move it "
          "away, and give --seed where the training had one",
          path.string());
  const auto expect = [&](bool holds, const char* key, const std::string& what) {
    require(holds, "'{}': '{}' should be {}; got {}: correct it, or move the file away",
            path.string(), key, what, shortened(json[key].dump(), kMostShown));
  };
  if (json.contains("seed")) {
    const Json& seed = json["seed"];
    expect(seed.is_number_unsigned() && seed.get<std::uint64_t>() <= kLargestSeed, "seed",
           fmt::format("an integer from 0 to {}", kLargestSeed));
    run.seed = seed.get<std::uint64_t>();
  }
  if (json.contains("engine_choices")) {
    const Json& engines = json["engine_choices"];
    const auto is_text = [](const Json& engine) { return engine.is_string(); };
    expect(engines.is_object() && std::ranges::all_of(engines, is_text), "engine_choices",
           "an object of names");
    run.engine_choices = engines.get<std::map<std::string, std::string>>();
  }
  if (json.contains("sample_shape")) {
    const Json& shape = json["sample_shape"];
    const auto is_dim = [](const Json& dim) { return dim.is_number_unsigned(); };
    std::optional<Shape> sample;
    if (shape.is_array() && std::ranges::all_of(shape, is_dim)) {
      sample = sample_shape_of(shape.get<std::vector<std::uint64_t>>());
    }
    expect(sample.has_value(), "sample_shape", "the dims of a sample");
    run.sample_shape = *sample;
  }
}

}  // namespace

std::vector<std::string> SavedRun::words() const {
  require(is_file(vocabulary),
          "the model takes texts as ids, but the file of its words is missing: cannot read '{}'",
          vocabulary.string());
  return read_vocabulary(vocabulary).entries();
}

std::string SavedRun::argument(const std::string& option) const {
  const std::vector<std::string> all = arguments(option);
  return all.empty() ? "" : all[0];
}

std::vector<std::string> SavedRun::arguments(const std::string& option) const {
  const fs::path start = model.parent_path() / kStartFile;
  if (!is_file(start)) return {};
  const Json json = read_object(start);
  const auto at = Json::json_pointer("/options");
  if (!json.contains(at) || !json[at].is_object()) return {};
  const Json values = json[at].value(option, Json());
  const bool texts = values.is_array() && std::ranges::all_of(values, [](const Json& value) {
                       return value.is_string();
                     });
  return texts ? values.get<std::vector<std::string>>() : std::vector<std::string>();
}

Model load_model(const SavedRun& run, ModelOptions& options) {
  options.cpu.choices = run.engine_choices;
  Model model = Model::load(run.model, options);
  TrainingRecord record = model.training_record();
  if (record.sample_shape.rank() == 0) {
    record.sample_shape = run.sample_shape;
    model.set_training_record(std::move(record));
  }
  return model;
}

LoadedRun load_run(const fs::path& path, const DeviceOptions& device, int threads,
                   const GivenOptions& given) {
  ModelOptions on{.threads = threads};
  apply(device, on);
  SavedRun files = find_run(path);
  Model model = load_model(files, on);
  check_used(given, model);
  const Task& task = task_of(model);
  return {std::move(files), std::move(on), std::move(model), task};
}

SavedRun find_run(const fs::path& path) {
  std::error_code error;
  const bool folder = fs::is_directory(path, error);
  require(!folder || is_file(path / kModelFile),
          "the folder '{}' has no {}; expected a run folder of `linnet train`", path.string(),
          kModelFile);
  const std::string kind = folder || path.extension() == ".safetensors" ? "" : file_kind(path);
  require(kind.empty(), "expected a trained model, a run folder or a .safetensors file; '{}' is {}",
          path.string(), kind);
  const fs::path place = folder ? path : path.parent_path();
  SavedRun run{.model = folder ? path / kModelFile : path, .vocabulary = place / kVocabularyFile};
  read_summary(place / kSummaryFile, run);
  return run;
}

}  // namespace linnet::command
