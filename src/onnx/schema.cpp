// SPDX-License-Identifier: Apache-2.0
#include "onnx/schema.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "base/files.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "core/half.h"
#include "formats/protobuf.h"
#include "onnx/external.h"

namespace linnet::onnx {

using namespace protobuf;  // whose functions stand on every line

namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 31;    // of a protobuf message
constexpr std::size_t kMostMembers = std::size_t{1} << 20;  // nodes, initializers
constexpr std::size_t kMostDims = 64;
constexpr std::int64_t kMostElements = std::int64_t{1} << 40;

static_assert(std::endian::native == std::endian::little, "raw data needs a little-endian machine");

void add_little_endian(std::int64_t value, std::size_t bytes, std::string& to) {
  for (std::size_t i = 0; i < bytes; ++i) {
    to.push_back(static_cast<char>((static_cast<std::uint64_t>(value) >> (8 * i)) & 0xff));
  }
}

/// Numbers of fields that TensorProto has for types without raw data.
enum TypedData : std::uint32_t { kFloat = 4, kInt32 = 5, kInt64 = 7, kDouble = 10, kUint64 = 11 };

TypedData typed_data(Type type) {
  switch (type) {
    case Type::f32: return kFloat;
    case Type::f64: return kDouble;
    case Type::i64: return kInt64;
    case Type::u32:
    case Type::u64: return kUint64;
    default: return kInt32;
  }
}

void read_external(std::string_view message, TensorProto& tensor) {
  WireReader reader(message);
  std::string_view key;
  std::string_view value;
  for (Field f; reader.next(f);) {
    if (f.number == 1) key = bytes_of(f);
    if (f.number == 2) value = bytes_of(f);
  }
  const auto number = [&] {
    std::int64_t n = 0;
    require<DataError>(!value.empty() && value.size() <= 18, "'{}' is no {} in a file", value, key);
    for (const char c : value) {
      require<DataError>(c >= '0' && c <= '9', "'{}' is no {} in a file", value, key);
      n = 10 * n + (c - '0');
    }
    return n;
  };
  if (key == "location") tensor.location = value;
  if (key == "offset") tensor.offset = number();
  if (key == "length") tensor.length = number();
}

TensorProto tensor_from(std::string_view message) {
  TensorProto tensor;
  std::int64_t type = 0;
  bool has_raw = false;
  std::vector<Field> typed;  // read when the type is known
  WireReader reader(message);
  for (Field f; reader.next(f);) {
    switch (f.number) {
      case 1: append_integers(f, tensor.dims); break;
      case 2: type = integer_of(f); break;
      case 3: fail<DataError>("a tensor in segments is not supported");
      case kFloat:
      case kInt32:
      case kInt64:
      case kDouble:
      case kUint64: typed.push_back(f); break;
      case 6: tensor.texts.push_back(bytes_of(f)); break;
      case 8: tensor.name = bytes_of(f); break;
      case 9:
        tensor.raw = bytes_of(f);
        has_raw = true;
        break;
      case 13: read_external(bytes_of(f), tensor); break;
      case 14: tensor.external = integer_of(f) == 1; break;
      default: break;
    }
    require<DataError>(tensor.dims.size() <= kMostDims, "a tensor has more than {} axes",
                       kMostDims);
  }
  tensor.type = type >= 0 && type < 256 ? static_cast<Type>(type) : Type::undefined;
  const std::size_t each = bytes_of(tensor.type);
  const std::int64_t elements = elements_of(tensor.dims);
  if (tensor.external || each == 0) return tensor;  // of other types the use is refused
  if (!has_raw) {
    std::string data;
    const TypedData wanted = typed_data(tensor.type);
    std::vector<std::int64_t> numbers;
    for (const Field& f : typed) {
      if (f.number != wanted) continue;
      if (wanted == kFloat || wanted == kDouble) {
        append_fixed(f, each, data);
      } else {
        numbers.clear();
        append_integers(f, numbers);
        for (const std::int64_t number : numbers) add_little_endian(number, each, data);
      }
    }
    const auto owner = std::make_shared<const std::string>(std::move(data));
    tensor.raw = *owner;
    tensor.owner = owner;
  }
  require<DataError>(tensor.raw.size() % each == 0 &&
                         tensor.raw.size() / each == static_cast<std::size_t>(elements),
                     "the tensor '{}' of {} {} needs {} bytes; got {}", tensor.name,
                     name_of(tensor.type), text_of(tensor.dims),
                     static_cast<std::size_t>(elements) * each, tensor.raw.size());
  return tensor;
}

Attribute attribute_from(std::string_view message) {
  Attribute a;
  std::int64_t kind = 0;
  std::string floats;
  WireReader reader(message);
  AttributeKind seen = AttributeKind::undefined;
  for (Field f; reader.next(f);) {
    switch (f.number) {
      case 1: a.name = bytes_of(f); break;
      case 2: {
        require<DataError>(f.wire == Wire::fixed32, "an attribute's number is damaged");
        a.f = std::bit_cast<float>(static_cast<std::uint32_t>(f.value));
        seen = AttributeKind::f;
        break;
      }
      case 3:
        a.i = integer_of(f);
        seen = AttributeKind::i;
        break;
      case 4:
        a.s = bytes_of(f);
        seen = AttributeKind::s;
        break;
      case 5:
        a.t = std::make_shared<TensorProto>(tensor_from(bytes_of(f)));
        seen = AttributeKind::t;
        break;
      case 6:
        a.graph = bytes_of(f);
        seen = AttributeKind::g;
        break;
      case 7:
        append_fixed(f, 4, floats);
        seen = AttributeKind::floats;
        break;
      case 8:
        append_integers(f, a.ints);
        seen = AttributeKind::ints;
        break;
      case 9:
        a.strings.push_back(bytes_of(f));
        seen = AttributeKind::strings;
        break;
      case 20: kind = integer_of(f); break;
      case 21: fail<DataError>("the attribute '{}' belongs to a function", a.name);
      default: break;
    }
  }
  // Writers before IR 2 left the kind out.
  a.kind = kind == 0               ? seen
           : kind > 0 && kind <= 8 ? static_cast<AttributeKind>(kind)
                                   : AttributeKind::other;
  a.floats.resize(floats.size() / sizeof(float));
  if (!floats.empty()) std::memcpy(a.floats.data(), floats.data(), floats.size());
  require<DataError>(a.kind != AttributeKind::t || a.t != nullptr,
                     "the attribute '{}' has no tensor", a.name);
  return a;
}

NodeProto node_from(std::string_view message) {
  NodeProto node;
  WireReader reader(message);
  for (Field f; reader.next(f);) {
    switch (f.number) {
      case 1: node.inputs.push_back(bytes_of(f)); break;
      case 2: node.outputs.push_back(bytes_of(f)); break;
      case 3: node.name = bytes_of(f); break;
      case 4: node.op_type = bytes_of(f); break;
      case 5: node.attributes.push_back(attribute_from(bytes_of(f))); break;
      case 7: node.domain = bytes_of(f); break;
      default: break;
    }
  }
  return node;
}

DimProto dim_from(std::string_view message) {
  DimProto dim;
  WireReader reader(message);
  for (Field f; reader.next(f);) {
    if (f.number == 1) {
      dim.value = integer_of(f);
      dim.none = dim.value == 0;
    }
    if (f.number == 2) dim.name = bytes_of(f);
  }
  return dim;
}

ValueProto value_from(std::string_view message) {
  ValueProto value;
  WireReader reader(message);
  for (Field f; reader.next(f);) {
    if (f.number == 1) value.name = bytes_of(f);
    if (f.number != 2) continue;
    WireReader types(bytes_of(f));
    for (Field type; types.next(type);) {
      if (type.number != 1) continue;  // sequences, maps and optionals stay undefined
      WireReader tensor(bytes_of(type));
      for (Field part; tensor.next(part);) {
        if (part.number == 1) {
          const std::int64_t t = integer_of(part);
          value.type = t >= 0 && t < 256 ? static_cast<Type>(t) : Type::undefined;
        }
        if (part.number != 2) continue;
        value.has_shape = true;
        WireReader shape(bytes_of(part));
        for (Field dim; shape.next(dim);) {
          if (dim.number == 1) value.dims.push_back(dim_from(bytes_of(dim)));
        }
      }
    }
  }
  return value;
}

void read_graph(std::string_view message, ModelProto& model) {
  WireReader reader(message);
  for (Field f; reader.next(f);) {
    switch (f.number) {
      case 1: model.nodes.push_back(node_from(bytes_of(f))); break;
      case 5: model.initializers.push_back(tensor_from(bytes_of(f))); break;
      case 11: model.inputs.push_back(value_from(bytes_of(f))); break;
      case 12: model.outputs.push_back(value_from(bytes_of(f))); break;
      case 15: fail<DataError>("it has sparse initializers, which are not supported");
      default: break;
    }
    require<DataError>(model.nodes.size() <= kMostMembers &&
                           model.initializers.size() <= kMostMembers,
                       "it has more than {} nodes or initializers", kMostMembers);
  }
}

void read_opset(std::string_view message, ModelProto& model) {
  std::string_view domain;
  std::int64_t version = 0;
  WireReader reader(message);
  for (Field f; reader.next(f);) {
    if (f.number == 1) domain = bytes_of(f);
    if (f.number == 2) version = integer_of(f);
  }
  if (domain.empty() || domain == "ai.onnx") model.opset = version;
  if (domain == "ai.onnx.ml") model.ml_opset = version;
}

template <class T>
T element(const TensorProto& tensor, std::size_t i) {
  T value;
  std::memcpy(&value, tensor.raw.data() + i * sizeof(T), sizeof(T));
  return value;
}

template <class To>
std::vector<To> numbers_of(const TensorProto& tensor) {
  const std::size_t each = bytes_of(tensor.type);
  require<DataError>(each > 0 && !tensor.external, "the tensor '{}' of {} cannot be read",
                     tensor.name, name_of(tensor.type));
  std::vector<To> numbers(tensor.raw.size() / each);
  const auto fill = [&]<class T>(T /*of the file*/) {
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      numbers[i] = static_cast<To>(element<T>(tensor, i));
    }
  };
  switch (tensor.type) {
    case Type::f32: fill(float{}); break;
    case Type::f64: fill(double{}); break;
    case Type::i8: fill(std::int8_t{}); break;
    case Type::u8:
    case Type::boolean: fill(std::uint8_t{}); break;
    case Type::i16: fill(std::int16_t{}); break;
    case Type::u16: fill(std::uint16_t{}); break;
    case Type::i32: fill(std::int32_t{}); break;
    case Type::u32: fill(std::uint32_t{}); break;
    case Type::i64: fill(std::int64_t{}); break;
    case Type::u64: fill(std::uint64_t{}); break;
    case Type::f16:
      for (std::size_t i = 0; i < numbers.size(); ++i) {
        numbers[i] = static_cast<To>(float_of_f16(element<std::uint16_t>(tensor, i)));
      }
      break;
    case Type::bf16:
      for (std::size_t i = 0; i < numbers.size(); ++i) {
        numbers[i] = static_cast<To>(float_of_bf16(element<std::uint16_t>(tensor, i)));
      }
      break;
    default: LINNET_ASSERT(false);
  }
  return numbers;
}

}  // namespace

