// SPDX-License-Identifier: Apache-2.0
#include "config/config.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/files.h"
#include "config/checkpoints.h"
#include "config/device.h"
#include "config/images.h"
#include "config/layers.h"
#include "config/loss.h"
#include "config/network.h"
#include "config/optimizer.h"
#include "config/section.h"
#include "config/training.h"
#include "model/optimizers.h"

namespace linnet::command {
namespace {

constexpr std::ptrdiff_t kMostDots = 10'000;  // of which the parser takes 4 MiB of stack
constexpr std::size_t kMostDepth = 64;
constexpr std::size_t kMostBytes = std::size_t{16} << 20;

/// Looks at all levels without recursion, since what follows recurses.
void require_flat(const toml::table& root, const std::filesystem::path& path) {
  std::vector<const toml::node*> level{&root};
  for (std::size_t depth = 0; !level.empty(); ++depth) {
    require(depth <= kMostDepth, "{}tables and arrays are nested more than {} deep",
            place_of(path.string(), level.front()->source()), kMostDepth);
    std::vector<const toml::node*> next;
    for (const toml::node* node : level) {
      if (const toml::table* table = node->as_table(); table != nullptr) {
        for (auto&& [key, value] : *table) next.push_back(&value);
      } else if (const toml::array* array = node->as_array(); array != nullptr) {
        for (const toml::node& value : *array) next.push_back(&value);
      }
    }
    level = std::move(next);
  }
}

/// The parts of one file, each table at most once.
class Config {
 public:
  Config(const toml::table& root, const std::filesystem::path& path, ConfigOptions options = {})
      : path_(path),
        file_(path.string()),
        top_(root, file_, "the file"),
        options_(std::move(options)),
        seed_(options_.seed.value_or(root["training"]["seed"].value_or(std::uint64_t{0}))),
        least_squares_(is_least_squares_kind(
            options_.optimizer.value_or(root["optimizer"]["kind"].value_or(std::string())))) {}

  Job read() {
    // "-" is standard input, whose paths are relative to the working folder.
    Job job{.name = path_ == "-" ? "network" : path_.stem().string(), .network = Network({1}, {})};
    job.from = options_.from;
    data(job);
    network(job);
    recipe(job);
    return job;
  }

  /// All but the network and its data.
  void recipe(Job& job) {
    if (!job.task->brings_data() || top_.has("optimizer")) {  // else its recipe has one
      placed_in(file_, [&] { read_optimizer(setting("optimizer"), job); });
    }
    placed_in(file_, [&] { read_schedule(setting("schedule"), job); });
    training(job);
    const Setting loss = setting("loss");
    const auto is_table = [](const SettingEntry& entry) {
      return entry.value.get_if<SettingTable>() != nullptr;
    };
    TrainingOptions& t = job.training;
    job.task->replace_loss(t, t.loss == Loss::automatic ? std::nullopt : std::optional(t.loss),
                           std::ranges::any_of(*loss.get_if<SettingTable>(), is_table));
    placed_in(file_, [&] { read_loss(loss, job); });
    placed_in(file_, [&] { read_augment(setting("augment"), "[augment]", job.training.augment); });
    top_.close();
  }

 private:
  /// An absent table reads as an empty one.
  Section section(std::string_view key) { return top_.table(key, fmt::format("[{}]", key)); }

  /// Returns the same as a setting, of which every key is read at once.
  Setting setting(std::string_view key) {
    const toml::node* found = top_.node(key);
    if (found == nullptr) return {SettingTable()};
    if (!found->is_table()) top_.refuse_type(key, "a table");
    return setting_from(*found, file_);
  }

  void network(Job& job) {
    if (const std::string_view why = job.task->fixed_network(); !why.empty()) {
      for (const char* other : {"network", "layers"}) {
        if (top_.has(other)) top_.refuse(other, std::string(why));
      }
      return;
    }
    if (!top_.has("network")) {
      if ((!options_.from.empty() || job.task->brings_data()) && !top_.has("layers")) return;
      for (const char* known :
           {"data", "network", "layers", "optimizer", "schedule", "training", "loss", "augment"}) {
        top_.node(known);
      }
      top_.need("network").close();
    }
    Section s = section("network");
    job.network = read_network(s, LayerReader(file_, top_.node("layers")), job.task->inputs());
    job.task->finish(job.network, job.training);
  }

  /// Returns a path that counts from the file's own folder.
  std::string relative(const std::string& path) const {
    return ("." / path_.parent_path() / path).string();
  }

