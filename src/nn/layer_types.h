// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/layer.h>

#include <concepts>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <typeindex>
#include <utility>
#include <vector>

#include "describe/docstrings.h"
#include "describe/field.h"

namespace linnet {

/// A kind of layers: the fields that files and help pages know, and what it does with shapes.
struct LayerType {
  Description fields;
  std::string_view in;             ///< shapes: "(N, H, W, C)"
  std::string_view out;            ///< "(N, H', W', filters)"
  std::string_view old_kind = {};  ///< what files called it once
  Layer example;

  std::string_view kind() const { return fields.kind; }
  std::type_index type() const { return example.type(); }
  /// Makes a default layer with the fields that a table gives; see Description::read().
  Layer (*read)(const LayerType& type, const Setting& table, const std::string& where) = nullptr;
};

/// All kinds of layers, each declared by its own file: void register_<file>(LayerTypes&). Two are
/// for records in model files alone and are not in all(): "custom" and "block".
class LayerTypes {
 public:
  /// Description of a type, as its file gives it; `fields` lists all variables of L, in order, but
  /// its name.
  struct Given {
    std::string_view kind;
    std::string_view name;
    std::string_view in;
    std::string_view out;
    std::vector<Field> fields;
    std::string_view old_kind = {};
  };
  template <class L>
  void add(Given given, L example) {
    add(make(std::move(given), std::move(example)));
  }
  template <class L>
  void add_for_records(Given given) {
    records_.push_back(make(std::move(given), L{}));
  }

  const std::vector<LayerType>& all() const { return all_; }
  /// Returns null for a kind that nobody described.
  const LayerType* find(std::string_view kind) const;
  const LayerType* find(std::type_index type) const;
  /// Reads a layer in a record.
  const LayerType* find_recorded(std::string_view kind) const;

 private:
  template <class L>
  static LayerType make(Given given, L example) {
    given.fields.push_back(field<&L::name>("name"));
    return {.fields = {.kind = given.kind,
                       .name = given.name,
                       .fields = std::move(given.fields),
                       .defaults = std::make_shared<const L>()},
            .in = given.in,
            .out = given.out,
            .old_kind = given.old_kind,
            .example = std::move(example),
            .read = [](const LayerType& type, const Setting& table,
                       const std::string& where) -> Layer {
              L layer;
              type.fields.read(&layer, table, where, {"type"});
              return layer;
            }};
  }
  void add(LayerType type);

  std::vector<LayerType> all_;
  std::vector<LayerType> records_;
};

/// Returns the layers that CMake knows (linnet_network_layer()).
const LayerTypes& layer_types();

/// Reads { type = "conv2d", filters = 16 }, or "relu" of a layer that needs no more. Throws
/// SettingError for an unknown type, with the nearest one, and for what its fields refuse.
Layer read_layer(const Setting& setting, const std::string& where);
/// Does the same for a record in a model file, which may also be custom, or a block.
Layer read_recorded_layer(const Setting& setting, const std::string& where);

/// { name = "stem", type = "conv2d", filters = 16, ... }: all fields, or those that differ from the
/// defaults; no name where the layer has none. A layer that nobody described is of type "custom".
Setting write_layer(const Layer& layer, bool all);
/// Conv2d{.filters = 16}
std::string cpp_of(const Layer& layer);

/// Returns the texts of the layers' headers, as CMake found them.
std::span<const std::string_view> layer_headers();
/// Returns what the headers say of a layer's struct.
StructDocs docs_of(const LayerType& type);

/// Layers in a layer that nobody described, or in a block, as a model file records them.
struct RecordedLayers {
  std::vector<Layer> layers = {};
  std::string name = {};
  void build(NetworkBuilder& builder) const;
};
struct RecordedBlock {
  std::string weights = {};  ///< the block whose weights it has
  std::vector<Layer> layers = {};
  std::string name = {};
  void build(NetworkBuilder& builder) const;
};

}  // namespace linnet
