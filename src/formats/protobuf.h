// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace linnet::protobuf {

/// Says how a field of a protobuf message is written.
enum class Wire : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

/// A field of a message: its number, and its value in one of both forms.
struct Field {
  std::uint32_t number = 0;
  Wire wire = Wire::varint;
  std::uint64_t value = 0;      ///< of varint, fixed64 and fixed32
  std::string_view bytes = {};  ///< of bytes: strings, messages, packed numbers
};

/// Reads the fields of one message in order; allocates nothing. Throws DataError for a message that
/// is cut, and for a wire type that protobuf 3 does not write. Messages in messages are bytes: what
/// reads them decides how deep it goes.
class WireReader {
 public:
  explicit WireReader(std::string_view message) : rest_(message) {}
  /// Returns the next field; false at the end.
  bool next(Field& field);

 private:
  std::uint64_t varint();
  std::string_view take(std::uint64_t count);

  std::string_view rest_;
};

/// Appends a repeated field of whole numbers, packed or one by one. Throws DataError for another
/// wire type.
void append_integers(const Field& field, std::vector<std::int64_t>& to);
/// Appends a repeated field of floats (4 bytes each) or doubles (8) to little-endian memory.
void append_fixed(const Field& field, std::size_t bytes_each, std::string& to);
/// Returns the field as text or as a message. Throws DataError for a number.
std::string_view bytes_of(const Field& field);
/// Returns the field as a whole number. Throws DataError for bytes.
std::int64_t integer_of(const Field& field);

/// Appends a whole number's bytes, the lowest first.
template <class T>
void append_little_endian(std::string& to, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i) to += static_cast<char>(value >> (8 * i) & 0xFF);
}

// Each appends one field to a message.
void put_integer(std::string& message, std::uint32_t number, std::int64_t value);
void put_float(std::string& message, std::uint32_t number, float value);
void put_double(std::string& message, std::uint32_t number, double value);
/// A repeated field of doubles, packed.
void put_doubles(std::string& message, std::uint32_t number, std::span<const double> values);
void put_bytes(std::string& message, std::uint32_t number, std::string_view bytes);
/// Writes the header of a field of this many bytes.
void put_bytes_header(std::string& message, std::uint32_t number, std::size_t bytes);

}  // namespace linnet::protobuf
