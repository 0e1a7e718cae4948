// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "graph/graph.h"

namespace linnet {

struct GatherBatchAttrs {
  std::int64_t batch = 1;
  bool shuffle = false;  ///< order of the epoch: a keyed permutation, or as stored
  double scale = 1;      ///< applied to the elements as they are converted to f32
  double shift = 0;
  template <class V>
  void fields(V&& visit) {
    visit("batch", batch);
    visit("shuffle", shuffle);
    visit("scale", scale);
    visit("shift", shift);
  }
  bool operator==(const GatherBatchAttrs&) const = default;
};

/// Copies the records of a batch out of a whole data set: data (1, ...) stands for
/// StepInfo::samples records of that shape; the result is (batch, ...). u8 and f32 records become
/// f32 as record * scale + shift, and so do f64 ones, which kernels of fp64 alone take; i32 records
/// (labels) stay. Record i of the batch is
/// RecordIndex(step, shuffle)(i) of the data. The last batch of an epoch must have been cut to what
/// is left.
class GatherBatchOp final : public OpBase<GatherBatchOp, GatherBatchAttrs> {
 public:
  static constexpr std::string_view kName = "gather_batch";
  enum In : std::uint8_t { data };
  enum Out : std::uint8_t { y };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  void reference(const ReferenceArgs& args) const override;
  /// Reads a record for each sample, of the data set that its operand's one record stands for.
  Cost cost(std::span<const ValueType> inputs, std::span<const ValueType> outputs) const override;
};

}  // namespace linnet
