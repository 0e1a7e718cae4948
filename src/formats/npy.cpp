// SPDX-License-Identifier: Apache-2.0
#include "formats/npy.h"

#include <fmt/ranges.h>
#include <linnet/tensor.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/files.h"
#include "base/memory.h"
#include "core/tensor_memory.h"

namespace linnet {
namespace {

static_assert(std::endian::native == std::endian::little, "the file's bytes are used as they are");

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kDataAlignment = 64;  // of the data in a file, by the format's advice

struct TypeName {
  DType dtype;
  std::string_view name;
};
constexpr std::array<TypeName, 7> kTypeNames{{{DType::f32, "<f4"},
                                              {DType::f64, "<f8"},
                                              {DType::f16, "<f2"},
                                              {DType::u8, "|u1"},
                                              {DType::i32, "<i4"},
                                              {DType::i64, "<i8"},
                                              {DType::boolean, "|b1"}}};

struct Header {
  std::string descr;
  bool fortran_order = false;
  std::vector<std::int64_t> dims;
};

/// Reads the Python literal "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }".
class HeaderReader {
 public:
  explicit HeaderReader(std::string_view text) : text_(text) {}

  Header read() {
    Header header;
    bool descr = false;
    bool order = false;
    bool shape = false;
    expect('{');
    while (!take('}')) {
      const std::string key = string();
      expect(':');
      if (key == "descr" && !descr) {
        header.descr = string();
        descr = true;
      } else if (key == "fortran_order" && !order) {
        header.fortran_order = truth();
        order = true;
      } else if (key == "shape" && !shape) {
        header.dims = tuple();
        shape = true;
      } else {
        fail<DataError>("its header has the unknown or repeated key '{}'", key);
      }
      if (!take(',')) {
        expect('}');
        break;
      }
    }
    skip_space();
    require<DataError>(text_.empty() && descr && order && shape,
                       "its header does not give descr, fortran_order and shape alone");
    return header;
  }

 private:
  void skip_space() {
    while (!text_.empty() && (text_.front() == ' ' || text_.front() == '\n')) {
      text_.remove_prefix(1);
    }
  }
  bool take(char c) {
    skip_space();
    if (!text_.starts_with(c)) return false;
    text_.remove_prefix(1);
    return true;
  }
  void expect(char c) { require<DataError>(take(c), "its header is damaged: expected '{}'", c); }
  /// A list of fields (a structured type) is not a string either.
  std::string string() {
    skip_space();
    const char quote = text_.starts_with('"') ? '"' : '\'';
    require<DataError>(text_.starts_with(quote), "its header is damaged or has a structured type");
    const std::size_t end = text_.find(quote, 1);
    require<DataError>(end != std::string_view::npos, "its header is damaged: a string has no end");
    std::string value(text_.substr(1, end - 1));
    text_.remove_prefix(end + 1);
    return value;
  }
  bool truth() {
    skip_space();
    for (const std::string_view word : {"True", "False"}) {
      if (!text_.starts_with(word)) continue;
      text_.remove_prefix(word.size());
      return word == "True";
    }
    fail<DataError>("its header is damaged: fortran_order is neither True nor False");
  }
  std::vector<std::int64_t> tuple() {
    std::vector<std::int64_t> dims;
    expect('(');
    while (!take(')')) {
      skip_space();
      std::int64_t dim = -1;
      const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), dim);
      require<DataError>(error == std::errc() && dim >= 0,
                         "its header is damaged: the shape is not a tuple of "
                         "whole numbers");
      text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
      dims.push_back(dim);
      if (!take(',')) {
        expect(')');
        break;
      }
    }
    return dims;
  }

  std::string_view text_;
};

/// Returns the next `count` bytes, or as many as are left.
std::string take(const ReadBytes& read, std::size_t count) {
  std::string bytes(count, '\0');
  bytes.resize(read(bytes));
  return bytes;
}

