// SPDX-License-Identifier: Apache-2.0
#include "nn/layer_fields.h"

#include <algorithm>
#include <array>

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

void push(std::vector<double>& to, std::initializer_list<std::int64_t> numbers) {
  for (const std::int64_t number : numbers) to.push_back(static_cast<double>(number));
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

Setting FieldFormat<Size2d>::write(const Size2d& value) {
  if (value.height == value.width) return {value.height};
  return {Setting::List{{value.height}, {value.width}}};
}

Size2d FieldFormat<Size2d>::read(const FieldReading& from) {
  if (const auto* both = from.setting.get_if<std::int64_t>()) return *both;
  const std::vector<std::int64_t> sizes = integers(from.setting, 2);
  if (sizes.empty()) from.refuse_type(type());
  return {sizes[0], sizes[1]};
}

std::string FieldFormat<Size2d>::cpp(const Size2d& value) {
  if (value.height == value.width) return std::to_string(value.height);
  return fmt::format("{{{}, {}}}", value.height, value.width);
}

void FieldFormat<Size2d>::numbers(const Size2d& value, std::vector<double>& to) {
  push(to, {value.height, value.width});
}

Setting FieldFormat<Padding2d>::write(const Padding2d& p) {
  if (p.mode == Padding2d::Mode::valid) return {std::string("valid")};
  if (p.mode == Padding2d::Mode::same) return {std::string("same")};
  if (p.top == p.bottom && p.top == p.left && p.top == p.right) return {p.top};
  return {Setting::List{{p.top}, {p.bottom}, {p.left}, {p.right}}};
}

Padding2d FieldFormat<Padding2d>::read(const FieldReading& from) {
  if (const auto* all = from.setting.get_if<std::int64_t>()) return Padding2d::all(*all);
  if (from.setting.get_if<std::string>() != nullptr) {
    return from.choice({"valid", "same"}) == 0 ? Padding2d::valid() : Padding2d::same();
  }
  const std::vector<std::int64_t> sides = integers(from.setting, 4);
  if (sides.empty()) from.refuse_type(type());
  return {Padding2d::Mode::fixed, sides[0], sides[1], sides[2], sides[3]};
}

std::string FieldFormat<Padding2d>::cpp(const Padding2d& p) {
  const Setting written = write(p);
  if (const auto* mode = written.get_if<std::string>()) return "Padding2d::" + *mode + "()";
  if (written.get_if<std::int64_t>() != nullptr) return fmt::format("Padding2d::all({})", p.top);
  return fmt::format("{{Padding2d::Mode::fixed, {}, {}, {}, {}}}", p.top, p.bottom, p.left,
                     p.right);
}

void FieldFormat<Padding2d>::numbers(const Padding2d& p, std::vector<double>& to) {
  if (p.mode == Padding2d::Mode::fixed) push(to, {p.top, p.bottom, p.left, p.right});
}

Setting FieldFormat<Size3d>::write(const Size3d& value) {
  if (value == Size3d(value.depth)) return {value.depth};
  return {Setting::List{{value.depth}, {value.height}, {value.width}}};
}

Size3d FieldFormat<Size3d>::read(const FieldReading& from) {
  if (const auto* all = from.setting.get_if<std::int64_t>()) return *all;
  const std::vector<std::int64_t> sizes = integers(from.setting, 3);
  if (sizes.empty()) from.refuse_type(type());
  return {sizes[0], sizes[1], sizes[2]};
}

std::string FieldFormat<Size3d>::cpp(const Size3d& value) {
  if (value == Size3d(value.depth)) return std::to_string(value.depth);
  return fmt::format("{{{}, {}, {}}}", value.depth, value.height, value.width);
}

void FieldFormat<Size3d>::numbers(const Size3d& value, std::vector<double>& to) {
  push(to, {value.depth, value.height, value.width});
}

Setting FieldFormat<Padding3d>::write(const Padding3d& p) {
  if (p.mode == Padding3d::Mode::valid) return {std::string("valid")};
  if (p.mode == Padding3d::Mode::same) return {std::string("same")};
  const std::array sides{p.front, p.back, p.top, p.bottom, p.left, p.right};
  if (std::ranges::count(sides, p.front) == std::ssize(sides)) return {p.front};
  Setting::List list;
  for (const std::int64_t side : sides) list.push_back({side});
  return {list};
}

Padding3d FieldFormat<Padding3d>::read(const FieldReading& from) {
  if (const auto* all = from.setting.get_if<std::int64_t>()) return Padding3d::all(*all);
  if (from.setting.get_if<std::string>() != nullptr) {
    return from.choice({"valid", "same"}) == 0 ? Padding3d::valid() : Padding3d::same();
  }
  const std::vector<std::int64_t> sides = integers(from.setting, 6);
  if (sides.empty()) from.refuse_type(type());
  return {Padding3d::Mode::fixed, sides[0], sides[1], sides[2], sides[3], sides[4], sides[5]};
}

std::string FieldFormat<Padding3d>::cpp(const Padding3d& p) {
  const Setting written = write(p);
  if (const auto* mode = written.get_if<std::string>()) return "Padding3d::" + *mode + "()";
  if (written.get_if<std::int64_t>() != nullptr) return fmt::format("Padding3d::all({})", p.front);
  return fmt::format("{{Padding3d::Mode::fixed, {}, {}, {}, {}, {}, {}}}", p.front, p.back, p.top,
                     p.bottom, p.left, p.right);
}

void FieldFormat<Padding3d>::numbers(const Padding3d& p, std::vector<double>& to) {
  if (p.mode == Padding3d::Mode::fixed) {
    push(to, {p.front, p.back, p.top, p.bottom, p.left, p.right});
  }
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
