// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/host_device.h"
#include "graph/graph.h"

namespace linnet {

struct GatherAxisAttrs {
  int axis = 1;        ///< of x, from the front, never the batch's 0
  bool along = false;  ///< whether each element has an id of its own
  template <class V>
  void fields(V&& visit) {
    visit("axis", axis);
    visit("along", along);
  }
  bool operator==(const GatherAxisAttrs&) const = default;
};

/// Describes how x, ids and y lie around the axis: x (rows, dimension, inner), y (rows, ids,
/// inner).
struct GatherAxisLayout {
  GatherAxisLayout(const GatherAxisAttrs& attrs, const Shape& x, const Shape& ids);

  /// Returns the place of the id of y[row, j, i].
  LINNET_HOST_DEVICE std::int64_t id(std::int64_t row, std::int64_t j, std::int64_t i) const {
    return along ? (row * ids + j) * inner + i : row / outer * ids + j;
  }

  std::int64_t rows = 1;   ///< samples * outer
  std::int64_t outer = 1;  ///< axes of a sample before the axis
  std::int64_t dim = 1;
  std::int64_t ids = 1;
  std::int64_t inner = 1;
  bool along = false;
};

/// Elements of x (N, ...) along an axis by their indices. f32, ids i32:
/// - not `along`: ids (N, J...) are each sample's; y has their axes instead of x's axis,
///   y[n, o, j, i] = x[n, o, ids[n, j], i];
/// - `along`: ids have x's axes and dimensions but for the axis, as y has:
///   y[n, o, j, i] = x[n, o, ids[n, o, j, i], i].
/// An id outside [0, dimension) gives NaN; nothing outside x is read.
class GatherAxisOp final : public OpBase<GatherAxisOp, GatherAxisAttrs> {
 public:
  static constexpr std::string_view kName = "gather_axis";
  static constexpr bool kInNetworks = true;
  enum In : std::uint8_t { x, ids };
  enum Out : std::uint8_t { y };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  std::vector<Value> gradient(const GradientArgs& args) const override;
  void reference(const ReferenceArgs& args) const override;
  Cost cost(std::span<const ValueType> inputs, std::span<const ValueType> outputs) const override;
  /// The second operand: ids of steps, or of each step.
  StepsRule steps(std::size_t operand, const Shape& /*x*/, const Shape& /*y*/) const override {
    const bool from_steps = attrs().axis == 1;
    if (operand == In::x) return steps::kept_if(!from_steps, steps::kPicked);
    return steps::kept_if(attrs().along || from_steps, steps::kMixed);
  }
};

struct GatherAxisGradAttrs {
  GatherAxisAttrs gather;
  std::int64_t dim = 1;  ///< x's along the axis
  template <class V>
  void fields(V&& visit) {
    gather.fields(visit);
    visit("dimension", dim);
  }
  bool operator==(const GatherAxisGradAttrs&) const = default;
};

/// dx from (dy, ids): each element is the sum of the dy that read it, in the order of the ids, 0
/// where none did. Ids outside [0, dimension) count for nothing.
class GatherAxisGradOp final : public OpBase<GatherAxisGradOp, GatherAxisGradAttrs> {
 public:
  static constexpr std::string_view kName = "gather_axis_grad";
  static constexpr bool kInNetworks = true;
  enum In : std::uint8_t { dy, ids };
  enum Out : std::uint8_t { dx };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  std::vector<Value> gradient(const GradientArgs& args) const override;
  void reference(const ReferenceArgs& args) const override;
};

}  // namespace linnet
