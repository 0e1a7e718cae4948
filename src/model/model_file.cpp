// SPDX-License-Identifier: Apache-2.0
#include <linnet/model.h>

#include <nlohmann/json.hpp>

#include "base/check.h"
#include "io/safetensors.h"
#include "model/model_state.h"

namespace linnet {
namespace {

constexpr const char* kNetworkKey = "linnet.network";
constexpr const char* kClassesKey = "linnet.classes";

std::vector<std::string> classes_from(const std::string& text) {
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  require(json.is_array(), "its class names are damaged");
  std::vector<std::string> names;
  for (const auto& name : json) {
    require(name.is_string(), "its class names are damaged");
    names.push_back(name.get<std::string>());
  }
  return names;
}

Network network_from(const SafetensorsFile& file) {
  const auto found = file.metadata().find(kNetworkKey);
  require(found != file.metadata().end(), "it holds weights, but no Linnet network");
  return Network::from_json(found->second);
}

void read_parameters(Model& model, const SafetensorsFile& file) {
  std::size_t read = 0;
  for (const std::string& name : model.parameter_names()) {
    const TensorView* tensor = file.find(name);
    require(tensor != nullptr, "the weight '{}' is missing", name);
    require(tensor->dtype == DType::f32 && tensor->shape == model.parameter_shape(name),
            "the weight '{}' should be f32 {}; got {} {}", name,
            to_string(model.parameter_shape(name)), to_string(tensor->dtype),
            to_string(tensor->shape));
    model.set_parameter(name, to_floats(*tensor));
    ++read;
  }
  require(read == file.tensors().size(), "it holds {} tensors, but the network has {} weights",
          file.tensors().size(), read);
}

}  // namespace

void Model::save(const std::filesystem::path& path) const {
  std::vector<std::vector<float>> values;
  std::vector<TensorView> tensors;
  for (const std::string& name : parameter_names()) {
    const std::vector<float>& data = values.emplace_back(parameter(name));
    tensors.push_back({name, DType::f32, parameter_shape(name), std::as_bytes(std::span(data))});
  }
  write_safetensors(path, tensors,
                    {{kNetworkKey, network().to_json()},
                     {kClassesKey, nlohmann::json(class_names()).dump()}});
}

Model Model::load(const std::filesystem::path& path, ModelOptions options) {
  const SafetensorsFile file = read_safetensors(path);
  try {
    Model model(network_from(file), std::move(options));
    read_parameters(model, file);
    const auto classes = file.metadata().find(kClassesKey);
    if (classes != file.metadata().end()) model.set_class_names(classes_from(classes->second));
    return model;
  } catch (const Error& error) {
    fail("cannot load the model '{}': {}", path.string(), error.what());
  }
}

}  // namespace linnet
