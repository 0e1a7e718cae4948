// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/record_source.h>

#include <cstdint>
#include <memory>
#include <utility>

namespace linnet {

/// A source whose records are made of another one's, of the same epoch.
class WrappedSource : public RecordSource {
 public:
  explicit WrappedSource(std::shared_ptr<const RecordSource> source) : source_(std::move(source)) {}
  std::int64_t size() const override { return source_->size(); }
  DType dtype() const override { return source_->dtype(); }
  Shape record() const override { return source_->record(); }
  void read(std::int64_t index, std::span<std::byte> to) const final {
    read_in_epoch(index, 0, to);
  }

 protected:
  const RecordSource& source() const { return *source_; }

 private:
  std::shared_ptr<const RecordSource> source_;
};

}  // namespace linnet
