// SPDX-License-Identifier: Apache-2.0
#include "describe/field.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "base/check.h"
#include "core/dims.h"
#include "describe/nearest.h"

namespace linnet {
namespace {

std::string listed_cpp(const std::vector<double>& numbers) {
  std::string out = "{";
  for (const double number : numbers) {
    out += (out.size() > 1 ? ", " : "") + FieldFormat<double>::cpp(number);
  }
  return out + "}";
}

const double* infinity_of(const Setting& setting) {
  static const double kInfinity = std::numeric_limits<double>::infinity();
  static const double kMinusInfinity = -kInfinity;
  const std::string* text = setting.get_if<std::string>();
  if (text == nullptr) return nullptr;
  return *text == "inf" ? &kInfinity : *text == "-inf" ? &kMinusInfinity : nullptr;
}

/// Returns whether the setting is a number; `number` is then what it is.
bool is_number(const Setting& setting, double& number) {
  if (const auto* real = setting.get_if<double>()) {
    number = *real;
  } else if (const auto* integer = setting.get_if<std::int64_t>()) {
    number = static_cast<double>(*integer);
  } else if (const double* infinity = infinity_of(setting)) {
    number = *infinity;
  } else {
    return false;
  }
  return true;
}

/// 0.5, 16; 1e9, where digits would be hard to count.
std::string number_text(double number) {
  std::string text = fmt::format("{:g}", number);
  if (std::abs(number) < 1e6 || std::stod(text) != number) return fmt::format("{}", number);
  const std::size_t sign = text.find("e+0");
  if (sign != std::string::npos) text.erase(sign + 1, 2);
  return text;
}

}  // namespace

std::string Range::text() const {
  const bool low = std::isfinite(least);
  const bool high = std::isfinite(most);
  if (low && high) {
    return fmt::format("in {}{}, {}{}", above_least ? '(' : '[', number_text(least),
                       number_text(most), below_most ? ')' : ']');
  }
  if (!low && !high) return finite ? "finite" : "";
  std::string text =
      low ? fmt::format("{} {}", above_least ? "above" : "at least", number_text(least))
          : fmt::format("{} {}", below_most ? "below" : "at most", number_text(most));
  return finite ? text + " and finite" : text;
}

bool Range::contains(double number) const {
  if (std::isnan(number)) return text().empty();
  if (finite && std::isinf(number)) return false;
  return (above_least ? number > least : number >= least) &&
         (below_most ? number < most : number <= most);
}

std::string FieldReading::must_be() const {
  return where.empty() ? fmt::format("{}: expected", key)
                       : fmt::format("'{}' in {} must be", key, where);
}

std::string FieldReading::key_of(std::string_view inner) const {
  return fmt::format("{}{}{}", key, where.empty() ? " " : ".", inner);
}

void FieldReading::refuse(const std::string& sentence) const {
  throw SettingError(setting.place, sentence);
}

void FieldReading::refuse_type(std::string_view expected) const {
  refuse(fmt::format("{} {}; got {}", must_be(), expected, article_and_type(setting)));
}

std::size_t FieldReading::choice(const std::vector<std::string>& names) const {
  const auto* given = setting.get_if<std::string>();
  if (given == nullptr) refuse_type(choices_text(names));
  const auto found = std::find(names.begin(), names.end(), *given);
  if (found == names.end()) {
    refuse(fmt::format("{} {}; got '{}'{}", must_be(), listed(names), *given,
                       did_you_mean(*given, names)));
  }
  return static_cast<std::size_t>(found - names.begin());
}

bool FieldFormat<bool>::read(const FieldReading& from) {
  const auto* value = from.setting.get_if<bool>();
  if (value == nullptr) from.refuse_type(type());
  return *value;
}

std::int64_t FieldReading::integer(std::int64_t least, std::int64_t most) const {
  const auto* value = setting.get_if<std::int64_t>();
  if (value == nullptr) refuse_type("an integer");
  if (*value < least) {
    refuse(fmt::format("{} at least {}; got {}", must_be(), least, *value));
  }
  if (*value > most) {
    refuse(fmt::format("{} at most {}; got {}", must_be(), most, *value));
  }
  return *value;
}

double FieldFormat<double>::read(const FieldReading& from) {
  double number = 0;
  if (!is_number(from.setting, number)) from.refuse_type(type());
  return number;
}

std::string FieldFormat<double>::cpp(double value) {
  if (std::isinf(value)) return value > 0 ? "INFINITY" : "-INFINITY";
  return fmt::format("{}", value);
}

namespace {

constexpr std::array<std::pair<char, std::string_view>, 3> kNamedCharacters{
    {{'\t', "tab"}, {' ', "blank"}, {'\0', "none"}}};

}  // namespace

Setting FieldFormat<char>::write(char value) {
  for (const auto& [character, name] : kNamedCharacters) {
    if (value == character) return {std::string(name)};
  }
  return {std::string(1, value)};
}

char FieldFormat<char>::read(const FieldReading& from) {
  const auto* text = from.setting.get_if<std::string>();
  if (text == nullptr) from.refuse_type(type());
  for (const auto& [character, name] : kNamedCharacters) {
    if (*text == name) return character;
  }
  if (text->size() != 1) {
    from.refuse(fmt::format("{} {}; got '{}'", from.must_be(), type(), *text));
  }
  return text->front();
}

std::string FieldFormat<std::string>::read(const FieldReading& from) {
  const auto* value = from.setting.get_if<std::string>();
  if (value == nullptr) from.refuse_type(type());
  return *value;
}

std::string FieldFormat<std::string>::cpp(const std::string& value) {
  return to_toml(Setting{value});
}

Setting FieldFormat<std::vector<double>>::write(const std::vector<double>& value) {
  if (value.size() == 1) return {value.front()};
  Setting::List list;
  for (const double number : value) list.push_back({number});
  return {std::move(list)};
}

std::vector<double> FieldFormat<std::vector<double>>::read(const FieldReading& from) {
  double number = 0;
  if (is_number(from.setting, number)) return {number};
  const auto* list = from.setting.get_if<Setting::List>();
  if (list == nullptr || list->empty()) from.refuse_type(type());
  std::vector<double> numbers;
  for (const Setting& item : *list) {
    if (!is_number(item, number)) from.refuse_type(type());
    numbers.push_back(number);
  }
  return numbers;
}

std::string FieldFormat<std::vector<double>>::cpp(const std::vector<double>& value) {
  return listed_cpp(value);
}

void FieldFormat<std::vector<double>>::numbers(const std::vector<double>& value,
                                               std::vector<double>& to) {
  to.insert(to.end(), value.begin(), value.end());
}

Setting FieldFormat<std::vector<std::string>>::write(const std::vector<std::string>& value) {
  Setting::List list;
  for (const std::string& text : value) list.emplace_back(text);
  return {std::move(list)};
}

std::vector<std::string> FieldFormat<std::vector<std::string>>::read(const FieldReading& from) {
  if (const auto* text = from.setting.get_if<std::string>()) return {*text};
  const auto* list = from.setting.get_if<Setting::List>();
  if (list == nullptr) from.refuse_type(type());
  std::vector<std::string> value;
  for (const Setting& item : *list) {
    const auto* text = item.get_if<std::string>();
    if (text == nullptr) from.refuse_type(type());
    value.push_back(*text);
  }
  return value;
}

std::string FieldFormat<std::vector<std::string>>::cpp(const std::vector<std::string>& value) {
  std::string text;
  for (const std::string& one : value) {
    text += (text.empty() ? "" : ", ") + FieldFormat<std::string>::cpp(one);
  }
  return "{" + text + "}";
}

Setting FieldFormat<Shape>::write(const Shape& value) {
  Setting::List list;
  for (const std::int64_t dim : value.dims()) list.push_back({dim});
  return {std::move(list)};
}

namespace {

/// Returns the dims of a text such as "224x192"; none for another text.
std::vector<std::int64_t> dims_of(const std::string& text) {
  std::vector<std::int64_t> dims;
  const char* const end = text.data() + text.size();
  for (const char* at = text.data();; ++at) {
    const auto [rest, error] = std::from_chars(at, end, dims.emplace_back());
    if (error != std::errc() || (rest != end && *rest != 'x')) return {};
    if (rest == end) return dims;
    at = rest;
  }
}

}  // namespace

Shape FieldFormat<Shape>::read(const FieldReading& from) {
  if (const auto* text = from.setting.get_if<std::string>()) {
    const std::vector<std::int64_t> dims = dims_of(*text);
    if (dims.empty() || dims.size() > Shape::kMostAxes) {
      from.refuse(
          fmt::format("{} a number, or several such as 224x192; got '{}'", from.must_be(), *text));
    }
    return Shape(dims);
  }
  const auto* list = from.setting.get_if<Setting::List>();
  if (list == nullptr) from.refuse_type(type());
  if (list->size() > Shape::kMostAxes) {
    from.refuse(fmt::format("'{}' in {} must have at most {} integers; got {}", from.key,
                            from.where, Shape::kMostAxes, list->size()));
  }
  std::vector<std::int64_t> dims;
  for (const Setting& item : *list) {
    const auto* dim = item.get_if<std::int64_t>();
    if (dim == nullptr) from.refuse_type(type());
    dims.push_back(*dim);
  }
  return Shape(dims);
}

std::string FieldFormat<Shape>::cpp(const Shape& value) {
  const Setting list = write(value);
  std::string out = to_toml(list);
  out.front() = '{';
  out.back() = '}';
  return out;
}

void FieldFormat<Shape>::numbers(const Shape& value, std::vector<double>& to) {
  for (const std::int64_t dim : value.dims()) to.push_back(static_cast<double>(dim));
}

std::vector<SettingEntry> named_texts(const FieldReading& from, const std::string& type) {
  if (const auto* table = from.setting.get_if<SettingTable>()) return *table;
  std::vector<SettingEntry> entries;
  for (const std::string& text : FieldFormat<std::vector<std::string>>::read(from)) {
    const std::size_t at = text.rfind('=');
    const bool named = at != std::string::npos;
    entries.push_back({named ? text.substr(0, at) : "",
                       {named ? text.substr(at + 1) : text, from.setting.place}});
  }
  if (entries.empty()) from.refuse_type(type);
  return entries;
}

std::string choices_text(const std::vector<std::string>& names) {
  std::vector<std::string> texts;
  for (const std::string& name : names) texts.push_back('"' + name + '"');
  return listed(texts);
}

namespace {

/// Returns numbers as texts.
Setting as_text(const Setting& setting) {
  if (const auto* number = setting.get_if<std::int64_t>()) {
    return {std::to_string(*number), setting.place};
  }
  const auto* list = setting.get_if<Setting::List>();
  if (list == nullptr) return setting;
  Setting::List texts;
  for (const Setting& one : *list) texts.push_back(as_text(one));
  return {std::move(texts), setting.place};
}

/// Returns the number that a text stands for, or an integer in range.
Setting numbered(const Field& field, const FieldReading& from) {
  const Setting text = as_text(from.setting);
  const std::string given = text.get_if<std::string>() ? *text.get_if<std::string>() : "";
  const auto named = std::ranges::find(field.names, given);
  if (named != field.names.end()) {
    return {field.values[static_cast<std::size_t>(named - field.names.begin())]};
  }
  std::int64_t number = 0;
  const char* end = given.data() + given.size();
  const auto [rest, error] = std::from_chars(given.data(), end, number);
  if (error == std::errc() && rest == end && field.range.contains(static_cast<double>(number))) {
    return {number};
  }
  from.refuse(fmt::format("{} {} or an integer {}; got {}", from.must_be(),
                          fmt::join(field.names, ", "), field.range.text(), to_toml(from.setting)));
}

/// Returns what a field's format reads of one of the field's own texts.
Setting unnamed(const Field& field, const FieldReading& from) {
  const Form form = field.format->form;
  if (form == Form::truth && from.setting.get_if<bool>() != nullptr) return from.setting;
  const Setting text = as_text(from.setting);
  const std::size_t index = FieldReading{from.key, from.where, text}.choice(field.names);
  if (form == Form::truth) return {index == 1, text.place};
  if (form == Form::integer) return from.setting;
  return field.format->names == nullptr ? text : Setting(field.format->names()[index], text.place);
}

/// Returns whether all numbers of a field are in its range.
bool fits(const Field& field, const void* object) {
  std::vector<double> numbers;
  field.format->numbers(field.member(object), numbers);
  return std::all_of(numbers.begin(), numbers.end(),
                     [&](double number) { return field.range.contains(number); });
}

[[noreturn]] void refuse_key(const Description& description, const SettingEntry& entry,
                             const std::string& where, const std::vector<std::string_view>& known) {
  std::vector<std::string> keys;
  for (const Field& field : description.fields) {
    if (field.old_name == entry.key) {
      throw SettingError(entry.place, fmt::format("unknown key '{}' in {}; it is called '{}' now",
                                                  entry.key, where, field.key));
    }
    keys.emplace_back(field.key);
  }
  keys.insert(keys.end(), known.begin(), known.end());
  std::string hint = did_you_mean(entry.key, keys);
  if (hint.empty()) {
    std::erase_if(keys, [](const std::string& key) { return key == "kind" || key == "type"; });
    hint = keys.empty() ? fmt::format("; {} takes none", description.kind)
                        : fmt::format("; {} takes {}", description.kind, fmt::join(keys, ", "));
  }
  throw SettingError(entry.place, fmt::format("unknown key '{}' in {}{}", entry.key, where, hint));
}

}  // namespace

Setting Field::write(const void* object) const {
  Setting value = format->write(member(object));
  if (const auto* number = value.get_if<std::int64_t>()) {
    const auto named = std::ranges::find(values, *number);
    if (named != values.end()) {
      return {names[static_cast<std::size_t>(named - values.begin())]};
    }
  }
  if (names.empty()) return value;
  if (const auto* is_on = value.get_if<bool>()) return {names[*is_on ? 1 : 0]};
  const auto* text = value.get_if<std::string>();
  if (format->names == nullptr || text == nullptr) return value;
  const std::vector<std::string> own = format->names();
  return {names[static_cast<std::size_t>(std::ranges::find(own, *text) - own.begin())]};
}

void Field::read(void* object, const FieldReading& from) const {
  if (!values.empty()) {
    return format->read(member(object), {from.key, from.where, numbered(*this, from)});
  }
  const bool is_number = from.setting.get_if<std::int64_t>() != nullptr;
  const Setting checked = is_number && mistake != nullptr ? as_text(from.setting) : from.setting;
  const auto* text = checked.get_if<std::string>();
  const std::string wrong = mistake == nullptr || text == nullptr ? "" : mistake(*text);
  if (!wrong.empty()) {
    from.refuse(from.where.empty() ? fmt::format("{}: {}", from.key, wrong)
                                   : fmt::format("'{}' in {}: {}", key, from.where, wrong));
  }
  const bool has_names = !names.empty() && mistake == nullptr;
  const Setting given = has_names   ? unnamed(*this, from)
                        : is_column ? as_text(from.setting)
                                    : checked;
  format->read(member(object), {from.key, from.where, given});
  if (!fits(*this, object)) {
    from.refuse(fmt::format("{} {}; got {}", from.must_be(), range.text(), to_toml(from.setting)));
  }
}

const Field* Description::find(std::string_view key) const {
  const auto found =
      std::find_if(fields.begin(), fields.end(), [&](const Field& f) { return f.key == key; });
  return found == fields.end() ? nullptr : &*found;
}

std::vector<Field> Description::fields_without(const std::vector<std::string_view>& keys) const {
  std::vector<Field> left = fields;
  std::erase_if(left, [&](const Field& f) { return std::ranges::count(keys, f.key) > 0; });
  return left;
}

void Description::read(void* object, const Setting& table, const std::string& where,
                       const std::vector<std::string_view>& known) const {
  const auto* entries = table.get_if<SettingTable>();
  LINNET_ASSERT(entries != nullptr);
  for (const Field& field : fields) {
    const Setting* setting = linnet::find(*entries, field.key);
    if (setting == nullptr) continue;
    field.read(object, {where.empty() ? field.flag_name : field.key, where, *setting});
  }
  for (const SettingEntry& entry : *entries) {
    const bool others = std::find(known.begin(), known.end(), entry.key) != known.end();
    if (!others && find(entry.key) == nullptr) refuse_key(*this, entry, where, known);
  }
  for (const Field& field : fields) {
    if (field.is_required && linnet::find(*entries, field.key) == nullptr) {
      throw SettingError(table.place, fmt::format("{} needs the key '{}'", where, field.key));
    }
  }
}

void Description::check(const void* object, std::string_view owner) const {
  for (const Field& field : fields) {
    require(fits(field, object), "[{}{}] expected {} to be {}; got {}", kind,
            owner.empty() ? "" : fmt::format(" '{}'", owner), field.key, field.range.text(),
            to_toml(field.write(object)));
  }
}

SettingTable Description::write(const void* object, bool all) const {
  SettingTable table;
  for (const Field& field : fields) {
    Setting setting = field.write(object);
    if (!all && setting == field.write(defaults.get())) continue;
    table.push_back({std::string(field.key), std::move(setting)});
  }
  return table;
}

std::string Description::cpp(const void* object) const {
  std::string out = std::string(name) + "{";
  for (const Field& field : fields) {
    if (field.write(object) == field.write(defaults.get())) continue;
    out += fmt::format("{}.{} = {}", out.back() == '{' ? "" : ", ", field.key,
                       field.format->cpp(field.member(object)));
  }
  return out + "}";
}

std::vector<Field> joined(std::initializer_list<std::vector<Field>> parts) {
  std::vector<Field> all;
  for (const std::vector<Field>& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace linnet
