// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/c_export.h>
#include <linnet/tensor.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "c_export/inference_graph.h"

namespace linnet {

/// A C file as it grows: what operators add to it, in the order of the graph.
class CFile {
 public:
  /// `values`: of the parameters, in the network's order.
  CFile(const InferenceGraph& graph, std::vector<Tensor> values, const CExportOptions& options);

  const Graph& graph() const { return g_.graph; }
  CWeights weights() const { return options_.weights; }

  /// Returns the expression of a value's first element: "input", "memory + 128", a constant's name.
  std::string at(Value value);
  /// Returns the same, or "NULL" where nobody reads the value.
  std::string at_if_read(Value value);
  /// Returns where the scratch memory of the node begins that is being written.
  std::string scratch() const;

  /// Returns the elements of a parameter. Throws Error where `value` is computed.
  std::vector<float> parameter(Value value) const;
  /// Returns a table of constants, as an argument: of equal contents there is one.
  std::string floats(const std::vector<float>& values);
  /// Returns a matrix of weights (rows, columns), as an argument, and after it its scales where
  /// weights are integers: of each column, or of each row (`scale_rows`). `groups`: matrices one
  /// after the other, whose columns have scales of their own.
  std::string matrix(const std::vector<float>& values, std::int64_t columns,
                     bool scale_rows = false, std::int64_t groups = 1);

  /// Adds "function(arguments);" to the program, and the function to the file.
  void call(std::string_view function, const std::string& arguments);
  /// Adds a loop over `count` elements whose body is `statement`, of the index i.
  void loop(std::int64_t count, const std::string& statement);
  /// Adds a function that statements call.
  void need(std::string_view function) { functions_.emplace_back(function); }
  /// Adds a line to the program.
  void line(const std::string& text);

  /// Writes every node of the graph, and the outputs.
  void write_program();
  /// Returns the whole file.
  std::string text(const Model& model) const;
  /// Returns the header.
  std::string header(const Model& model) const;

 private:
  std::string table(const char* type, const std::string& contents, std::size_t count);
  std::string signature() const;
  std::string defines(const Model& model) const;

  const InferenceGraph& g_;
  std::vector<Tensor> values_;
  const CExportOptions& options_;
  std::size_t node_ = 0;  ///< that is being written
  std::vector<std::string> functions_;
  std::string program_;
  std::string tables_;
  std::map<std::string, std::string> names_;  ///< of tables by their text
};

/// Writes a node's call. Throws Error where its operator has no C code.
void write_operator(CFile& file, const Node& node);
/// Returns how many floats the node wants for itself.
std::size_t c_scratch_of(const Graph& graph, const Node& node);

}  // namespace linnet
