// SPDX-License-Identifier: Apache-2.0
#include "formats/safetensors.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/ascii.h"
#include "base/check.h"
#include "base/files.h"
#include "base/json.h"
#include "base/memory.h"
#include "core/dims.h"
#include "core/tensor_memory.h"

namespace linnet {
namespace {

using Json = nlohmann::json;

static_assert(std::endian::native == std::endian::little, "the file's bytes are used as they are");

constexpr const char* kMetadata = "__metadata__";
constexpr std::size_t kLengthBytes = 8;
constexpr std::uint64_t kMaxHeader = 100'000'000;  // the format's own limit
constexpr std::size_t kMaxDepth = 3;               // the header, a tensor, its shape or offsets

/// An element type of the format: what it becomes, and how many bytes it has in a file.
struct TypeName {
  std::string_view name;
  DType dtype;
  std::size_t bytes;
};
// The first of a dtype is the one that is written.
constexpr std::array<TypeName, 13> kTypeNames{{{"F32", DType::f32, 4},
                                               {"F64", DType::f64, 8},
                                               {"F16", DType::f16, 2},
                                               {"BF16", DType::bf16, 2},
                                               {"U8", DType::u8, 1},
                                               {"I32", DType::i32, 4},
                                               {"I64", DType::i64, 8},
                                               {"BOOL", DType::boolean, 1},
                                               {"I8", DType::i32, 1},
                                               {"I16", DType::i32, 2},
                                               {"U16", DType::i32, 2},
                                               {"U32", DType::i64, 4},
                                               {"U64", DType::i64, 8}}};

std::string_view name_of(DType dtype) {
  return std::find_if(kTypeNames.begin(), kTypeNames.end(),
                      [&](const TypeName& t) { return t.dtype == dtype; })
      ->name;
}

/// Returns bytes of such a tensor, or nothing where that many can't be counted.
std::optional<std::uint64_t> bytes_of(std::uint64_t element, const Shape& shape) {
  std::uint64_t bytes = element;
  for (const std::int64_t dim : shape.dims()) {
    if (dim < 0 || __builtin_mul_overflow(bytes, static_cast<std::uint64_t>(dim), &bytes)) {
      return {};
    }
  }
  return bytes;
}

Json parse_header(std::string_view text) {
  require<DataError>(text.starts_with('{') && text.find('\0') == std::string_view::npos,
                     "its header is not a JSON object");
  return parse_json<Json>(text, kMaxDepth, "its header");
}

/// Returns a list of whole numbers that fit an int64, or nothing.
std::optional<std::vector<std::int64_t>> whole_numbers(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_array()) return {};
  std::vector<std::int64_t> numbers;
  for (const Json& number : *found) {
    if (!number.is_number_unsigned()) return {};
    const auto value = number.get<std::uint64_t>();
    if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return {};
    numbers.push_back(static_cast<std::int64_t>(value));
  }
  return numbers;
}

const TypeName& read_type(const std::string& name, const Json& object) {
  const auto found = object.find("dtype");
  require<DataError>(found != object.end() && found->is_string(), "tensor '{}' has no dtype", name);
  const auto& text = found->get_ref<const std::string&>();
  std::string known;
  for (const TypeName& type : kTypeNames) {
    if (type.name == text) return type;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", type.name);
  }
  fail<DataError>("tensor '{}' has the element type '{}'; expected one of {}", name, text, known);
}

/// A tensor as it stands in the file.
struct Stored {
  TensorView view;
  const TypeName* type;
};

Stored read_tensor(const std::string& name, const Json& object, std::span<const std::byte> data) {
  require<DataError>(object.is_object() && object.size() == 3,
                     "tensor '{}' is not described by dtype, shape and data_offsets alone", name);
  const TypeName& type = read_type(name, object);
  const auto dims = whole_numbers(object, "shape");
  require<DataError>(dims.has_value(), "tensor '{}' has no shape of whole numbers", name);
  const auto offsets = whole_numbers(object, "data_offsets");
  require<DataError>(offsets.has_value() && offsets->size() == 2 &&
                         offsets->front() <= offsets->back(),
                     "tensor '{}' has no data_offsets of the form [begin, end]", name);
  const auto begin = static_cast<std::uint64_t>(offsets->front());
  const auto end = static_cast<std::uint64_t>(offsets->back());
  require<DataError>(end <= data.size(), "tensor '{}' ends at byte {} of {} bytes of data", name,
                     end, data.size());
  Shape shape(*dims);
  require<DataError>(bytes_of(type.bytes, shape) == end - begin,
                     "tensor '{}', {} {}, does not fit into {} bytes", name, lower_ascii(type.name),
                     to_string(shape), end - begin);
  return {{name, type.dtype, std::move(shape), data.subspan(begin, end - begin)}, &type};
}

/// Returns the integers of a type that Tensors lack, in one that holds them all.
template <class From, class To>
std::vector<std::byte> widened(const TensorView& view) {
  std::vector<std::byte> bytes(view.data.size() / sizeof(From) * sizeof(To));
  for (std::size_t i = 0; i < view.data.size() / sizeof(From); ++i) {
    From number{};
    std::memcpy(&number, view.data.data() + i * sizeof(From), sizeof(From));
    require<DataError>(std::in_range<To>(number), "tensor '{}' holds {}, which {} cannot hold",
                       view.name, number, to_string(view.dtype));
    const To wide = static_cast<To>(number);
    std::memcpy(bytes.data() + i * sizeof(To), &wide, sizeof(To));
  }
  return bytes;
}

std::vector<std::byte> widened(const Stored& stored) {
  const std::string_view name = stored.type->name;
  if (name == "I8") return widened<std::int8_t, std::int32_t>(stored.view);
  if (name == "I16") return widened<std::int16_t, std::int32_t>(stored.view);
  if (name == "U16") return widened<std::uint16_t, std::int32_t>(stored.view);
  if (name == "U32") return widened<std::uint32_t, std::int64_t>(stored.view);
  return widened<std::uint64_t, std::int64_t>(stored.view);
}

void require_bools(const TensorView& tensor) {
  const auto wrong =
      std::ranges::find_if(tensor.data, [](std::byte b) { return b > std::byte{1}; });
  if (wrong == tensor.data.end()) return;
  fail<DataError>("tensor '{}' holds the byte {}, which is not a bool", tensor.name,
                  std::to_integer<int>(*wrong));
}

std::map<std::string, std::string> read_metadata(const Json& object) {
  require<DataError>(object.is_object(), "its __metadata__ is not a JSON object");
  std::map<std::string, std::string> metadata;
  for (const auto& [key, value] : object.items()) {
    require<DataError>(value.is_string(), "'{}' of its __metadata__ is not a string", key);
    metadata[key] = value.get<std::string>();
  }
  return metadata;
}

/// Sorts the tensors by their place and throws unless they cover the data exactly once.
void require_cover(std::vector<Stored>& tensors, std::span<const std::byte> data) {
  const auto place = [](const Stored& stored) {
    const TensorView& tensor = stored.view;
    return std::tuple(tensor.data.data(), tensor.data.size(), std::string_view(tensor.name));
  };
  std::ranges::sort(tensors, {}, place);
  std::size_t covered = 0;
  for (const Stored& stored : tensors) {
    const TensorView& tensor = stored.view;
    const auto begin = static_cast<std::size_t>(tensor.data.data() - data.data());
    require<DataError>(begin >= covered, "tensor '{}' overlaps the one before it", tensor.name);
    require<DataError>(begin == covered, "no tensor covers bytes {} to {} of the data", covered,
                       begin);
    covered += tensor.data.size();
  }
  require<DataError>(covered == data.size(), "its last {} bytes belong to no tensor",
                     data.size() - covered);
}

using Checksum = std::array<std::byte, 4>;

/// CRC-32 of bytes that follow others, of which `before` is (0: there are none).
std::uint32_t checksum(std::uint32_t before, std::string_view bytes) {
  if (bytes.empty()) return before;  // for a null pointer zlib begins again
  return static_cast<std::uint32_t>(
      ::crc32_z(before, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

/// Throws Error unless the last bytes are the checksum of those before.
void check_sum(std::string_view bytes) {
  std::uint32_t said = 0;
  const bool whole = bytes.size() >= kLengthBytes + sizeof(said);
  if (whole) std::memcpy(&said, bytes.data() + bytes.size() - sizeof(said), sizeof(said));
  require<DataError>(whole && checksum(0, bytes.substr(0, bytes.size() - sizeof(said))) == said,
                     "it is damaged: its bytes do not match its checksum");
}

}  // namespace

Tensor to_tensor(const TensorView& view) {
  Tensor tensor = uninitialized_tensor(view.dtype, view.shape);
  std::ranges::copy(view.data, tensor.writable_bytes().begin());
  return tensor;
}

const TensorView* SafetensorsFile::find(std::string_view name) const {
  const auto found = index_.find(name);
  return found == index_.end() ? nullptr : &tensors_[found->second];
}

const TensorView& SafetensorsFile::at(std::string_view name) const {
  const TensorView* tensor = find(name);
  require(tensor != nullptr, "'{}' holds no tensor '{}'", path_, name);
  return *tensor;
}

/// Fills a SafetensorsFile.
class SafetensorsReader {
 public:
  static SafetensorsFile read(std::string content, const std::string& name, bool checked);
};

SafetensorsFile SafetensorsReader::read(std::string content, const std::string& name,
                                        bool checked) {
  SafetensorsFile file;
  file.path_ = name;
  file.bytes_ = std::make_shared<const std::string>(std::move(content));
  const std::string_view bytes = *file.bytes_;
  try {
    if (checked) check_sum(bytes);
    in_memory("it", [&] {
      require<DataError>(bytes.size() >= kLengthBytes,
                         "it has {} bytes, too few for a safetensors file", bytes.size());
      std::uint64_t length = 0;
      std::memcpy(&length, bytes.data(), kLengthBytes);
      const bool fits = length <= kMaxHeader && length <= bytes.size() - kLengthBytes;
      require<DataError>(fits || bytes.substr(kLengthBytes).starts_with('{'),
                         "it is not a safetensors file");
      require<DataError>(
          fits,
          "it is cut short or not a safetensors file: its header needs {} bytes, and {} are left",
          length, bytes.size() - kLengthBytes);
      const Json header = parse_header(bytes.substr(kLengthBytes, length));
      const auto data = std::as_bytes(std::span(bytes.substr(kLengthBytes + length)));
      std::vector<Stored> stored;
      for (const auto& [key, value] : header.items()) {
        if (key == kMetadata) {
          file.metadata_ = read_metadata(value);
        } else {
          stored.push_back(read_tensor(key, value, data));
        }
      }
      require_cover(stored, data);
      const bool ends = !stored.empty() && stored.back().view.name == kChecksumTensor;
      require<DataError>(!checked || ends, "it has no tensor '{}'", kChecksumTensor);
      for (Stored& tensor : stored) {
        if (tensor.view.dtype == DType::boolean) require_bools(tensor.view);
        if (tensor.type->name != name_of(tensor.view.dtype)) {
          file.widened_.push_back(std::make_shared<const std::vector<std::byte>>(widened(tensor)));
          tensor.view.data = *file.widened_.back();
        }
        file.tensors_.push_back(std::move(tensor.view));
      }
    });
  } catch (const Error& error) {
    fail_again<DataError>(error, "cannot read '{}': {}", name, error.what());
  }
  if (checked) file.tensors_.pop_back();
  for (std::size_t i = 0; i < file.tensors_.size(); ++i) file.index_[file.tensors_[i].name] = i;
  return file;
}

SafetensorsFile read_safetensors(const std::filesystem::path& path) {
  return SafetensorsReader::read(read_file(path), path.string(), false);
}

SafetensorsFile parse_safetensors(std::string bytes, const std::string& name) {
  return SafetensorsReader::read(std::move(bytes), name, false);
}

SafetensorsFile read_checked_safetensors(const std::filesystem::path& path) {
  return SafetensorsReader::read(read_file(path), path.string(), true);
}

namespace {

/// Calls write(pieces) with what the file holds: its header's length, its header, the tensors.
template <class Write>
void with_pieces(const std::filesystem::path& path, std::span<const TensorView> tensors,
                 const std::map<std::string, std::string>& metadata, const Write& write) {
  std::set<std::string_view> names;
  std::vector<std::string_view> pieces(2);  // the length and the header, known at the end
  std::uint64_t offset = 0;
  std::string text;
  const auto entry = [&](const std::string& name, const Json& value) {
    text += (text.empty() ? '{' : ',') + Json(name).dump() + ':' + value.dump();
  };
  try {
    if (!metadata.empty()) entry(kMetadata, metadata);
    for (const TensorView& tensor : tensors) {
      require(!tensor.name.empty() && tensor.name != kMetadata && names.insert(tensor.name).second,
              "cannot write '{}': the tensor name '{}' is empty, reserved or repeated",
              path.string(), tensor.name);
      LINNET_ASSERT(bytes_of(size_of(tensor.dtype), tensor.shape) == tensor.data.size());
      const std::uint64_t end = offset + tensor.data.size();
      entry(tensor.name, {{"dtype", name_of(tensor.dtype)},
                          {"shape", dims_of(tensor.shape)},
                          {"data_offsets", {offset, end}}});
      pieces.emplace_back(reinterpret_cast<const char*>(tensor.data.data()), tensor.data.size());
      offset = end;
    }
  } catch (const Json::exception&) {
    fail("cannot write '{}': a name or its metadata is not valid UTF-8", path.string());
  }
  text += text.empty() ? "{}" : "}";
  text.resize((text.size() + 7) / 8 * 8, ' ');
  const std::uint64_t length = text.size();
  pieces[0] = {reinterpret_cast<const char*>(&length), kLengthBytes};
  pieces[1] = text;
  write(std::span<const std::string_view>(pieces));
}

}  // namespace

void write_safetensors(const std::filesystem::path& path, std::span<const TensorView> tensors,
                       const std::map<std::string, std::string>& metadata) {
  with_pieces(path, tensors, metadata, [&](std::span<const std::string_view> pieces) {
    write_file_atomically(path, pieces);
  });
}

void write_checked_safetensors(const std::filesystem::path& path,
                               std::span<const TensorView> tensors,
                               const std::map<std::string, std::string>& metadata) {
  Checksum sum{};
  std::vector<TensorView> all(tensors.begin(), tensors.end());
  all.push_back({kChecksumTensor, DType::u8, Shape{std::ssize(sum)}, sum});
  with_pieces(path, all, metadata, [&](std::span<const std::string_view> pieces) {
    std::uint32_t crc = 0;
    for (const std::string_view piece : pieces.first(pieces.size() - 1)) crc = checksum(crc, piece);
    std::memcpy(sum.data(), &crc, sizeof(crc));
    write_file_durably(path, pieces);
  });
}

}  // namespace linnet