std::string name_of(Type type) {
  switch (type) {
    case Type::undefined: return "UNDEFINED";
    case Type::f32: return "FLOAT";
    case Type::u8: return "UINT8";
    case Type::i8: return "INT8";
    case Type::u16: return "UINT16";
    case Type::i16: return "INT16";
    case Type::i32: return "INT32";
    case Type::i64: return "INT64";
    case Type::string: return "STRING";
    case Type::boolean: return "BOOL";
    case Type::f16: return "FLOAT16";
    case Type::f64: return "DOUBLE";
    case Type::u32: return "UINT32";
    case Type::u64: return "UINT64";
    case Type::bf16: return "BFLOAT16";
  }
  return fmt::format("type {}", static_cast<int>(type));
}

Type type_named(std::string_view name) {
  for (int i = 0; i <= static_cast<int>(Type::bf16); ++i) {
    const auto type = static_cast<Type>(i);
    if (bytes_of(type) > 0 && name_of(type) == name) return type;
  }
  return Type::undefined;
}

std::size_t bytes_of(Type type) {
  switch (type) {
    case Type::u8:
    case Type::i8:
    case Type::boolean: return 1;
    case Type::u16:
    case Type::i16:
    case Type::f16:
    case Type::bf16: return 2;
    case Type::f32:
    case Type::i32:
    case Type::u32: return 4;
    case Type::i64:
    case Type::f64:
    case Type::u64: return 8;
    default: return 0;
  }
}

