// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/model.h>

#include <cstddef>
#include <map>
#include <span>
#include <string>

namespace linnet {

/// Keys of a model file's metadata, which ONNX files share.
inline constexpr const char* kClassesKey = "linnet.classes";
inline constexpr const char* kTrainingKey = "linnet.training";
inline constexpr const char* kErrorsKey = "linnet.held_out_errors";
inline constexpr const char* kOnnxKey = "linnet.onnx";

/// Returns what a model file says of a model beside its network and weights, by key: class names,
/// transforms, the training record, held-out errors, inputs of its ONNX file.
std::map<std::string, std::string> facts_of(const Model& model);
/// Gives one of them back to a model; other keys change nothing. Throws Error for damaged text, and
/// for what does not fit the network.
void set_fact(Model& model, const std::string& key, const std::string& text);

/// Returns the model of the bytes of a file that Model::save() wrote, which are only used during
/// the call. Throws as Model::load() does.
Model load_model(std::span<const std::byte> bytes, ModelOptions options = {});

}  // namespace linnet