  /// The samples of a file, where [data] or the arguments name it.
  void file(Section& s, Job& job) {
    const std::string file = s.text("file", "");
    if (s.has("file") && file.empty()) s.refuse("file", "'file' in [data] is empty");
    TaskFileOptions how{.settings = options_.data, .seed = seed_, .least_squares = least_squares_};
    how.validation_folds = top_.has("network") || top_.has("layers") ? 1 : 0;
    add_data(s, how.settings);
    for (const char* other : {"name", "path"}) {
      if (!file.empty() && s.has(other)) {
        s.refuse(other, fmt::format("[data] takes 'file' or '{}', not both", other));
      }
      s.node(other);
    }
    s.close();
    placed_in(file_, [&] {
      prepare(job, options_.file.empty() ? relative(file) : options_.file, how, options_.check,
              options_.kept);
    });
  }

  void data(Job& job) {
    Section s = section("data");
    if (s.has("file") || !options_.file.empty()) return file(s, job);
    s.node("file");
    const std::string name = s.text("name", "");
    const std::string path = s.text("path", "");
    job.validation = s.number("validation", 0);
    read_images(s, job.images);
    s.close();
    if (!name.empty() && !path.empty()) {
      s.refuse("path", "[data] takes 'name' or 'path', not both");
    }
    if (s.has("name")) s.choice("name", 0, datasets::names());
    if (job.validation < 0 || job.validation >= 1) {
      s.refuse("validation",
               fmt::format("'validation' in [data] must lie in [0, 1); got {}", job.validation));
    }
    if (s.has("path") && path.empty()) s.refuse("path", "'path' in [data] is empty");
    // A path is one even where a built-in data set has its name.
    job.data = path.empty() ? name : relative(path);
  }

  void training(Job& job) {
    Section s = section("training");
    TrainingOptions& t = job.training;
    t.average.warmup = true;
    s.fields(training_table(), &t);
    job.oversample = s.number("oversample", 0);
    if (!(job.oversample >= 0 && job.oversample <= 1)) {
      s.refuse("oversample", fmt::format("'oversample' in [training] must lie in [0, 1]; got {}",
                                         job.oversample));
    }
    read_groups(s, file_, t);
    job.model.threads = static_cast<int>(s.integer("threads", 0));
    job.model.seed = t.seed;
    s.fields(device_table(), &job.model);
    job.model.cuda.graph_required = s.has("graph");
    read_interval(s, t.checkpoints);
    s.close();
  }

  const std::filesystem::path& path_;
  std::string file_;
  Section top_;
  ConfigOptions options_;
  std::uint64_t seed_;
  bool least_squares_;  ///< whether the optimizer is levenberg_marquardt
};

}  // namespace

void read_recipe(const toml::table& table, const std::filesystem::path& path, Job& job) {
  Config(table, path).recipe(job);
}

Job read_config(const std::filesystem::path& path, const ConfigOptions& options) {
  return parse_config(read_text(path, kMostBytes), path, options);
}

toml::table parse_toml(const std::string& text, const std::filesystem::path& path) {
  // The parser descends once for every part of a key: "a.a.a..." in a large file ends the stack.
  require(std::count(text.begin(), text.end(), '.') <= kMostDots,
          "'{}' has more than {} dots; a configuration has fewer", path.string(), kMostDots);
  toml::table root;
  try {
    root = toml::parse(text, path.string());
  } catch (const toml::parse_error& error) {
    const std::string why(error.description());
    const bool dot = why.ends_with("saw '.'");  // as C++ writes it: { .epochs = 1 }
    throw Error(place_of(path.string(), error.source()) + why +
                (dot ? "; expected keys without a leading dot: { epochs = 1 }" : ""));
  }
  require_flat(root, path);
  return root;
}

toml::table read_toml(const std::filesystem::path& path) {
  return parse_toml(read_text(path, kMostBytes), path);
}

Job parse_config(const std::string& text, const std::filesystem::path& path,
                 const ConfigOptions& options) {
  const toml::table root = parse_toml(text, path);
  Job job = Config(root, path, options).read();
  job.configuration = text;
  return job;
}

toml::table configured_training(const Job& job) {
  if (job.configuration.empty()) return {};
  const toml::table table = parse_toml(job.configuration, job.name);
  const toml::table* training = table["training"].as_table();
  return training == nullptr ? toml::table() : *training;
}

}  // namespace linnet::command
