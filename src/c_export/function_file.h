// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/model.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "c_export/language.h"
#include "c_export/operator_file.h"

namespace linnet {

/// A file of functions in one language as it grows. Numbers are handed on as a list and a place in
/// it: "m, 128".
class FunctionFile final : public OperatorFile {
 public:
  FunctionFile(const InferenceGraph& graph, std::vector<Tensor> values, const Language& language);

  std::string_view language() const override { return language_["name"]; }
  std::string nothing() const override { return "NULL, 0"; }
  std::string quotient(const std::string& a, const std::string& b) const override {
    return "quotient(" + a + ", " + b + ")";
  }
  std::string floats(const std::vector<float>& values) override;
  std::string ids(const std::vector<float>& values) override { return floats(values); }
  std::string matrix(const std::vector<float>& values, std::int64_t columns, bool scale_rows,
                     std::int64_t groups) override;
  void call(std::string_view function, const std::string& arguments) override;
  void each(std::int64_t count, const std::vector<FormulaOperand>& operands, Value to,
            const std::string& formula) override;
  void copy(const std::string& from, const std::string& to, std::int64_t count) override;
  void each_tangent(std::int64_t count, const std::vector<FormulaOperand>& operands, Value to,
                    const std::string& formula) override;

  /// Adds a constant of numbers; returns its name. Of equal numbers there is one.
  std::string numbers(const std::vector<std::string>& values);
  /// Adds a constant of texts; returns its name. `name`: empty for one that follows from the texts;
  /// there is one constant of each name.
  std::string texts(const std::vector<std::string>& values, std::string name = "");
  /// Returns a text as a literal of the source.
  std::string quote(std::string_view text) const { return quoted(language_, text); }

  /// Adds a line to the program.
  void line(const std::string& source) { program_ += source + "\n"; }
  void comment(const std::string& text) override { line("# " + text); }

  /// Writes the network as the function `network` of its inputs. `form`: the library's function
  /// that makes probabilities of its output: "softmax" or "sigmoid"; or "".
  void write_network(const std::string& form);
  /// Writes the derivatives of its output by its input of numbers, row by row as one list, as the
  /// function `network_jacobian` of the same inputs. Throws Error for what has none.
  void write_network_jacobian(const std::string& form);
  /// Returns how many numbers the input has by which network_jacobian() differentiates.
  std::int64_t directions() const { return graph().shape(differentiated()).elements(); }
  /// Returns the whole file; `head`: lines for its first comment.
  std::string text(const std::string& name, const std::vector<std::string>& head) const;
  /// Adds a function that users call, beside predict.
  void exports(std::string_view function) { exported_ += ", " + std::string(function); }

 private:
  std::string memory_at(std::size_t offset) const override;
  std::string ids_at(std::size_t offset) const override;
  std::string input_at(const std::string& name) const override {
    return (of_tangents() ? "direction" : name) + ", 0";
  }
  /// Throws Error naming the layer that is being written.
  [[noreturn]] void refuse() const;
  static std::string element(const std::string& place, const std::string& index);
  void loop(std::int64_t count, const std::vector<FormulaOperand>& operands, const std::string& to,
            const std::string& formula);
  /// Writes the output as the list y, and its derivative as dy where these are written.
  void write_output(const std::string& form);
  std::string constant(std::string_view form, const std::string& contents, std::size_t elements);

  const Language& language_;
  std::string exported_ = "predict";
  std::string program_;  ///< in the language of SourcePrinter
  std::string constants_;
  std::size_t elements_ = 0;                  ///< of constants, with two for each of these
  std::map<std::string, std::string> names_;  ///< of constants by form and text
};

/// Returns the network's inputs, each after `type`: "list in_numbers, list in_categories".
std::string inputs_of(const InferenceGraph& graph, std::string_view type = "");

/// Writes `predict` of a row of the model's table.
void write_row_function(FunctionFile& file, const Model& model, const InferenceGraph& graph);
/// Writes `jacobian` of such a row: derivatives by its columns of numbers. Throws Error naming a
/// column whose scaling has none.
void write_row_jacobian(FunctionFile& file, const Model& model, const InferenceGraph& graph);
/// Returns sentences on the columns that it takes.
std::vector<std::string> row_comment(const Model& model);

}  // namespace linnet
