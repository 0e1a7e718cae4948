// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

// What of ONNX's schema (onnx.proto) is used, as plain structs, with the numbers of its fields in
// one place. Names and raw data are views into the file's bytes.
namespace linnet::onnx {

/// TensorProto.DataType
enum class Type : std::uint8_t {
  undefined = 0,
  f32 = 1,
  u8 = 2,
  i8 = 3,
  u16 = 4,
  i16 = 5,
  i32 = 6,
  i64 = 7,
  string = 8,
  boolean = 9,
  f16 = 10,
  f64 = 11,
  u32 = 12,
  u64 = 13,
  bf16 = 16,
};
/// ONNX's name of a type, e.g. "FLOAT"; "type 99" of an unknown one.
std::string name_of(Type type);
/// Returns the type of this name whose tensors are read; undefined: none has it.
Type type_named(std::string_view name);
/// Returns bytes of an element; 0 for a type whose tensors are not read.
std::size_t bytes_of(Type type);
constexpr bool is_float(Type t) {
  return t == Type::f32 || t == Type::f16 || t == Type::f64 || t == Type::bf16;
}

using Dims = std::vector<std::int64_t>;

/// Returns text such as "(2, 3)"
std::string text_of(const Dims& dims);
/// Returns the product. Throws DataError for a negative dim and for 2^40 elements or more.
std::int64_t elements_of(const Dims& dims);

/// TensorProto: dense, row-major, little-endian.
struct TensorProto {
  std::string_view name;
  Type type = Type::undefined;
  Dims dims;
  std::string_view raw;                      ///< elements * bytes_of(type) bytes
  std::shared_ptr<const std::string> owner;  ///< of `raw` where it is not the file's
  /// Whether the elements lie in another file, and where.
  bool external = false;
  std::string location;
  std::int64_t offset = 0;
  std::int64_t length = -1;             ///< -1: not said
  std::vector<std::string_view> texts;  ///< elements of a tensor of strings
};

/// AttributeProto.AttributeType
enum class AttributeKind : std::uint8_t {
  undefined = 0,
  f = 1,
  i = 2,
  s = 3,
  t = 4,
  g = 5,
  floats = 6,
  ints = 7,
  strings = 8,
  other = 9
};

/// AttributeProto
struct Attribute {
  std::string_view name;
  AttributeKind kind = AttributeKind::undefined;
  float f = 0;
  std::int64_t i = 0;
  std::string_view s;
  std::shared_ptr<TensorProto> t;
  std::vector<float> floats;
  std::vector<std::int64_t> ints;
  std::vector<std::string_view> strings;
  std::string_view graph;  ///< its bytes, for parse_graph()
};

/// NodeProto
struct NodeProto {
  std::vector<std::string_view> inputs;
  std::vector<std::string_view> outputs;
  std::string_view name;
  std::string_view op_type;
  std::string_view domain;
  std::vector<Attribute> attributes;
};

/// The domain of scikit-learn's pipelines.
inline constexpr std::string_view kMlDomain = "ai.onnx.ml";
inline bool is_of_onnx(const NodeProto& node) {
  return node.domain.empty() || node.domain == "ai.onnx";
}

/// A dim of a value: a number, a name, or unknown (0 and "").
struct DimProto {
  std::int64_t value = 0;
  std::string_view name;
  bool none = false;  ///< the number is 0: the tensor has no elements
};

/// ValueInfoProto of a tensor.
struct ValueProto {
  std::string_view name;
  Type type = Type::undefined;  ///< undefined: no tensor
  bool has_shape = false;
  std::vector<DimProto> dims;
};

/// A loss whose classes, axis 1 of its scores, have weights.
struct ClassWeights {
  std::string loss;  ///< the node, as errors name it
  std::string_view scores;
  std::string_view weights;
};

/// ModelProto with its one graph.
struct ModelProto {
  std::shared_ptr<const std::string> bytes;  ///< of the file; views lie in it
  std::int64_t ir_version = 0;
  std::int64_t opset = 0;     ///< of the default domain; 0: not said
  std::int64_t ml_opset = 0;  ///< of ai.onnx.ml
  std::string_view producer;
  std::string_view producer_version;
  std::vector<NodeProto> nodes;
  std::vector<TensorProto> initializers;
  std::vector<ValueProto> inputs;
  std::vector<ValueProto> outputs;
  std::vector<std::pair<std::string_view, std::string_view>> metadata;
  std::deque<std::string> made;           ///< names that the file does not have (decompose.h)
  std::set<std::string_view> conditions;  ///< values that must be true, likewise
  std::vector<ClassWeights> class_weights;
};

/// Reads a model from bytes. Memory taken is in proportion to them. Throws DataError for bytes that
/// are damaged, for a tensor whose data do not fit its dims, and for what no importer could run:
/// functions, sparse initializers, more than 2^20 nodes or initializers.
ModelProto parse_model(std::shared_ptr<const std::string> bytes);
/// Returns the whole number that an initializer is, an i64 of one element; nothing: none is.
std::optional<std::int64_t> whole_number_of(const ModelProto& model, std::string_view name);
/// Reads a graph that a node has, without its metadata: initializers must be its own. Graphs in it
/// stay bytes. Throws as parse_model() does.
ModelProto parse_graph(std::string_view bytes);
/// Reads a model file of at most 2 GiB, with what it keeps in files of its folder (see
/// external.h). Throws DataError naming the file.
ModelProto read_model(const std::filesystem::path& path);

/// Returns the numbers of a tensor, as doubles. Throws DataError for strings.
std::vector<double> doubles_of(const TensorProto& tensor);
/// Returns the same as floats, without the way over doubles.
std::vector<float> floats_of(const TensorProto& tensor);

}  // namespace linnet::onnx
