// SPDX-License-Identifier: Apache-2.0
#include "nn/layer_fields.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <span>
#include <tuple>

#include "base/check.h"
#include "describe/nearest.h"

namespace linnet {
namespace {

using Kind = Initializer::Kind;

constexpr std::array<std::string_view, 7> kInitializers{"constant",      "uniform",
                                                        "normal",        "glorot_uniform",
                                                        "glorot_normal", "he_uniform",
                                                        "he_normal"};

/// Returns a list of `count` integers; empty for anything else.
std::vector<std::int64_t> integers(const Setting& setting, std::size_t count) {
  const auto* list = setting.get_if<Setting::List>();
  std::vector<std::int64_t> numbers;
  if (list == nullptr || list->size() != count) return numbers;
  for (const Setting& item : *list) {
    const auto* number = item.get_if<std::int64_t>();
    if (number == nullptr) return {};
    numbers.push_back(*number);
  }
  return numbers;
}

void push(std::vector<double>& to, std::span<const std::int64_t> numbers) {
  for (const std::int64_t number : numbers) to.push_back(static_cast<double>(number));
}

// The numbers of a size, or of a padding's sides, in the order in which they are written.
std::array<std::int64_t, 2> parts_of(const Size2d& size) { return {size.height, size.width}; }
std::array<std::int64_t, 3> parts_of(const Size3d& size) {
  return {size.depth, size.height, size.width};
}
std::array<std::int64_t, 4> parts_of(const Padding2d& p) {
  return {p.top, p.bottom, p.left, p.right};
}
std::array<std::int64_t, 6> parts_of(const Padding3d& p) {
  return {p.front, p.back, p.top, p.bottom, p.left, p.right};
}

bool all_equal(std::span<const std::int64_t> parts) {
  return std::ranges::count(parts, parts.front()) == std::ssize(parts);
}

/// One number for equal ones, or the list.
Setting written(std::span<const std::int64_t> parts) {
  if (all_equal(parts)) return {parts.front()};
  Setting::List list;
  for (const std::int64_t part : parts) list.push_back({part});
  return {list};
}

/// Reads a list of as many numbers as `parts` has.
template <class T, std::size_t kParts>
void read_parts(const FieldReading& from, std::array<std::int64_t, kParts>& parts) {
  const std::vector<std::int64_t> given = integers(from.setting, kParts);
  if (given.empty()) from.refuse_type(FieldFormat<T>::type());
  std::ranges::copy(given, parts.begin());
}

template <class Size>
Size read_sizes(const FieldReading& from) {
  if (const auto* all = from.setting.get_if<std::int64_t>()) return *all;
  auto parts = parts_of(Size(0));
  read_parts<Size>(from, parts);
  return std::apply([](auto... part) { return Size(part...); }, parts);
}

template <class Size>
std::string cpp_of_sizes(const Size& size) {
  const auto parts = parts_of(size);
  if (all_equal(parts)) return std::to_string(parts.front());
  return fmt::format("{{{}}}", fmt::join(parts, ", "));
}

template <class Padding>
Setting written_padding(const Padding& p) {
  if (p.mode == Padding::Mode::valid) return {std::string("valid")};
  if (p.mode == Padding::Mode::same) return {std::string("same")};
  return written(parts_of(p));
}

template <class Padding>
Padding read_padding(const FieldReading& from) {
  if (const auto* all = from.setting.get_if<std::int64_t>()) return Padding::all(*all);
  if (from.setting.get_if<std::string>() != nullptr) {
    return from.choice({"valid", "same"}) == 0 ? Padding::valid() : Padding::same();
  }
  auto parts = parts_of(Padding());
  read_parts<Padding>(from, parts);
  return std::apply([](auto... part) { return Padding{Padding::Mode::fixed, part...}; }, parts);
}

template <class Padding>
std::string cpp_of_padding(std::string_view type, const Padding& p) {
  if (p.mode == Padding::Mode::valid) return fmt::format("{}::valid()", type);
  if (p.mode == Padding::Mode::same) return fmt::format("{}::same()", type);
  const auto parts = parts_of(p);
  if (all_equal(parts)) return fmt::format("{}::all({})", type, parts.front());
  return fmt::format("{{{}::Mode::fixed, {}}}", type, fmt::join(parts, ", "));
}

std::vector<Layer> read_layers(const Setting::List& list, const std::string& where) {
  std::vector<Layer> layers;
  for (const Setting& item : list) {
    layers.push_back(read_recorded_layer(item, fmt::format("{} {}", where, layers.size() + 1)));
  }
  return layers;
}

/// "[network.layers 2].body"
std::string where_of(const FieldReading& from) {
  return fmt::format("{}.{}", from.where, from.key);
}

}  // namespace

std::string_view name_of(Kind kind) { return kInitializers[static_cast<std::size_t>(kind)]; }

Kind initializer_kind(std::string_view name) {
  const auto found = std::find(kInitializers.begin(), kInitializers.end(), name);
  require(found != kInitializers.end(), "unknown initializer '{}'", name);
  return static_cast<Kind>(found - kInitializers.begin());
}

Setting FieldFormat<Size2d>::write(const Size2d& value) { return written(parts_of(value)); }
Size2d FieldFormat<Size2d>::read(const FieldReading& from) { return read_sizes<Size2d>(from); }
std::string FieldFormat<Size2d>::cpp(const Size2d& value) { return cpp_of_sizes(value); }
void FieldFormat<Size2d>::numbers(const Size2d& value, std::vector<double>& to) {
  push(to, parts_of(value));
}

Setting FieldFormat<Size3d>::write(const Size3d& value) { return written(parts_of(value)); }
Size3d FieldFormat<Size3d>::read(const FieldReading& from) { return read_sizes<Size3d>(from); }
std::string FieldFormat<Size3d>::cpp(const Size3d& value) { return cpp_of_sizes(value); }
void FieldFormat<Size3d>::numbers(const Size3d& value, std::vector<double>& to) {
  push(to, parts_of(value));
}

Setting FieldFormat<Padding2d>::write(const Padding2d& p) { return written_padding(p); }
Padding2d FieldFormat<Padding2d>::read(const FieldReading& from) {
  return read_padding<Padding2d>(from);
}
std::string FieldFormat<Padding2d>::cpp(const Padding2d& p) {
  return cpp_of_padding("Padding2d", p);
}
void FieldFormat<Padding2d>::numbers(const Padding2d& p, std::vector<double>& to) {
  if (p.mode == Padding2d::Mode::fixed) push(to, parts_of(p));
}

Setting FieldFormat<Padding3d>::write(const Padding3d& p) { return written_padding(p); }
Padding3d FieldFormat<Padding3d>::read(const FieldReading& from) {
  return read_padding<Padding3d>(from);
}
std::string FieldFormat<Padding3d>::cpp(const Padding3d& p) {
  return cpp_of_padding("Padding3d", p);
}
void FieldFormat<Padding3d>::numbers(const Padding3d& p, std::vector<double>& to) {
  if (p.mode == Padding3d::Mode::fixed) push(to, parts_of(p));
}

Setting FieldFormat<Initializer>::write(const Initializer& value) {
  if (value.kind == Kind::constant) return {value.value};
  const std::string name(name_of(value.kind));
  if (value.kind == Kind::uniform || value.kind == Kind::normal) {
    return {SettingTable{{name, {value.value}}}};
  }
  return {name};
}

Initializer FieldFormat<Initializer>::read(const FieldReading& from) {
  if (const auto* table = from.setting.get_if<SettingTable>()) {
    if (table->size() != 1 || (table->front().key != "uniform" && table->front().key != "normal")) {
      from.refuse(fmt::format("'{}' in {} must be {{ uniform = BOUND }} or {{ normal = STD }}",
                              from.key, from.where));
    }
    const SettingEntry& entry = table->front();
    const FieldReading value{from.key, from.where, entry.value};
    return {initializer_kind(entry.key), FieldFormat<double>::read(value)};
  }
  const auto* name = from.setting.get_if<std::string>();
  if (name != nullptr && *name != "inf" && *name != "-inf") {
    const auto first = static_cast<std::size_t>(Kind::glorot_uniform);
    const std::vector<std::string> names(kInitializers.begin() + first, kInitializers.end());
    return {static_cast<Kind>(first + from.choice(names)), 0};
  }
  if (name == nullptr && from.setting.get_if<double>() == nullptr &&
      from.setting.get_if<std::int64_t>() == nullptr) {
    from.refuse_type(type());
  }
  return {Kind::constant, FieldFormat<double>::read(from)};
}

std::string FieldFormat<Initializer>::cpp(const Initializer& value) {
  const std::string kind = fmt::format("Initializer::Kind::{}", name_of(value.kind));
  if (value.kind >= Kind::glorot_uniform) return "{" + kind + "}";
  return fmt::format("{{{}, {}}}", kind, value.value);
}

Layer FieldFormat<Layer>::read(const FieldReading& from) {
  return read_recorded_layer(from.setting, where_of(from));
}

Setting FieldFormat<std::vector<Layer>>::write(const std::vector<Layer>& value) {
  Setting::List list;
  for (const Layer& layer : value) list.push_back(write_layer(layer, true));
  return {std::move(list)};
}

std::vector<Layer> FieldFormat<std::vector<Layer>>::read(const FieldReading& from) {
  const auto* list = from.setting.get_if<Setting::List>();
  if (list == nullptr) from.refuse_type(type());
  return read_layers(*list, where_of(from));
}

std::string FieldFormat<std::vector<Layer>>::cpp(const std::vector<Layer>& value) {
  std::string out = "{";
  for (const Layer& layer : value) out += (out.size() > 1 ? ", " : "") + cpp_of(layer);
  return out + "}";
}

using Branches = std::vector<std::vector<Layer>>;

Setting FieldFormat<Branches>::write(const Branches& value) {
  Setting::List list;
  for (const std::vector<Layer>& layers : value) {
    list.push_back(FieldFormat<std::vector<Layer>>::write(layers));
  }
  return {std::move(list)};
}

Branches FieldFormat<Branches>::read(const FieldReading& from) {
  const auto* list = from.setting.get_if<Setting::List>();
  if (list == nullptr) from.refuse_type(type());
  Branches branches;
  for (const Setting& item : *list) {
    const auto* layers = item.get_if<Setting::List>();
    if (layers == nullptr) from.refuse_type(type());
    branches.push_back(
        read_layers(*layers, fmt::format("{} {}", where_of(from), branches.size() + 1)));
  }
  return branches;
}

std::string FieldFormat<Branches>::cpp(const Branches& value) {
  std::string out = "{";
  for (const std::vector<Layer>& layers : value) {
    out += (out.size() > 1 ? ", " : "") + FieldFormat<std::vector<Layer>>::cpp(layers);
  }
  return out + "}";
}

}  // namespace linnet
