// SPDX-License-Identifier: Apache-2.0
#include "data/fingerprint.h"

#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/check.h"

namespace linnet {
namespace {

constexpr std::int64_t kRecordsOfSource = 64;

/// Adds up a CRC-32 of what it is given.
class Sum {
 public:
  void add(std::span<const std::byte> bytes) {
    if (bytes.empty()) return;  // for a null pointer zlib begins again
    value_ = ::crc32_z(value_, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
  }
  /// With an end, so that "ab", "c" is not "a", "bc".
  void add(const std::string& text) {
    add(std::as_bytes(std::span(text.c_str(), text.size() + 1)));
  }
  void add(const Tensor& tensor) {
    add(fmt::format("{} {}", to_string(tensor.dtype()), to_string(tensor.shape())));
    add(tensor.bytes());
  }
  void add(const RecordSource& source) {
    add(fmt::format("{} {} {}", source.size(), to_string(source.dtype()),
                    to_string(source.record())));
    std::vector<std::byte> record(static_cast<std::size_t>(source.record().elements()) *
                                  size_of(source.dtype()));
    const std::int64_t count = std::min(source.size(), kRecordsOfSource);
    for (std::int64_t i = 0; i < count; ++i) {
      source.read(i * source.size() / count, record);
      add(record);
    }
  }
  auto value() const { return value_; }

 private:
  decltype(::crc32_z(0, nullptr, 0)) value_ = 0;
};

}  // namespace

std::string fingerprint(const Dataset& data) {
  if (data.size() == 0) return "none";
  Sum sum;
  for (const std::vector<Column>* columns : {&data.inputs(), &data.targets()}) {
    for (const Column& column : *columns) {
      sum.add(column.name);
      if (column.source != nullptr) {
        sum.add(*column.source);
      } else {
        sum.add(column.data);
      }
      sum.add(column.lengths);
    }
    sum.add("");
  }
  sum.add(data.weights());
  if (data.folds().elements() > 0) sum.add(data.folds());  // as before there were folds
  for (const std::string& name : data.classes()) sum.add(name);
  return fmt::format("{} samples, checksum {:08x}", data.size(), sum.value());
}

}  // namespace linnet
