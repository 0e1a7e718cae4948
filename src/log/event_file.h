// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "formats/protobuf.h"

namespace linnet {

/// A message, field after field, for expressions.
class ProtobufMessage {
 public:
  ProtobufMessage& integer(std::uint32_t field, std::int64_t value) {
    protobuf::put_integer(encoded_, field, value);
    return *this;
  }
  ProtobufMessage& real32(std::uint32_t field, float value) {
    protobuf::put_float(encoded_, field, value);
    return *this;
  }
  ProtobufMessage& real64(std::uint32_t field, double value) {
    protobuf::put_double(encoded_, field, value);
    return *this;
  }
  /// Returns a text, bytes, or a message.
  ProtobufMessage& bytes(std::uint32_t field, std::string_view value) {
    protobuf::put_bytes(encoded_, field, value);
    return *this;
  }
  ProtobufMessage& packed(std::uint32_t field, std::span<const double> values) {
    protobuf::put_doubles(encoded_, field, values);
    return *this;
  }

  const std::string& encoded() const { return encoded_; }

 private:
  std::string encoded_;
};

/// An operator of a graph that TensorBoard draws; "a/b" is drawn inside of "a".
struct GraphNode {
  std::string name;
  std::string op;
  std::vector<std::string> inputs;  ///< names of nodes
  std::vector<std::int64_t> shape;  ///< of the output; -1: the batch
};

/// Returns the checksum of every part of an event file: CRC-32C (Castagnoli), of no bytes 0.
std::uint32_t crc32c(std::string_view bytes);

/// A file of TensorBoard's events, which grows by whole records.
/// Source: event.proto, summary.proto and record_writer.cc of TensorFlow.
class EventFile {
 public:
  /// Makes a file in `folder` that no other log has. Throws Error where that fails.
  explicit EventFile(const std::filesystem::path& folder);

  const std::filesystem::path& path() const { return path_; }

  // Each throws Error where the file cannot be written.
  void scalar(std::string_view tag, double value, std::int64_t step);
  /// Values that are not finite are left out; without any other nothing is written.
  void histogram(std::string_view tag, std::span<const float> values, std::int64_t step);
  void image(std::string_view tag, std::string_view png, std::int64_t height, std::int64_t width,
             std::int64_t channels, std::int64_t step);
  void graph(std::span<const GraphNode> nodes);
  /// Says that what older files of the folder have from this step on does not count any more.
  void begin_at(std::int64_t step);

 private:
  void summary(const ProtobufMessage& value, std::int64_t step);
  void event(const ProtobufMessage& content);

  std::filesystem::path path_;
  AppendFile file_;
};

}  // namespace linnet
