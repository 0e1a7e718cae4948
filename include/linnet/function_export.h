// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/export.h>
#include <linnet/model.h>

#include <filesystem>
#include <string>
#include <string_view>

LINNET_API_BEGIN
namespace linnet {

/// Returns a model's prediction of one row as source code that needs no library: `extension` says
/// the language: "py", "js" (CommonJS, or a page's script), "cjs", "mjs" (an ES module), "java" or
/// "php". `name` is the name of the class in Java and PHP.
///
/// The file has a function `predict`. That of a table's model takes a row: the columns by name as
/// the table has them, numbers as numbers or texts, categories, booleans and dates of digits as
/// texts, a missing value as null, NaN or a text that stands for one. That of another network takes
/// a list of numbers for each input. It returns the value; or by name the probability of each class
/// or label, or the value of each target; or a list where outputs have no names. All is computed in
/// 64 bits. Waits. Throws Error naming the layer for an operator other than those of dense layers,
/// activations, normalisations, embeddings, softmax, reductions, concatenations, parts and
/// arithmetic of finite numbers; and for a network of several outputs, a series, another language,
/// and a name that no class can have.
std::string function_source(const Model& model, std::string_view extension,
                            const std::string& name = "Model");

/// Writes function_source() to a file, whose extension says the language and whose stem is the
/// name. The file appears whole or not at all. Throws as function_source() does, and Error where
/// the file cannot be written.
void export_function(const Model& model, const std::filesystem::path& file);

}  // namespace linnet
LINNET_API_END
