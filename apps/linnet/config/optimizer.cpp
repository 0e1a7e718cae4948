// SPDX-License-Identifier: Apache-2.0
#include "config/optimizer.h"

#include <algorithm>
#include <vector>

#include "base/check.h"
#include "describe/setting_json.h"
#include "model/optimizers.h"
#include "model/options.h"

namespace linnet::command {
namespace {

constexpr std::size_t kRecordDepth = 4;  // a list in a table of a table in a list

Json settings_json(SettingTable fields) { return json_of({std::move(fields)}, kRecordDepth); }

/// Another kind with the settings of `from` that are in `kept`.
template <class V>
V of_kind(const Kinds<V>& kinds, const std::string& name, const V& from,
          const std::vector<std::string>& kept) {
  const Kind<V>* kind = kinds.find(name);
  LINNET_ASSERT(kind != nullptr);
  SettingTable table;
  for (SettingEntry& entry : kinds.fields_of(from, true)) {
    const bool stays = std::find(kept.begin(), kept.end(), entry.key) != kept.end();
    if (stays && kind->fields.find(entry.key) != nullptr) table.push_back(std::move(entry));
  }
  return kinds.read({std::move(table)}, "the options", name);
}

/// Reads a table, and notes which settings it names.
template <class V>
V read_kind(const Kinds<V>& kinds, const Setting& table, const std::string& where,
            std::string_view otherwise, const std::vector<std::string_view>& others,
            std::vector<std::string>& given) {
  V value = kinds.read(table, where, otherwise, others);
  given.clear();
  for (const SettingEntry& entry : *table.get_if<SettingTable>()) given.push_back(entry.key);
  return value;
}

}  // namespace

Optimizer optimizer_of_kind(const Job& job, const std::string& name) {
  return of_kind(optimizers(), name, job.training.optimizer, job.optimizer_settings);
}

Schedule schedule_of_kind(const Job& job, const std::string& name) {
  return of_kind(schedules(), name, job.training.schedule, job.schedule_settings);
}

void read_optimizer(const Setting& table, Job& job) {
  job.training.optimizer =
      read_kind(optimizers(), table, "[optimizer]", "adam", {}, job.optimizer_settings);
}

void read_schedule(const Setting& table, Job& job) {
  const std::string where = "[schedule]";
  job.training.schedule =
      read_kind(schedules(), table, where, "constant", {"warmup_epochs"}, job.schedule_settings);
  if (const Setting* warmup = find(*table.get_if<SettingTable>(), "warmup_epochs")) {
    job.training.warmup.epochs = FieldFormat<double>::read({"warmup_epochs", where, *warmup});
  }
}

void read_groups(Section& section, const std::string& file, TrainingOptions& training) {
  const toml::node* groups = section.node("trains");
  if (groups == nullptr) return;
  if (!groups->is_array()) section.refuse_type("trains", "an array of tables");
  int number = 0;
  for (const toml::node& entry : *groups->as_array()) {
    const std::string where = fmt::format("[training.trains {}]", ++number);
    if (!entry.is_table()) {
      fail("{}{} must be a table such as {{name = \"dense*\"}}", place_of(file, entry.source()),
           where);
    }
    Section s(*entry.as_table(), file, where);
    ParameterGroup group;
    group.name = s.need("name").text("name", "");
    group.learning_rate_factor = s.number("learning_rate_factor", group.learning_rate_factor);
    const double decay = s.number("weight_decay", 0);
    if (s.has("weight_decay")) group.weight_decay = decay;
    s.close();
    training.trains.push_back(std::move(group));
  }
}

void add_update_options(Json& json, const TrainingOptions& training) {
  json["optimizer"] = name_of(training.optimizer);
  const double* rate = learning_rate_of(training.optimizer);
  json["learning_rate"] = rate != nullptr ? Json(*rate) : Json();
  json["schedule"] = name_of(training.schedule);
  json["optimizer_settings"] = settings_json(optimizers().fields_of(training.optimizer, true));
  json["schedule_settings"] = settings_json(schedules().fields_of(training.schedule, true));
  json["loss"] = loss_names()[static_cast<std::size_t>(training.loss)];
  json["loss_settings"] =
      settings_json(description_of<LossOptions>().write(&training.loss_options, true));
  json["output_losses"] = Json::array();
  for (const OutputLoss& loss : training.output_losses) {
    json["output_losses"].push_back(settings_json(description_of<OutputLoss>().write(&loss, true)));
  }
  json["warmup_epochs"] = training.warmup.epochs;
  json["clip_norm"] = training.clip.norm;
  json["clip_value"] = training.clip.value;
  json["average"] = training.average.decay;
  json["average_warmup"] = training.average.warmup;
  if (training.lookahead.every > 0) {
    json["lookahead"] = training.lookahead.every;
    json["lookahead_alpha"] = training.lookahead.alpha;
  }
  if (!training.whiten.layer.empty()) {
    json["whiten"] = settings_json(description_of<Whiten>().write(&training.whiten, true));
  }
  json["freeze"] = json_of(FieldFormat<std::vector<Freeze>>::write(training.freeze), kRecordDepth);
  json["trains"] = Json::array();
  for (const ParameterGroup& group : training.trains) {
    Json entry{{"name", group.name}, {"learning_rate_factor", group.learning_rate_factor}};
    if (group.weight_decay) entry["weight_decay"] = *group.weight_decay;
    json["trains"].push_back(std::move(entry));
  }
}

}  // namespace linnet::command
