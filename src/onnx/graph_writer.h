// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "onnx/schema.h"

namespace linnet::onnx {

/// An attribute of a node: a whole number, a number, a text, or a list of whole numbers or texts.
using AttributeValue = std::variant<std::int64_t, double, std::string, std::vector<std::int64_t>,
                                    std::vector<std::string>>;
using AttributeList = std::vector<std::pair<std::string, AttributeValue>>;

/// The opsets that are written.
inline constexpr std::int64_t kOldestWritten = 13;
inline constexpr std::int64_t kNewestWritten = 21;

inline constexpr std::int64_t kBatch = -1;

/// Collects an ONNX graph and writes it as a file. Values are referred to by name.
class GraphWriter {
 public:
  /// Throws Error for an opset that is not written.
  explicit GraphWriter(std::int64_t opset);
  std::int64_t opset() const { return opset_; }
  /// Keeps a name for an input or an output.
  void reserve(const std::string& name) { names_.insert(name); }
  /// `wanted`, or with a number where it is taken.
  std::string unique(const std::string& wanted);

  /// Dims of kBatch are the batch, "N".
  void add_input(const std::string& name, Type type, const Dims& dims);
  void add_output(const std::string& name, Type type, const Dims& dims);
  /// Adds a node of one output and returns the output's name: the layer's, made unique.
  std::string node(std::string_view op, const std::vector<std::string>& inputs,
                   const std::string& layer, AttributeList attributes = {});
  /// Does the same for several outputs, some of them without a name.
  std::vector<std::string> node(std::string_view op, const std::vector<std::string>& inputs,
                                const std::string& layer, AttributeList attributes,
                                const std::vector<bool>& outputs);
  /// Adds an initializer and returns its name.
  std::string floats(const std::string& wanted, const Dims& dims, std::span<const float> values);
  std::string integers(const std::string& wanted, const Dims& dims,
                       const std::vector<std::int64_t>& values);
  std::string booleans(const std::string& wanted, const Dims& dims,
                       const std::vector<std::uint8_t>& values);
  std::string int32s(const std::string& wanted, const Dims& dims,
                     const std::vector<std::int32_t>& values);
  std::string int8s(const std::string& wanted, const Dims& dims,
                    const std::vector<std::int8_t>& values);
  std::string uint8(const std::string& wanted, std::uint8_t value);
  std::string number(const std::string& wanted, double value);
  /// Gives the value another name everywhere: an output's. Adds an Identity where it is an input or
  /// an initializer, or has been renamed.
  void name_output(const std::string& value, const std::string& output);
  void add_metadata(const std::string& key, const std::string& value);

  /// Writes the file, whole or not at all. Throws Error where it would have more than 2 GiB.
  void write(const std::filesystem::path& path, const std::string& graph_name) const;

 private:
  struct Node {
    std::string op;
    std::string name;
    std::vector<std::string> inputs;
    std::vector<std::string> outputs;
    AttributeList attributes;
  };
  std::string raw(const std::string& wanted, Type type, const Dims& dims, std::string_view bytes);

  std::int64_t opset_;
  std::set<std::string> names_;
  std::set<std::string> renamed_;
  std::vector<Node> nodes_;
  std::string initializers_;  ///< fields of the graph's message
  std::string inputs_;
  std::string outputs_;
  std::string metadata_;
};

}  // namespace linnet::onnx
