// SPDX-License-Identifier: Apache-2.0
#include "config/optimizer.h"

#include <algorithm>
#include <map>
#include <type_traits>
#include <variant>

#include "base/check.h"
#include "model/optimizer_fields.h"

namespace linnet::command {
namespace {

using Setting = std::variant<bool, std::int64_t, double>;

/// The default of every kind, but of functions.
const std::vector<Optimizer>& optimizers() {
  static const std::vector<Optimizer> all{SGD{}, Adam{}, AdamW{}, RMSprop{}, Adagrad{}, Lion{}};
  return all;
}
const std::vector<Schedule>& schedules() {
  static const std::vector<Schedule> all{Constant{},    StepDecay{},       CosineDecay{},
                                         LinearDecay{}, PolynomialDecay{}, OneCycle{},
                                         Plateau{}};
  return all;
}

template <class Variant>
std::vector<std::string> names_of(const std::vector<Variant>& all) {
  std::vector<std::string> names;
  for (const Variant& one : all) names.emplace_back(name_of(one));
  return names;
}

template <class Variant>
Variant named(const std::vector<Variant>& all, const std::string& name) {
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const Variant& one) { return name_of(one) == name; });
  LINNET_ASSERT(found != all.end());
  return *found;
}

template <class Variant, class V>
void visit_fields(Variant& object, V visit) {
  std::visit([&](auto& one) { fields(one, visit); }, object);
}

template <class Variant>
std::map<std::string, Setting> settings_of(Variant object) {
  std::map<std::string, Setting> settings;
  visit_fields(object, [&](const char* name, const auto& field) { settings[name] = field; });
  return settings;
}

/// `to` with the settings of `from` that are in `kept`.
template <class Variant>
Variant with_settings(Variant to, const Variant& from, const std::vector<std::string>& kept) {
  const std::map<std::string, Setting> settings = settings_of(from);
  visit_fields(to, [&]<class T>(const char* name, T& field) {
    const auto found = settings.find(name);
    if (found == settings.end() || std::count(kept.begin(), kept.end(), name) == 0) return;
    if (const T* same = std::get_if<T>(&found->second)) field = *same;
  });
  return to;
}

/// Reads the fields of an object, and notes which of them the section names.
template <class Variant>
std::vector<std::string> read_fields(Section& section, Variant& object) {
  std::vector<std::string> given;
  visit_fields(object, [&]<class T>(const char* name, T& field) {
    if constexpr (std::is_same_v<T, bool>) {
      field = section.flag(name, field);
    } else if constexpr (std::is_same_v<T, std::int64_t>) {
      field = section.integer(name, field);
    } else {
      field = section.number(name, field);
    }
    if (section.has(name)) given.emplace_back(name);
  });
  return given;
}

template <class Variant>
Json json_of(const Variant& object) {
  Json json = Json::object();
  for (const auto& [name, setting] : settings_of(object)) {
    std::visit([&, key = name](const auto& value) { json[key] = value; }, setting);
  }
  return json;
}

}  // namespace

const std::vector<std::string>& optimizer_names() {
  static const std::vector<std::string> names = names_of(optimizers());
  return names;
}

Optimizer default_optimizer(const std::string& name) { return named(optimizers(), name); }

const std::vector<std::string>& schedule_names() {
  static const std::vector<std::string> names = names_of(schedules());
  return names;
}

Schedule default_schedule(const std::string& name) { return named(schedules(), name); }

Optimizer optimizer_of_kind(const Job& job, const std::string& name) {
  return with_settings(default_optimizer(name), job.training.optimizer, job.optimizer_settings);
}

Schedule schedule_of_kind(const Job& job, const std::string& name) {
  return with_settings(default_schedule(name), job.training.schedule, job.schedule_settings);
}

void read_optimizer(Section& section, Job& job) {
  const std::size_t adam = 1;
  const std::string& kind = optimizer_names()[section.choice("kind", adam, optimizer_names())];
  job.training.optimizer = default_optimizer(kind);
  job.optimizer_settings = read_fields(section, job.training.optimizer);
  section.close(kind);
}

void read_schedule(Section& section, Job& job) {
  const std::string& kind = schedule_names()[section.choice("kind", 0, schedule_names())];
  job.training.schedule = default_schedule(kind);
  job.schedule_settings = read_fields(section, job.training.schedule);
  job.training.warmup.epochs = section.number("warmup_epochs", job.training.warmup.epochs);
  section.close(kind);
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
  json["learning_rate"] = learning_rate_of(training.optimizer);
  json["schedule"] = name_of(training.schedule);
  json["optimizer_settings"] = json_of(training.optimizer);
  json["schedule_settings"] = json_of(training.schedule);
  json["warmup_epochs"] = training.warmup.epochs;
  json["clip_norm"] = training.clip.norm;
  json["clip_value"] = training.clip.value;
  json["trains"] = Json::array();
  for (const ParameterGroup& group : training.trains) {
    Json entry{{"name", group.name}, {"learning_rate_factor", group.learning_rate_factor}};
    if (group.weight_decay) entry["weight_decay"] = *group.weight_decay;
    json["trains"].push_back(std::move(entry));
  }
}

}  // namespace linnet::command
