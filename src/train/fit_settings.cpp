// SPDX-License-Identifier: Apache-2.0
#include "train/fit_settings.h"

#include <linnet/version.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <type_traits>
#include <variant>

#include "base/check.h"
#include "base/join.h"
#include "data/fingerprint.h"
#include "graph/attributes.h"
#include "model/model_state.h"
#include "model/optimizers.h"
#include "model/options.h"
#include "model/shards.h"
#include "train/recipes.h"
#include "train/trainer_state.h"

namespace linnet {
namespace {

constexpr std::size_t kMostShown = 60;  // characters of a value in a message
constexpr const char* kLosses = "samples and losses";
constexpr std::array<std::string_view, 9> kUndescribed{"label_smoothing",
                                                       "class_weights",
                                                       "ignore_index",
                                                       "positive_weights",
                                                       "focal_gamma",
                                                       "focal_alpha",
                                                       "huber_delta",
                                                       "l1",
                                                       "l2"};
/// Fields that settings of other names hold.
constexpr std::array<std::string_view, 16> kOtherwise{
    "seed",     "watch",        "augment",       "disabled_passes", "sync_batch_norm", "optimizer",
    "schedule", "loss",         "average",       "trains",          "lookahead",       "warmup",
    "clip",     "loss_options", "output_losses", "custom_loss"};

std::string network_text(const ModelState& model) {
  const std::string json = model.network.to_json();
  const auto sum = ::crc32_z(0, reinterpret_cast<const Bytef*>(json.data()), json.size());
  return fmt::format("of {} parameters, checksum {:08x}", model.network.parameters(), sum);
}

std::string schedule_text(const Schedule& schedule) {
  std::string text(name_of(schedule));
  if (!std::holds_alternative<Plateau>(schedule)) return text;  // among the optimizer's settings
  for (const SettingEntry& entry : schedules().fields_of(schedule, true)) {
    text += fmt::format(" {}={}", entry.key, to_toml(entry.value));
  }
  return text;
}

/// Returns the loss of an output as checkpoints said it before options were described. Fields that
/// they did not have are added where they are not the default.
std::string undescribed(const OutputLoss& loss) {
  const LossOptions& o = loss.options;
  const std::string ignored = o.ignore_index ? std::to_string(*o.ignore_index) : "none";
  std::string text = fmt::format(
      "loss {} times {} smooth {} weights {} ignore {} positive {} focal {} {} huber {}",
      static_cast<int>(loss.loss), loss.weight, o.label_smoothing, join(o.class_weights, " "),
      ignored, join(o.positive_weights, " "), o.focal_gamma, o.focal_alpha, o.huber_delta);
  if (loss.custom) text += " custom";
  if (loss.target) text += fmt::format(" target {}", *loss.target);
  for (const SettingEntry& entry : description_of<LossOptions>().write(&o, false)) {
    const bool had = std::ranges::count(kUndescribed, entry.key) > 0;
    if (!had) text += fmt::format(" {} {}", entry.key, to_toml(entry.value));
  }
  return text;
}

/// Returns the setting of this name, or "none".
std::string_view value_of(const FitSettings& settings, std::string_view name) {
  const auto found = std::ranges::find(settings, name, &FitSettings::value_type::first);
  return found == settings.end() ? "none" : std::string_view(found->second);
}

/// From a little before the first difference to `other` on, where it is long.
std::string shown(const std::string& value, const std::string& other) {
  if (value.size() <= kMostShown) return value;
  const auto same =
      static_cast<std::size_t>(std::ranges::mismatch(value, other).in1 - value.begin());
  const std::size_t begin = same > kMostShown / 2 ? same - kMostShown / 2 : 0;
  return (begin > 0 ? "..." : "") + value.substr(begin, kMostShown) +
         (begin + kMostShown < value.size() ? "..." : "");
}

}  // namespace

void add_fields(const Description& options, const void* object, const FitSettings& continued,
                FitSettings& settings) {
  for (const Field& field : options.fields) {
    if (field.keeps_bits || std::ranges::count(kOtherwise, field.key) > 0) continue;
    const Setting value = field.write(object);
    const bool is_known = continued.empty() || value_of(continued, field.key) != "none";
    const bool has_type = value.get_if<std::monostate>() == nullptr;
    if (has_type && (is_known || !(value == field.write(options.defaults.get())))) {
      settings.emplace_back(field.key, to_toml(value));
    }
  }
}

FitSettings settings_of(const TrainerState& trainer, const Dataset& train,
                        const FitOptions& options, const OptimizerAttrs& optimizer,
                        const StepData& data, const FitSettings& continued) {
  const ModelState& model = trainer.state();
  const Objective& objective = trainer.objectives.front()->objective;
  FitSettings settings;
  const auto add = [&](std::string name, const auto& value) {
    settings.emplace_back(std::move(name), fmt::format("{}", value));
  };
  add("version", version());
  add("network", network_text(model));
  add("device", model.backend->name());
  add("precision",
      FieldFormat<Precision>::names()[static_cast<std::size_t>(model.options.precision)]);
  add("seed", trainer.options.seed);  // of 64 bits, which no setting has
  const auto add_described = [&](const auto& object) {
    using S = std::remove_cvref_t<decltype(object)>;
    add_fields(description_of<S>(), &object, continued, settings);
  };
  add_described(trainer.options);
  add_described(options);
  add_described(objective);
  add("batch norms", trainer.options.sync_batch_norm ? "of the whole batch" : "none");
  add("watch", options.watch.metric);
  add("training set", fingerprint(train));
  add("validation set", fingerprint(options.validation));
  add("test set", fingerprint(options.test));
  Attributes attributes;
  OptimizerAttrs fields = optimizer;
  fields.fields(AttributeWriter(attributes));
  for (const auto& attribute : attributes) {
    add("optimizer " + attribute.first,
        to_string(Attributes{attribute}).substr(attribute.first.size() + 1));  // after "name="
  }
  if (is_least_squares(objective.optimizer)) {
    add("optimizer method", name_of(objective.optimizer));
    for (const SettingEntry& entry : optimizers().fields_of(objective.optimizer, true)) {
      add("optimizer " + entry.key, to_toml(entry.value));
    }
  }
  add("schedule", schedule_text(objective.schedule));
  add("average",
      fmt::format("decay={} warmup={}", objective.average.decay, objective.average.warmup));
  if (objective.lookahead.every > 0) {  // which older checkpoints don't know
    add("lookahead",
        fmt::format("every={} alpha={}", objective.lookahead.every, objective.lookahead.alpha));
  }
  const bool old = value_of(continued, kLosses).find(" smooth ") != std::string_view::npos;
  const auto loss_text = old ? &undescribed : &key_of<OutputLoss>;
  const std::string all = describe(data, loss_text);
  StepData plain = data;
  plain.augment = {};
  const std::string losses = describe(plain, loss_text);
  add(kLosses, losses);
  add("augmentation", all.size() > losses.size() ? all.substr(losses.size() + 2) : "none");
  add("disabled passes", join(trainer.options.disabled_passes, " "));
  return settings;
}

std::string weights_text(const ModelState& model) {
  uLong sum = 0;
  const auto add = [&](const Buffer& buffer, bool trained) {
    std::vector<std::byte> bytes(model.definition().bytes(trained));
    model.backend->download(buffer, 0, bytes);
    sum = ::crc32_z(sum, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
  };
  add(*model.parameters, true);
  add(*model.statistics, false);
  return fmt::format("checksum {:08x}", sum);
}

std::int64_t shards_of(const FitSettings& saved) {
  std::int64_t shards = 0;
  const std::string_view text = value_of(saved, "shards");
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), shards);
  // What else a damaged checkpoint says is named by check_settings().
  const bool read = error == std::errc() && end == text.data() + text.size();
  return read && is_shard_count(shards) ? shards : 0;
}

void check_settings(const FitSettings& saved, const FitSettings& now, const std::string& what) {
  for (const auto& [name, value] : now) {
    const std::string before(value_of(saved, name));
    require(before == value || name == "version",
            "{} was written by a fit with {} {}; this one has {}", what, name, shown(before, value),
            shown(value, before));
  }
}

}  // namespace linnet
