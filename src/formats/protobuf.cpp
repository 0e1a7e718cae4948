// SPDX-License-Identifier: Apache-2.0
#include "formats/protobuf.h"

#include <bit>
#include <cstring>

#include "base/check.h"

namespace linnet::protobuf {
namespace {

constexpr int kMostVarintBytes = 10;

void put_varint(std::string& message, std::uint64_t value) {
  while (value >= 0x80) {
    message.push_back(static_cast<char>((value & 0x7f) | 0x80));
    value >>= 7;
  }
  message.push_back(static_cast<char>(value));
}

void put_tag(std::string& message, std::uint32_t number, Wire wire) {
  put_varint(message, (std::uint64_t{number} << 3) | static_cast<std::uint64_t>(wire));
}

std::uint64_t little_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) {
    value = (value << 8) | static_cast<unsigned char>(bytes[i]);
  }
  return value;
}

}  // namespace

std::uint64_t WireReader::varint() {
  std::uint64_t value = 0;
  for (int i = 0; i < kMostVarintBytes; ++i) {
    require<DataError>(!rest_.empty(), "the file ends within a number");
    const auto byte = static_cast<unsigned char>(rest_.front());
    rest_.remove_prefix(1);
    value |= std::uint64_t{byte & 0x7fU} << (7 * i);
    if (byte < 0x80) return value;
  }
  fail<DataError>("a number has more than {} bytes", kMostVarintBytes);
}

std::string_view WireReader::take(std::uint64_t count) {
  require<DataError>(count <= rest_.size(), "a field needs {} bytes, but {} are left", count,
                     rest_.size());
  const std::string_view taken = rest_.substr(0, count);
  rest_.remove_prefix(count);
  return taken;
}

bool WireReader::next(Field& field) {
  if (rest_.empty()) return false;
  const std::uint64_t tag = varint();
  const std::uint64_t number = tag >> 3;
  require<DataError>(number > 0 && number < (1U << 29), "a field has the number {}", number);
  field = {.number = static_cast<std::uint32_t>(number)};
  switch (tag & 7) {
    case 0: field.value = varint(); break;
    case 1: field.value = little_endian(take(8)); break;
    case 2: field.bytes = take(varint()); break;
    case 5: field.value = little_endian(take(4)); break;
    default: fail<DataError>("a field has the obsolete wire type {}", tag & 7);
  }
  field.wire = static_cast<Wire>(tag & 7);
  return true;
}

void append_integers(const Field& field, std::vector<std::int64_t>& to) {
  if (field.wire != Wire::bytes) {
    to.push_back(integer_of(field));
    return;
  }
  // A packed field is varints alone: read as a message whose tags are left out.
  std::string_view rest = field.bytes;
  while (!rest.empty()) {
    std::uint64_t value = 0;
    int shift = 0;
    for (;; shift += 7) {
      require<DataError>(!rest.empty() && shift < 7 * kMostVarintBytes,
                         "a list of numbers ends within a number");
      const auto byte = static_cast<unsigned char>(rest.front());
      rest.remove_prefix(1);
      value |= std::uint64_t{byte & 0x7fU} << shift;
      if (byte < 0x80) break;
    }
    to.push_back(static_cast<std::int64_t>(value));
  }
}

void append_fixed(const Field& field, std::size_t bytes_each, std::string& to) {
  if (field.wire == Wire::bytes) {
    require<DataError>(field.bytes.size() % bytes_each == 0,
                       "a list has {} bytes; expected a multiple of {}", field.bytes.size(),
                       bytes_each);
    to.append(field.bytes);
    return;
  }
  require<DataError>(field.wire == (bytes_each == 4 ? Wire::fixed32 : Wire::fixed64),
                     "field {} is not a number of {} bytes", field.number, bytes_each);
  for (std::size_t i = 0; i < bytes_each; ++i) {
    to.push_back(static_cast<char>((field.value >> (8 * i)) & 0xff));
  }
}

std::string_view bytes_of(const Field& field) {
  require<DataError>(field.wire == Wire::bytes, "field {} is a number, not bytes", field.number);
  return field.bytes;
}

std::int64_t integer_of(const Field& field) {
  require<DataError>(field.wire == Wire::varint, "field {} is not a whole number", field.number);
  return static_cast<std::int64_t>(field.value);
}

void put_integer(std::string& message, std::uint32_t number, std::int64_t value) {
  put_tag(message, number, Wire::varint);
  put_varint(message, static_cast<std::uint64_t>(value));
}

void put_float(std::string& message, std::uint32_t number, float value) {
  put_tag(message, number, Wire::fixed32);
  append_little_endian(message, std::bit_cast<std::uint32_t>(value));
}

void put_double(std::string& message, std::uint32_t number, double value) {
  put_tag(message, number, Wire::fixed64);
  append_little_endian(message, std::bit_cast<std::uint64_t>(value));
}

void put_doubles(std::string& message, std::uint32_t number, std::span<const double> values) {
  put_bytes_header(message, number, values.size_bytes());
  for (const double value : values) {
    append_little_endian(message, std::bit_cast<std::uint64_t>(value));
  }
}

void put_bytes_header(std::string& message, std::uint32_t number, std::size_t bytes) {
  put_tag(message, number, Wire::bytes);
  put_varint(message, bytes);
}

void put_bytes(std::string& message, std::uint32_t number, std::string_view bytes) {
  put_bytes_header(message, number, bytes.size());
  message.append(bytes);
}

}  // namespace linnet::protobuf
