// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/c_export.h>
#include <linnet/tensor.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "c_export/operator_file.h"

namespace linnet {

/// A C file as it grows.
class CFile final : public OperatorFile {
 public:
  CFile(const InferenceGraph& graph, std::vector<Tensor> values, const CExportOptions& options);

  std::string_view language() const override { return "C"; }
  std::string nothing() const override { return "NULL"; }
  std::string floats(const std::vector<float>& values) override;
  std::string ids(const std::vector<float>& values) override;
  std::string matrix(const std::vector<float>& values, std::int64_t columns, bool scale_rows,
                     std::int64_t groups) override;
  std::string integers(const std::vector<int>& values) override;
  std::string spare_levels(std::int64_t elements) override;
  void call(std::string_view function, const std::string& arguments) override;
  void each(std::int64_t count, const std::vector<FormulaOperand>& operands, Value to,
            const std::string& formula) override;
  void copy(const std::string& from, const std::string& to, std::int64_t count) override;

  /// Writes every node of the graph, and the outputs.
  void write_program();
  /// Writes the function of the outputs' derivatives by the input. Throws Error for a network that
  /// has more than one input, or one of ids.
  void write_jacobian();

  /// Writes the second derivatives of output `output`: the result of `graph`, which reads the same
  /// inputs and has the same parameters.
  void write_hessian(const InferenceGraph& graph, std::size_t output);

  void need(std::string_view function) override { functions_.emplace_back(function); }
  void each_tangent(std::int64_t count, const std::vector<FormulaOperand>& operands, Value to,
                    const std::string& formula) override;
  /// Returns the whole file.
  std::string text(const Model& model) const;
  /// Returns the header.
  std::string header(const Model& model) const;

 private:
  std::string memory_at(std::size_t offset) const override;
  std::string ids_at(std::size_t offset) const override;
  std::string levels_at(std::size_t offset) const override;
  std::string input_at(const std::string& name) const override {
    return of_tangents() ? "direction" : name;
  }
  void comment(const std::string& text) override { line("/* " + text + " */"); }
  void line(const std::string& text) { program_ += (derives() ? "    " : "  ") + text + "\n"; }
  void loop(std::int64_t count, const std::vector<FormulaOperand>& operands, const std::string& to,
            const std::string& formula);
  std::string element(const FormulaOperand& operand);

  std::string table(const char* type, const std::string& contents, std::size_t count);
  std::string signature(std::string_view function) const;
  std::string jacobian_text() const;
  std::string defines(const Model& model) const;

  const CExportOptions& options_;
  std::vector<std::string> functions_;
  std::string program_;
  std::string jacobian_;
  std::string hessian_;
  std::string tables_;
  std::size_t floats_ = 1;                    ///< of the memory that all functions share
  std::size_t ids_ = 0;                       ///< likewise
  std::int64_t spare_ = 0;                    ///< levels of the largest node's own memory
  std::map<std::string, std::string> names_;  ///< of tables by their text
};

}  // namespace linnet
