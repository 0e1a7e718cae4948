// SPDX-License-Identifier: Apache-2.0
#include "config/network.h"

#include <linnet/expression.h>

#include <algorithm>
#include <map>

#include "base/check.h"
#include "base/join.h"
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
  Setting::List layers;  ///< of the path itself, or of its block
  std::string block;     ///< name of a block, whose paths share weights; empty: none
  SettingPlace block_place;
  std::string to;
};

const std::vector<std::string> kJoins{"concat", "add", "multiply"};

std::string text(const Setting& setting, std::string_view key, const std::string& where) {
  return FieldFormat<std::string>::read({key, where, setting});
}

/// Returns one name, or an array of names.
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

Setting::List layer_list(const Setting& setting, std::string_view key, const std::string& where) {
  const auto* list = setting.get_if<Setting::List>();
  if (list == nullptr) FieldReading{key, where, setting}.refuse_type("an array of tables");
  return *list;
}

Path read_path(const Setting& setting, const std::string& where) {
  const auto* table = setting.get_if<SettingTable>();
  if (table == nullptr) throw SettingError(setting.place, fmt::format("{} must be a table", where));
  Path path{.where = where,
            .place = setting.place,
            .from = {},
            .from_place = {},
            .layers = {},
            .block = {},
            .block_place = {},
            .to = {}};
  for (const auto& [key, value, place] : *table) {
    if (key == "from") {
      path.from = names(value, key, where);
      path.from_place = value.place;
    } else if (key == "join") {
      path.join = FieldReading{key, where, value}.choice(kJoins);
    } else if (key == "layers") {
      path.layers = layer_list(value, key, where);
    } else if (key == "block") {
      path.block = text(value, key, where);
      path.block_place = value.place;
    } else if (key == "to") {
      path.to = text(value, key, where);
    } else {
      throw SettingError(place,
                         fmt::format("unknown key '{}' in {}{}", key, where,
                                     did_you_mean(key, {"from", "join", "layers", "block", "to"})));
    }
  }
  for (const char* needed : {"from", "to"}) {
    if (find(*table, needed) == nullptr) {
      throw SettingError(setting.place, fmt::format("{} needs the key '{}'", where, needed));
    }
  }
  if (!path.block.empty() && find(*table, "layers") != nullptr) {
    throw SettingError(path.block_place,
                       fmt::format("{} expected 'layers' or 'block'; got both", where));
  }
  return path;
}

