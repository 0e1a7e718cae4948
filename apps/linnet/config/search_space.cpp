// SPDX-License-Identifier: Apache-2.0
#include "config/search_space.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <sstream>

#include "base/check.h"
#include "base/random.h"
#include "config/config.h"
#include "config/section.h"

namespace linnet::command {
namespace {

constexpr std::string_view kMark = "search";
constexpr std::size_t kMostOfAGrid = 10'000;
constexpr double kMostWhole = 9007199254740992;  // 2^53

bool is_searched(const toml::node& node) {
  const toml::table* table = node.as_table();
  return table != nullptr && table->size() == 1 && table->contains(kMark);
}

std::optional<SearchValue> value_of(const toml::node& node) {
  if (node.is_integer()) return *node.value<std::int64_t>();
  if (node.is_floating_point()) return *node.value<double>();
  if (node.is_boolean()) return *node.value<bool>();
  if (node.is_string()) return *node.value<std::string>();
  return std::nullopt;
}

/// Calls `found` with the path and the place of each searched value, in the order of the keys.
void for_each_searched(toml::table& table, const std::string& path,
                       const std::function<void(const std::string&, toml::node&,
                                                const std::function<void(SearchValue)>&)>& found);

void visit_child(toml::node& child, const std::string& path,
                 const std::function<void(SearchValue)>& replace,
                 const std::function<void(const std::string&, toml::node&,
                                          const std::function<void(SearchValue)>&)>& found) {
  if (is_searched(child)) {
    found(path, child, replace);
  } else if (toml::table* table = child.as_table()) {
    for_each_searched(*table, path, found);
  } else if (toml::array* array = child.as_array()) {
    for (std::size_t i = 0; i < array->size(); ++i) {
      visit_child(
          *array->get(i), fmt::format("{}[{}]", path, i),
          [array, i](SearchValue value) {
            const auto place = array->cbegin() + static_cast<std::ptrdiff_t>(i);
            std::visit([&](auto& of) { array->replace(place, std::move(of)); }, value);
          },
          found);
    }
  }
}

void for_each_searched(toml::table& table, const std::string& path,
                       const std::function<void(const std::string&, toml::node&,
                                                const std::function<void(SearchValue)>&)>& found) {
  std::vector<std::string> keys;
  for (const auto& [key, node] : table) keys.emplace_back(key.str());
  for (const std::string& key : keys) {
    visit_child(
        *table.get(key), path.empty() ? key : path + "." + key,
        [&table, key](SearchValue value) {
          std::visit([&](auto& of) { table.insert_or_assign(key, std::move(of)); }, value);
        },
        found);
  }
}

[[noreturn]] void refuse(const std::string& file, const toml::node& node, const std::string& path) {
  fail("{}'{}' is searched in [choices] or {{ from = 1, to = 9, log = true }}",
       place_of(file, node.source()), path);
}

SearchedValue searched_value(const toml::node& node, const std::string& path,
                             const std::string& file) {
  SearchedValue value{.path = path};
  const toml::node& what = *node.as_table()->get(kMark);
  if (const toml::array* choices = what.as_array()) {
    for (const toml::node& choice : *choices) {
      const std::optional<SearchValue> one = value_of(choice);
      if (!one) refuse(file, choice, path);
      value.choices.push_back(*one);
    }
    if (value.choices.empty()) refuse(file, node, path);
    return value;
  }
  if (!what.is_table()) refuse(file, node, path);
  Section range(*what.as_table(), file, fmt::format("the range of '{}'", path));
  value.from = range.need("from").number("from", 0);
  value.to = range.need("to").number("to", 0);
  value.log = range.flag("log", false);
  range.close();
  const toml::table& table = *what.as_table();
  value.integer = table.get("from")->is_integer() && table.get("to")->is_integer();
  require(std::isfinite(value.from) && std::isfinite(value.to) && value.from < value.to,
          "{}'from' of '{}' is below 'to'; got {} and {}", place_of(file, what.source()), path,
          value.from, value.to);
  require(std::isfinite(value.to - value.from) &&
              (!value.integer || std::max(std::abs(value.from), value.to) <= kMostWhole),
          "{}'from' and 'to' of '{}' are too large", place_of(file, what.source()), path);
  require(!value.log || value.from > 0, "{}'from' of '{}' is above 0 where log = true; got {}",
          place_of(file, what.source()), path, value.from);
  return value;
}

const std::vector<std::string>& method_names() {
  static const std::vector<std::string> names{"random", "grid",    "halving", "grow",
                                              "select", "forward", "genetic"};
  return names;
}

const std::vector<std::string>& metric_names() {
  static const std::vector<std::string> names{"validation_loss", "validation_accuracy",
                                              "train_loss", "train_accuracy"};
  return names;
}

}  // namespace

const std::string& name_of(SearchMethod method) {
  return method_names()[static_cast<std::size_t>(method)];
}

bool chooses_columns(SearchMethod method) {
  return method == SearchMethod::select || method == SearchMethod::forward ||
         method == SearchMethod::genetic;
}

std::string text_of(const SearchValue& value) {
  return std::visit([](const auto& of) { return fmt::format("{}", of); }, value);
}

SearchValue SearchedValue::at(double place) const {
  if (!choices.empty()) {
    const auto i = static_cast<std::size_t>(place * static_cast<double>(choices.size()));
    return choices[std::min(i, choices.size() - 1)];
  }
  // A whole number owns the half before and after it.
  const double low = integer ? from - 0.5 : from;
  const double high = integer ? to + 0.5 : to;
  const double value = log ? low * std::pow(high / low, place) : low + place * (high - low);
  if (integer) return static_cast<std::int64_t>(std::llround(std::clamp(value, from, to)));
  return std::clamp(value, from, to);
}

SearchPlan read_search(const std::string& text, const std::filesystem::path& path) {
  SearchPlan plan;
  plan.configuration = parse_toml(text, path);
  const std::string file = path.string();
  if (toml::node* node = plan.configuration.get(kMark)) {
    require(node->is_table(), "{}'search' is a table: [search]", place_of(file, node->source()));
    Section section(*node->as_table(), file, "[search]");
    plan.method = static_cast<SearchMethod>(section.choice("method", 0, method_names()));
    // These end by themselves; fewer runs would miss columns or values.
    const bool ends = plan.method == SearchMethod::forward || plan.method == SearchMethod::grid ||
                      plan.method == SearchMethod::grow;
    const std::int64_t runs = ends ? kMostRuns : plan.runs;
    plan.runs = section.integer("runs", runs, 1, kMostRuns);
    plan.points = section.integer("points", plan.points, 2, kMostOfAGrid);
    plan.factor = section.integer("factor", plan.factor, 2, kMostRuns);
    plan.seed = static_cast<std::uint64_t>(
        section.integer("seed", 0, 0, std::numeric_limits<std::int64_t>::max()));
    plan.metric = metric_names()[section.choice("metric", 0, metric_names())];
    section.close();
    plan.configuration.erase(kMark);
  }
  for_each_searched(plan.configuration, "",
                    [&](const std::string& at, toml::node& node, const auto& /*replace*/) {
                      plan.values.push_back(searched_value(node, at, file));
                    });
  if (chooses_columns(plan.method)) {
    require(plan.values.empty(),
            "method = \"{}\" leaves out columns of a table; '{}' is searched by another method",
            name_of(plan.method), plan.values.empty() ? "" : plan.values.front().path);
    return plan;
  }
  require(!plan.values.empty(),
          "'{}' searches nothing; write e.g. batch = {{ search = [16, 32, 64] }} in [training]",
          file);
  if (plan.method == SearchMethod::grow) {
    for (const SearchedValue& value : plan.values) {
      require(value.integer && value.choices.empty() && value.from >= 1,
              "'{}' cannot grow: expected {{ from = 8, to = 1024 }}, whole numbers of at least 1",
              value.path);
    }
  }
  return plan;
}

std::string search_text(const std::string& text, const std::filesystem::path& path,
                        std::int64_t runs) {
  toml::table root = parse_toml(text, path);
  if (!root.contains(kMark)) root.insert(kMark, toml::table());
  root.get(kMark)->as_table()->insert_or_assign("runs", runs);
  std::ostringstream out;
  out << root << "\n";
  return out.str();
}

std::vector<SearchValue> random_values(const SearchPlan& plan, std::int64_t number,
                                       std::int64_t attempt) {
  std::vector<SearchValue> values;
  for (std::size_t i = 0; i < plan.values.size(); ++i) {
    const std::uint64_t key =
        random_key(plan.seed, RandomStream::uniform, static_cast<std::uint64_t>(number), i);
    const std::uint64_t bits = mix_bits(key + static_cast<std::uint64_t>(attempt));
    values.push_back(plan.values[i].at(static_cast<double>(bits >> 11) / 9007199254740992.0));
  }
  return values;
}

std::vector<std::vector<SearchValue>> grid_values(const SearchPlan& plan) {
  std::vector<std::vector<SearchValue>> grid{{}};
  for (const SearchedValue& value : plan.values) {
    std::vector<SearchValue> own = value.choices;
    for (std::int64_t i = 0; value.choices.empty() && i < plan.points; ++i) {
      const double place = static_cast<double>(i) / static_cast<double>(plan.points - 1);
      const SearchValue one = value.at(place);
      if (std::ranges::count(own, one) == 0) own.push_back(one);
    }
    require(grid.size() * own.size() <= kMostOfAGrid, "the grid has more than {} runs",
            kMostOfAGrid);
    std::vector<std::vector<SearchValue>> longer;
    for (const std::vector<SearchValue>& begun : grid) {
      for (const SearchValue& one : own) {
        longer.push_back(begun);
        longer.back().push_back(one);
      }
    }
    grid = std::move(longer);
  }
  return grid;
}

std::vector<std::vector<SearchValue>> growing_values(const SearchPlan& plan) {
  std::vector<std::vector<SearchValue>> all;
  for (std::int64_t times = 1;; times *= 2) {
    std::vector<SearchValue> values;
    bool more = false;
    for (const SearchedValue& value : plan.values) {
      const double grown = value.from * static_cast<double>(times);
      more = more || grown <= value.to;
      values.emplace_back(static_cast<std::int64_t>(std::min(grown, value.to)));
    }
    if (!more) return all;
    all.push_back(std::move(values));
  }
}

namespace {

/// Adds columns to `ignore` of [data], which is a text, a number or an array of these.
void ignore_columns(toml::table& configuration, const std::vector<std::string>& columns) {
  if (columns.empty()) return;
  if (!configuration.contains("data")) configuration.insert("data", toml::table());
  toml::table* data = configuration["data"].as_table();
  if (data == nullptr) return;  // which reading the configuration refuses
  toml::array ignored;
  if (const toml::node* given = data->get("ignore")) {
    if (const toml::array* several = given->as_array()) {
      ignored = *several;
    } else {
      given->visit([&](const auto& one) { ignored.push_back(one); });
    }
  }
  for (const std::string& column : columns) ignored.push_back(column);
  data->insert_or_assign("ignore", std::move(ignored));
}

}  // namespace

std::string configuration_with(const SearchPlan& plan, const std::vector<SearchValue>& values,
                               std::int64_t epochs, const std::vector<std::string>& left_out) {
  toml::table configuration = plan.configuration;
  std::size_t next = 0;
  for_each_searched(configuration, "",
                    [&](const std::string& /*at*/, toml::node& /*node*/, const auto& replace) {
                      replace(values[next++]);
                    });
  ignore_columns(configuration, left_out);
  if (epochs > 0) {
    if (!configuration.contains("training")) configuration.insert("training", toml::table());
    configuration["training"].as_table()->insert_or_assign("epochs", epochs);
  }
  std::ostringstream text;
  text << configuration << "\n";
  return text.str();
}

}  // namespace linnet::command
