// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/export.h>

#include <memory>
#include <typeindex>
#include <typeinfo>
#include <utility>

namespace linnet {
class NetworkBuilder;
}

LINNET_API_BEGIN
namespace linnet {

/// Holds any layer: one of <linnet/layers.h>, or any copyable type with a member
/// `void build(NetworkBuilder&) const`. Layers are descriptions: they own no memory and can be used
/// in several networks. Copies share the layer, which never changes.
class Layer {
 public:
  /// Holds a layer of any type.
  template <class L>
  requires requires(const L& layer, NetworkBuilder& builder) { layer.build(builder); }
  Layer(L layer)  // NOLINT(*-explicit-*)
      : type_(typeid(L)),
        layer_(std::make_shared<const L>(std::move(layer))),
        build_([](const void* l, NetworkBuilder& b) { static_cast<const L*>(l)->build(b); }) {}

  /// Appends the layer's operators to the network that `builder` makes.
  void build(NetworkBuilder& builder) const { build_(layer_.get(), builder); }

  /// Returns the layer if it is an L, else null.
  template <class L>
  const L* get_if() const {
    return type_ == typeid(L) ? static_cast<const L*>(layer_.get()) : nullptr;
  }

  /// Returns the type of the layer.
  std::type_index type() const { return type_; }
  /// Returns the layer itself, of type().
  const void* get() const { return layer_.get(); }

 private:
  std::type_index type_;
  std::shared_ptr<const void> layer_;
  void (*build_)(const void*, NetworkBuilder&);
};

}  // namespace linnet
LINNET_API_END
