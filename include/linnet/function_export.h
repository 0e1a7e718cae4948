// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/export.h>
#include <linnet/model.h>

#include <filesystem>
#include <string>
#include <string_view>

LINNET_API_BEGIN
namespace linnet {

/// Says how export_function() writes.
struct FunctionExportOptions {
  /// Adds a function `jacobian` with the arguments of `predict`: derivatives of what `predict`
  /// returns. That of a table's model returns them by the columns of numbers, by name, in the
  /// table's units; 0 where the number is missing. Where `predict` returns several values, it
  /// returns this for each of them, by name. That of another network returns a list for each
  /// output element, of its derivatives by each input element.
  bool jacobian = false;
};

/// Returns a model's prediction of one row as source code that needs no library: `extension` says
/// the language: "py", "js" (CommonJS, or a page's script), "cjs", "mjs" (an ES module), "java" or
/// "php". `name` is the name of the class in Java and PHP.
///
/// The file has a function `predict`. That of a table's model takes a row: the columns by name as
/// the table has them, numbers as numbers or texts, categories, booleans and dates of digits as
/// texts, a missing value as null, NaN or a text that stands for one. That of another network takes
/// a list of numbers for each input. It returns the value; or by name the probability of each class
/// or label, or the value of each target; or a list where outputs have no names. All is computed in
/// 64 bits. Waits.
///
/// Networks may have dense layers, activations, layer, group and batch norm, embeddings, softmax,
/// reductions, concatenation, slices and elementwise arithmetic; Error names the layer of any other
/// operator. It is also thrown for a network of several outputs, a series, another language, and a
/// name that no class can have. With `jacobian`, Error names the layer without a derivative: a
/// largest or smallest element of an axis, or weights that are computed; the column that is scaled
/// by quantiles; and a network without exactly one input of numbers.
std::string function_source(const Model& model, std::string_view extension,
                            const std::string& name = "Model",
                            const FunctionExportOptions& options = {});

/// Writes function_source() to a file, whose extension says the language and whose stem is the
/// name. The file appears whole or not at all. Throws as function_source() does, and Error where
/// the file cannot be written.
void export_function(const Model& model, const std::filesystem::path& file,
                     const FunctionExportOptions& options = {});

}  // namespace linnet
LINNET_API_END
