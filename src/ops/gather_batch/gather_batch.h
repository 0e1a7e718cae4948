// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/random.h"
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
/// StepInfo::records records of that shape; the result is (batch, ...). u8 and f32 records become
/// f32 as record * scale + shift; i32 records (labels) stay. Record i of the batch is
/// record_index(step, i) of the data. The last batch of an epoch must have been cut to what is
/// left.
class GatherBatchOp final : public OpBase<GatherBatchOp, GatherBatchAttrs> {
 public:
  static constexpr std::string_view kName = "gather_batch";
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  void reference(const ReferenceArgs& args) const override;
};

/// Maps positions of an epoch to records, for one step.
class RecordIndex {
 public:
  RecordIndex(const StepInfo& step, bool shuffle);
  /// The record of the batch's sample i.
  std::uint64_t operator()(std::int64_t i) const {
    std::uint64_t position = first_ + static_cast<std::uint64_t>(i);
    if (shuffle_) position = order_(position);
    position += begin_;
    return part_ ? split_(position) : position;
  }

 private:
  std::uint64_t first_;
  std::uint64_t begin_;
  bool shuffle_;
  bool part_;
  Permutation order_;
  Permutation split_;
};

}  // namespace linnet