std::string text_of(const Dims& dims) { return fmt::format("({})", fmt::join(dims, ", ")); }

std::int64_t elements_of(const Dims& dims) {
  std::int64_t elements = 1;
  bool none = false;
  for (const std::int64_t dim : dims) {
    require<DataError>(dim >= 0, "a tensor has the dims {}", text_of(dims));
    none = none || dim == 0;
    if (dim > 0 && !none) {
      require<DataError>(elements <= kMostElements / dim, "a tensor of {} is too large",
                         text_of(dims));
      elements *= dim;
    }
  }
  return none ? 0 : elements;
}

std::optional<std::int64_t> whole_number_of(const ModelProto& model, std::string_view name) {
  const auto found = std::ranges::find(model.initializers, name, &TensorProto::name);
  std::int64_t number = 0;
  if (name.empty() || found == model.initializers.end() || found->type != Type::i64 ||
      found->external || found->raw.size() != sizeof number) {
    return std::nullopt;
  }
  std::memcpy(&number, found->raw.data(), sizeof number);
  return number;
}

ModelProto parse_graph(std::string_view bytes) {
  ModelProto model;
  read_graph(bytes, model);
  return model;
}

ModelProto parse_model(std::shared_ptr<const std::string> bytes) {
  ModelProto model;
  model.bytes = std::move(bytes);
  bool has_graph = false;
  WireReader reader(*model.bytes);
  for (Field f; reader.next(f);) {
    switch (f.number) {
      case 1: model.ir_version = integer_of(f); break;
      case 2: model.producer = bytes_of(f); break;
      case 3: model.producer_version = bytes_of(f); break;
      case 7:
        require<DataError>(!has_graph, "it has two graphs");
        read_graph(bytes_of(f), model);
        has_graph = true;
        break;
      case 8: read_opset(bytes_of(f), model); break;
      case 14: {
        WireReader entry(bytes_of(f));
        model.metadata.emplace_back();
        for (Field part; entry.next(part);) {
          if (part.number == 1) model.metadata.back().first = bytes_of(part);
          if (part.number == 2) model.metadata.back().second = bytes_of(part);
        }
        break;
      }
      case 25: fail<DataError>("its custom functions are not supported");
      default: break;
    }
  }
  require<DataError>(has_graph, "it holds no ONNX graph");
  return model;
}

ModelProto read_model(const std::filesystem::path& path) {
  const std::uint64_t size = InputFile(path).bytes();
  require<DataError>(size <= kMostBytes,
                     "cannot read '{}': it has {} bytes; expected at most 2 GiB, with larger "
                     "weights in other files",
                     path.string(), size);
  const auto bytes = std::make_shared<const std::string>(read_file(path));
  try {
    return in_memory("it", [&] {
      ModelProto model = parse_model(bytes);
      for (TensorProto& tensor : model.initializers) {
        if (tensor.external) load_external(tensor, path.parent_path());
      }
      for (NodeProto& node : model.nodes) {
        for (Attribute& attribute : node.attributes) {
          if (attribute.t && attribute.t->external) load_external(*attribute.t, path.parent_path());
        }
      }
      return model;
    });
  } catch (const Error& error) {
    fail_again<DataError>(error, "cannot read the ONNX file '{}': {}", path.string(),
                          escaped(error.what()));
  }
}

std::vector<double> doubles_of(const TensorProto& tensor) { return numbers_of<double>(tensor); }
std::vector<float> floats_of(const TensorProto& tensor) { return numbers_of<float>(tensor); }

}  // namespace linnet::onnx