/// A network of `inputs`, `blocks`, `paths` and `outputs`.
class PathNetwork {
 public:
  PathNetwork(const LayerReader& layers, const Setting& inputs, const Setting& blocks,
              const Setting& paths)
      : layers_(layers) {
    read_blocks(blocks);
    const auto* list = paths.get_if<Setting::List>();
    if (list == nullptr) FieldReading{"paths", kWhere, paths}.refuse_type("an array of tables");
    for (const Setting& path : *list) {
      paths_.push_back(read_path(path, fmt::format("[network.paths {}]", paths_.size() + 1)));
      if (!paths_.back().block.empty()) paths_.back().layers = block_of(paths_.back()).layers;
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
  /// Layers that several paths apply with the same weights.
  struct SharedLayers {
    Setting::List layers;
    Block block;
  };

  void read_blocks(const Setting& blocks) {
    const auto* table = blocks.get_if<SettingTable>();
    if (table == nullptr) {
      FieldReading{"blocks", kWhere, blocks}.refuse_type(
          "a table of layers, such as { encoder = [{ type = \"relu\" }] }");
    }
    for (const SettingEntry& entry : *table) {
      const Setting::List list = layer_list(entry.value, entry.key, "[network.blocks]");
      std::vector<Layer> layers;
      for (const Setting& layer : list) {
        layers.push_back(layers_.read(layer, fmt::format("[network.blocks] {} layer {}", entry.key,
                                                         layers.size() + 1)));
      }
      blocks_.emplace(entry.key, SharedLayers{list, block(entry.key, std::move(layers))});
    }
  }

  const SharedLayers& block_of(const Path& path) const {
    const auto found = blocks_.find(path.block);
    if (found != blocks_.end()) return found->second;
    std::vector<std::string> known;
    for (const auto& [name, layers] : blocks_) known.push_back(name);
    throw SettingError(path.block_place, fmt::format("{}: unknown block '{}'{}", path.where,
                                                     path.block, did_you_mean(path.block, known)));
  }

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
    throw SettingError(place, fmt::format("{}: expected an input or an earlier path; got '{}'{}",
                                          where, name, did_you_mean(name, known, "known are")));
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
    if (!path.block.empty()) {
      x = built_at(file, path.block_place, [&] { return block_of(path).block(x); });
    } else {
      int number = 0;
      for (const Setting& entry : path.layers) {
        const std::string where = fmt::format("{} layer {}", path.where, ++number);
        const Layer layer = layers_.read(entry, where);
        x = built_at(file, entry.place, [&] { return x | layer; });
      }
    }
    if (!values_.emplace(path.to, x).second) {
      throw SettingError(path.place, fmt::format("{}: another input or path has the name '{}'",
                                                 path.where, path.to));
    }
  }

  inline static const std::string kWhere = "[network]";
  const LayerReader& layers_;
  std::map<std::string, SharedLayers> blocks_;
  std::vector<Path> paths_;
  FunctionalNetwork functional_;
  std::map<std::string, Expression> values_;
};

/// Returns what a task knows of the inputs as the table [network] says it.
Setting inputs_of(const std::vector<TaskInput>& known) {
  SettingTable inputs;
  for (const TaskInput& input : known) {
    inputs.push_back({input.name, Setting(Setting::List{Setting(input.width)})});
  }
  return {std::move(inputs)};
}

std::string several(const std::vector<TaskInput>& known) {
  std::vector<std::string> widths;
  std::vector<std::string> names;
  for (const TaskInput& input : known) {
    widths.push_back(fmt::format("{} {}", input.width, input.what));
    names.push_back(fmt::format("from '{}'", input.name));
  }
  return fmt::format("{}; [network] expected 'paths' {}", join(widths, " and "),
                     join(names, " and "));
}

Network read_sequence(Section& s, const LayerReader& layers, const std::vector<TaskInput>& known) {
  if (known.empty()) s.need("input");
  s.need("layers");
  Shape input(s.integers("input"));
  const toml::node* node = s.node("layers");
  s.close();
  if (!known.empty() && !s.has("input")) {
    if (known.size() > 1) s.refuse("layers", "the data have " + several(known));
    input = {known[0].width};
  }
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

Network read_network(Section& s, const LayerReader& layers, const std::vector<TaskInput>& known) {
  if (!s.has("inputs") && !s.has("paths")) return read_sequence(s, layers, known);
  for (const char* one : {"input", "layers"}) {
    if (s.has(one)) {
      s.refuse(one,
               fmt::format("[network] has '{}' and '{}'; expected 'input' and 'layers' for a "
                           "sequence, or 'inputs', 'paths' and 'outputs' for a network of branches",
                           one, s.has("paths") ? "paths" : "inputs"));
    }
  }
  if (known.empty()) s.need("inputs");
  s.need("paths").need("outputs");
  const toml::node* inputs = s.node("inputs");
  const toml::node* blocks = s.node("blocks");
  const toml::node* paths = s.node("paths");
  const toml::node* outputs = s.node("outputs");
  s.close();
  const std::string& file = layers.file();
  return placed_in(file, [&] {
    const Setting shared =
        blocks != nullptr ? setting_from(*blocks, file) : Setting{SettingTable()};
    const Setting from = inputs != nullptr ? setting_from(*inputs, file) : inputs_of(known);
    PathNetwork network(layers, from, shared, setting_from(*paths, file));
    return network.build(setting_from(*outputs, file));
  });
}

}  // namespace linnet::command
