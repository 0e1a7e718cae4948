// SPDX-License-Identifier: Apache-2.0
#include "config/network.h"

#include <linnet/expression.h>

#include <algorithm>
#include <map>

#include "base/check.h"
#include "describe/field.h"
#include "describe/nearest.h"

namespace linnet::command {
namespace {

/// Calls `build`; what the network says of a layer gets the layer's place before it.
template <class F>
auto built_at(const std::string& file, SettingPlace place, F&& build) {
  return placed_in(file, [&] {
    try {
      return build();
    } catch (const SettingError&) {
      throw;
    } catch (const Error& error) {
      throw SettingError(place, error.what());
    }
  });
}

/// One way through a network.
struct Path {
  std::string where;  ///< "[network.paths 2]"
  SettingPlace place;
  std::vector<std::string> from;
  SettingPlace from_place;
  std::size_t join = 0;  ///< of kJoins
  Setting::List layers;
  std::string to;
};

const std::vector<std::string> kJoins{"concat", "add", "multiply"};

std::string text(const Setting& setting, std::string_view key, const std::string& where) {
  return FieldFormat<std::string>::read({key, where, setting});
}

/// One name, or an array of names.
std::vector<std::string> names(const Setting& setting, std::string_view key,
                               const std::string& where) {
  if (setting.get_if<std::string>() != nullptr) return {text(setting, key, where)};
  const auto* list = setting.get_if<Setting::List>();
  if (list == nullptr || list->empty()) {
    FieldReading{key, where, setting}.refuse_type("a name or an array of names");
  }
  std::vector<std::string> all;
  for (const Setting& item : *list) all.push_back(text(item, key, where));
  return all;
}

Path read_path(const Setting& setting, const std::string& where) {
  const auto* table = setting.get_if<SettingTable>();
  if (table == nullptr) throw SettingError(setting.place, fmt::format("{} must be a table", where));
  Path path{
      .where = where, .place = setting.place, .from = {}, .from_place = {}, .layers = {}, .to = {}};
  for (const auto& [key, value, place] : *table) {
    if (key == "from") {
      path.from = names(value, key, where);
      path.from_place = value.place;
    } else if (key == "join") {
      path.join = FieldReading{key, where, value}.choice(kJoins);
    } else if (key == "layers") {
      const auto* list = value.get_if<Setting::List>();
      if (list == nullptr) FieldReading{key, where, value}.refuse_type("an array of tables");
      path.layers = *list;
    } else if (key == "to") {
      path.to = text(value, key, where);
    } else {
      throw SettingError(place, fmt::format("unknown key '{}' in {}{}", key, where,
                                            did_you_mean(key, {"from", "join", "layers", "to"})));
    }
  }
  for (const char* needed : {"from", "to"}) {
    if (find(*table, needed) == nullptr) {
      throw SettingError(setting.place, fmt::format("{} needs the key '{}'", where, needed));
    }
  }
  return path;
}

/// A network of `inputs`, `paths` and `outputs`.
class PathNetwork {
 public:
  PathNetwork(const LayerReader& layers, const Setting& inputs, const Setting& paths)
      : layers_(layers) {
    const auto* list = paths.get_if<Setting::List>();
    if (list == nullptr) FieldReading{"paths", kWhere, paths}.refuse_type("an array of tables");
    for (const Setting& path : *list) {
      paths_.push_back(read_path(path, fmt::format("[network.paths {}]", paths_.size() + 1)));
    }
    read_inputs(inputs);
    for (const Path& path : paths_) follow(path);
  }

  Network build(const Setting& outputs) {
    std::vector<std::pair<std::string, Expression>> named;
    for (const std::string& name : names(outputs, "outputs", kWhere)) {
      named.emplace_back(name, value(name, outputs.place, kWhere));
    }
    return built_at(layers_.file(), outputs.place, [&] { return functional_.build(named); });
  }

 private:
  /// Ids are what an embedding reads; `lengths` may stand before it.
  bool holds_ids(const std::string& input) const {
    return std::any_of(paths_.begin(), paths_.end(), [&](const Path& path) {
      if (path.from != std::vector<std::string>{input}) return false;
      for (const Setting& layer : path.layers) {
        const std::string type = layers_.first_type(layer);
        if (type != "lengths") return type == "embedding";
      }
      return false;
    });
  }