/// Reads the magic string, the version and the header of `left` bytes; `left` gets the bytes after
/// them.
Header read_header(const ReadBytes& file, std::uint64_t& left) {
  const std::string start = take(file, kMagic.size() + 2);
  require<DataError>(start.starts_with(kMagic) && start.size() == kMagic.size() + 2,
                     "it is not an .npy file: it does not begin with '\\x93NUMPY' and a version");
  const int major = static_cast<unsigned char>(start[kMagic.size()]);
  const int minor = static_cast<unsigned char>(start[kMagic.size() + 1]);
  require<DataError>(major >= 1 && major <= 3 && minor == 0,
                     "expected version 1.0, 2.0 or 3.0; got {}.{}", major, minor);
  const std::size_t length_bytes = major == 1 ? 2 : 4;
  std::uint32_t length = 0;
  const std::string number = take(file, length_bytes);
  require<DataError>(number.size() == length_bytes && left >= start.size() + length_bytes,
                     "it ends within its header");
  std::memcpy(&length, number.data(), length_bytes);
  left -= start.size() + length_bytes;
  require<DataError>(length <= left, "it is cut short: its header needs {} bytes, and {} are left",
                     length, left);
  left -= length;
  return HeaderReader(take(file, length)).read();
}

}  // namespace

Tensor read_npy_from(const ReadBytes& read, std::uint64_t bytes) {
  std::uint64_t left = bytes;
  const Header header = read_header(read, left);
  std::optional<DType> dtype;
  for (const TypeName& type : kTypeNames) {
    if (type.name == header.descr) dtype = type.dtype;
  }
  require<DataError>(
      dtype.has_value(),
      "its elements are '{}'; expected '<f4', '<f8', '<f2', '|u1', '<i4', '<i8' or '|b1'",
      header.descr);
  require<DataError>(!header.fortran_order,
                     "it is in Fortran order; save numpy.ascontiguousarray(x)");
  const Shape shape(header.dims);
  std::uint64_t expected = size_of(*dtype);
  for (const std::int64_t dim : header.dims) {
    require<DataError>(!__builtin_mul_overflow(expected, static_cast<std::uint64_t>(dim),
                                               &expected),
                       "its shape {} is invalid", to_string(shape));
  }
  require<DataError>(expected == left, "its shape {} needs {} bytes of data; it has {}",
                     to_string(shape), expected, left);
  Tensor tensor = uninitialized_tensor(*dtype, shape);
  const std::span<std::byte> data = tensor.writable_bytes();
  const std::size_t count = read({reinterpret_cast<char*>(data.data()), data.size()});
  require<DataError>(count == data.size(), "it became shorter while it was read");
  if (*dtype == DType::boolean) {
    for (std::byte& b : data) b = static_cast<std::byte>(b != std::byte{});  // no others are bools
  }
  return tensor;
}

Tensor read_npy(const std::filesystem::path& path) {
  InputFile file(path);
  try {
    return in_memory("it", [&] {
      return read_npy_from([&](std::span<char> to) { return file.read(to); }, file.bytes());
    });
  } catch (const Error& error) {
    fail_again<DataError>(error, "cannot read '{}': {}", path.string(), error.what());
  }
}

std::string npy_header(const Tensor& tensor, const std::string& path) {
  std::string_view descr;
  for (const TypeName& type : kTypeNames) {
    if (type.dtype == tensor.dtype()) descr = type.name;
  }
  require(!descr.empty(), "cannot write '{}': NumPy has no type {}", path,
          to_string(tensor.dtype()));
  const Shape& shape = tensor.shape();
  const char* comma = shape.rank() == 1 ? "," : "";  // a tuple of one is written (3,)
  std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}",
                                 descr, fmt::join(shape.dims(), ", "), comma);
  const std::size_t before = kMagic.size() + 2 + sizeof(std::uint16_t);
  const std::size_t total =
      (before + text.size() + 1 + kDataAlignment - 1) / kDataAlignment * kDataAlignment;
  text.resize(total - before - 1, ' ');
  text += '\n';
  std::string header(kMagic);
  header += {'\x01', '\x00', static_cast<char>(text.size() & 0xFFU),
             static_cast<char>(text.size() >> 8U)};
  return header + text;
}

void write_npy(const std::filesystem::path& path, const Tensor& tensor) {
  const std::string header = npy_header(tensor, path.string());
  const Tensor host = tensor.to_host();
  const std::span<const std::byte> data = host.bytes();
  const std::array<std::string_view, 2> pieces{
      header, std::string_view(reinterpret_cast<const char*>(data.data()), data.size())};
  write_file_atomically(path, pieces);
}

}  // namespace linnet
