// SPDX-License-Identifier: Apache-2.0
#include "log/event_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>

#include "base/check.h"
#include "base/file_calls.h"
#include "base/process.h"

namespace linnet {
namespace {

namespace fs = std::filesystem;
using protobuf::append_little_endian;

/// As TensorFlow stores checksums, so that a checksum of data that hold one is not a trivial
/// number.
std::uint32_t masked_crc(std::string_view bytes) {
  const std::uint32_t crc = crc32c(bytes);
  return std::rotr(crc, 15) + 0xA282EAD8U;
}

double seconds_since_epoch() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

/// Makes the file, which did not exist.
fs::path new_event_file(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  require(!error, "cannot make the folder '{}': {}", folder.string(), error.message());
  const auto seconds = static_cast<std::int64_t>(seconds_since_epoch());
  for (int attempt = 0;; ++attempt) {
    fs::path path = folder / fmt::format("events.out.tfevents.{}.{}.{}.{}", seconds, host_name(),
                                         process_id(), attempt);
    const int made = calls::open(path, O_WRONLY | O_CREAT | O_EXCL, 0666);
    if (made >= 0) {
      calls::close(made);
      return path;
    }
    const int reason = errno;
    require(reason == EEXIST, "cannot write '{}': {}", path.string(), std::strerror(reason));
  }
}

}  // namespace

std::uint32_t crc32c(std::string_view bytes) {
  static const std::array<std::uint32_t, 256> kTable = [] {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t i = 0; i < 256; ++i) {
      std::uint32_t crc = i;
      for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ ((crc & 1) != 0 ? 0x82F63B78U : 0U);
      table[i] = crc;
    }
    return table;
  }();
  std::uint32_t crc = ~0U;
  for (const char c : bytes) {
    crc = crc >> 8 ^ kTable[(crc ^ static_cast<unsigned char>(c)) & 0xFF];
  }
  return ~crc;
}

EventFile::EventFile(const fs::path& folder) : path_(new_event_file(folder)), file_(path_) {
  event(ProtobufMessage().bytes(3, "brain.Event:2"));
}

void EventFile::event(const ProtobufMessage& content) {
  const std::string data =
      ProtobufMessage().real64(1, seconds_since_epoch()).encoded() + content.encoded();
  std::string record;
  append_little_endian(record, static_cast<std::uint64_t>(data.size()));
  append_little_endian(record, masked_crc(record));
  record += data;
  append_little_endian(record, masked_crc(data));
  file_.append(record);
}

void EventFile::summary(const ProtobufMessage& value, std::int64_t step) {
  const ProtobufMessage values = ProtobufMessage().bytes(1, value.encoded());
  event(ProtobufMessage().integer(2, step).bytes(5, values.encoded()));
}

void EventFile::scalar(std::string_view tag, double value, std::int64_t step) {
  summary(ProtobufMessage().bytes(1, tag).real32(2, static_cast<float>(value)), step);
}

void EventFile::histogram(std::string_view tag, std::span<const float> values, std::int64_t step) {
  constexpr std::size_t kBuckets = 64;
  std::vector<double> finite;
  for (const float value : values) {
    if (std::isfinite(value)) finite.push_back(value);
  }
  if (finite.empty()) return;
  const auto [least, most] = std::ranges::minmax(finite);
  const double width = most - least;
  std::vector<double> counts(width > 0 ? kBuckets : 1);
  std::vector<double> limits;
  for (std::size_t i = 1; i < counts.size(); ++i) {
    limits.push_back(least + width * static_cast<double>(i) / static_cast<double>(counts.size()));
  }
  limits.push_back(most);
  double sum = 0;
  double squares = 0;
  for (const double value : finite) {
    const auto bucket = std::ranges::lower_bound(limits, value) - limits.begin();
    ++counts[static_cast<std::size_t>(bucket)];
    sum += value;
    squares += value * value;
  }
  const ProtobufMessage histogram = ProtobufMessage()
                                        .real64(1, least)
                                        .real64(2, most)
                                        .real64(3, static_cast<double>(finite.size()))
                                        .real64(4, sum)
                                        .real64(5, squares)
                                        .packed(6, limits)
                                        .packed(7, counts);
  summary(ProtobufMessage().bytes(1, tag).bytes(5, histogram.encoded()), step);
}

void EventFile::image(std::string_view tag, std::string_view png, std::int64_t height,
                      std::int64_t width, std::int64_t channels, std::int64_t step) {
  const ProtobufMessage image =
      ProtobufMessage().integer(1, height).integer(2, width).integer(3, channels).bytes(4, png);
  summary(ProtobufMessage().bytes(1, tag).bytes(4, image.encoded()), step);
}

void EventFile::begin_at(std::int64_t step) {
  constexpr int kStart = 1;  // of SessionLog.SessionStatus
  const ProtobufMessage session = ProtobufMessage().integer(1, kStart);
  event(ProtobufMessage().integer(2, step).bytes(7, session.encoded()));
}

void EventFile::graph(std::span<const GraphNode> nodes) {
  ProtobufMessage graph;
  for (const GraphNode& node : nodes) {
    ProtobufMessage message;
    message.bytes(1, node.name).bytes(2, node.op);
    for (const std::string& input : node.inputs) message.bytes(3, input);
    ProtobufMessage shape;
    for (const std::int64_t dim : node.shape) {
      shape.bytes(2, ProtobufMessage().integer(1, dim).encoded());
    }
    const ProtobufMessage list = ProtobufMessage().bytes(7, shape.encoded());
    const ProtobufMessage value = ProtobufMessage().bytes(1, list.encoded());
    const ProtobufMessage entry =
        ProtobufMessage().bytes(1, "_output_shapes").bytes(2, value.encoded());
    graph.bytes(1, message.bytes(5, entry.encoded()).encoded());
  }
  graph.bytes(4, ProtobufMessage().integer(1, 22).encoded());
  event(ProtobufMessage().bytes(4, graph.encoded()));
}

}  // namespace linnet