  void read_inputs(const Setting& inputs) {
    const auto* table = inputs.get_if<SettingTable>();
    if (table == nullptr || table->empty()) {
      FieldReading{"inputs", kWhere, inputs}.refuse_type(
          "a table of shapes, such as { image = [28, 28, 1] }");
    }
    for (const SettingEntry& entry : *table) {
      const FieldReading from{entry.key, "[network] inputs", entry.value};
      const Shape shape = FieldFormat<Shape>::read(from);
      for (const std::int64_t dim : shape.dims()) {
        if (dim < 1)
          from.refuse(fmt::format("'{}' in {} must hold integers of at least 1; got {}", entry.key,
                                  from.where, to_toml(entry.value)));
      }
      built_at(layers_.file(), entry.value.place, [&] {
        values_.emplace(entry.key,
                        functional_.input(entry.key, shape,
                                          holds_ids(entry.key) ? DType::i32 : DType::f32));
      });
    }
  }

  Expression value(const std::string& name, SettingPlace place, const std::string& where) const {
    const auto found = values_.find(name);
    if (found != values_.end()) return found->second;
    std::vector<std::string> known;
    for (const auto& [other, expression] : values_) known.push_back(other);
    const std::string near = did_you_mean(name, known);
    throw SettingError(
        place, fmt::format("{}: no input, and no path before it, is called '{}'{}", where, name,
                           near.empty() ? fmt::format("; there are {}", listed(known)) : near));
  }

  Expression joined(const Path& path) const {
    std::vector<Expression> parts;
    for (const std::string& name : path.from) {
      parts.push_back(value(name, path.from_place, path.where));
    }
    if (parts.size() == 1) return parts.front();
    if (path.join == 0) return concat(parts, static_cast<int>(parts.front().shape().rank()) - 1);
    Expression all = parts.front();
    for (std::size_t i = 1; i < parts.size(); ++i) {
      all = path.join == 1 ? all + parts[i] : all * parts[i];
    }
    return all;
  }

  void follow(const Path& path) {
    const std::string& file = layers_.file();
    Expression x = built_at(file, path.from_place, [&] { return joined(path); });
    int number = 0;
    for (const Setting& entry : path.layers) {
      const std::string where = fmt::format("{} layer {}", path.where, ++number);
      const Layer layer = layers_.read(entry, where);
      x = built_at(file, entry.place, [&] { return x | layer; });
    }
    if (!values_.emplace(path.to, x).second) {
      throw SettingError(path.place, fmt::format("{}: another value is called '{}' already",
                                                 path.where, path.to));
    }
  }

  inline static const std::string kWhere = "[network]";
  const LayerReader& layers_;
  std::vector<Path> paths_;
  FunctionalNetwork functional_;
  std::map<std::string, Expression> values_;
};

Network read_sequence(Section& s, const LayerReader& layers) {
  s.need("input").need("layers");
  const Shape input(s.integers("input"));
  const toml::node* node = s.node("layers");
  s.close();
  if (input.rank() == 0) s.refuse("input", "'input' in [network] must not be empty");
  if (!node->is_array()) s.refuse_type("layers", "an array of tables");
  const Setting entries = setting_from(*node, layers.file());
  const auto& list = *entries.get_if<Setting::List>();
  // An embedding in front reads ids.
  const auto first = std::find_if(list.begin(), list.end(), [&](const Setting& entry) {
    return layers.first_type(entry) != "lengths";
  });
  const bool ids = first != list.end() && layers.first_type(*first) == "embedding";
  Network network(input, {}, ids ? DType::i32 : DType::f32);
  int number = 0;
  for (const Setting& entry : list) {
    const Layer layer = layers.read(entry, fmt::format("[network.layers {}]", ++number));
    built_at(layers.file(), entry.place, [&] { network.add(layer); });
  }
  return network;
}

}  // namespace

Network read_network(Section& s, const LayerReader& layers) {
  if (!s.has("inputs") && !s.has("paths")) return read_sequence(s, layers);
  for (const char* one : {"input", "layers"}) {
    if (s.has(one)) {
      s.refuse(one,
               fmt::format("[network] has '{}' and '{}': 'input' and 'layers' make a sequence, "
                           "'inputs', 'paths' and 'outputs' a network of branches",
                           one, s.has("paths") ? "paths" : "inputs"));
    }
  }
  s.need("inputs").need("paths").need("outputs");
  const toml::node* inputs = s.node("inputs");
  const toml::node* paths = s.node("paths");
  const toml::node* outputs = s.node("outputs");
  s.close();
  const std::string& file = layers.file();
  return placed_in(file, [&] {
    PathNetwork network(layers, setting_from(*inputs, file), setting_from(*paths, file));
    return network.build(setting_from(*outputs, file));
  });
}

}  // namespace linnet::command
