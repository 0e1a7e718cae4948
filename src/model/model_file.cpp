// SPDX-License-Identifier: Apache-2.0
#include "model/model_file.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/finite.h"
#include "base/json.h"
#include "base/memory.h"
#include "formats/safetensors.h"
#include "model/intervals.h"
#include "model/model_state.h"
#include "model/training_record.h"

namespace linnet {
namespace {

constexpr const char* kNetworkKey = "linnet.network";
constexpr const char* kTableKey = "linnet.table";
constexpr const char* kSeriesKey = "linnet.series";

std::vector<std::string> classes_from(const std::string& text) {
  const auto json = parse_json<nlohmann::json>(text, 1, "its list of class names");
  require<DataError>(json.is_array(), "its class names are damaged");
  std::vector<std::string> names;
  for (const auto& name : json) {
    require<DataError>(name.is_string(), "its class names are damaged");
    names.push_back(name.get<std::string>());
  }
  return names;
}

Network network_from(const SafetensorsFile& file, const OperatorReaders& operators) {
  const auto found = file.metadata().find(kNetworkKey);
  require<DataError>(found != file.metadata().end(), "it holds weights, but no Linnet network");
  return Network::from_json(found->second, operators);
}

bool is_float(DType dtype) {
  return dtype == DType::f32 || dtype == DType::f64 || dtype == DType::f16 || dtype == DType::bf16;
}

/// Throws Error unless the tensors, whose bytes are there, are the network's weights: before any
/// memory is taken for these.
void check_tensors(const NetworkDefinition& network, const SafetensorsFile& file) {
  for (const ParameterSpec& spec : network.parameters) {
    const TensorView* tensor = file.find(spec.name);
    require<DataError>(tensor != nullptr, "the weight '{}' is missing", spec.name);
    require<DataError>(is_float(tensor->dtype) && tensor->shape == spec.shape,
                       "expected the weight '{}' as f32 {}; got {} {}", spec.name,
                       to_string(spec.shape), to_string(tensor->dtype), to_string(tensor->shape));
  }
  require<DataError>(network.parameters.size() == file.tensors().size(),
                     "it holds {} tensors, but the network has {} weights", file.tensors().size(),
                     network.parameters.size());
}

/// Returns whether the file is that of a model of fp64: all of its weights are f64.
bool holds_f64(const SafetensorsFile& file) {
  const std::vector<TensorView>& tensors = file.tensors();
  return !tensors.empty() && std::ranges::all_of(tensors, [](const TensorView& tensor) {
    return tensor.dtype == DType::f64;
  });
}

/// Endings of other programs' models: a file of that name would be taken for one of theirs.
constexpr std::pair<std::string_view, std::string_view> kOtherFormats[]{
    {".h5", "Keras"},
    {".hdf5", "Keras"},
    {".keras", "Keras"},
    {".pt", "PyTorch"},
    {".pth", "PyTorch"},
    {".onnx", "ONNX"},
    {".pb", "TensorFlow"},
    {".tflite", "TensorFlow Lite"},
    {".pkl", "Python's pickle"},
    {".pickle", "Python's pickle"},
    {".joblib", "Python's joblib"}};

void refuse_other_formats(const std::filesystem::path& path) {
  for (const auto& [other, whose] : kOtherFormats) {
    if (path.extension() != other) continue;
    fail(
        "cannot save the model to '{}': '{}' is the ending of {}, and a model is written as "
        "safetensors; expected a name such as '{}'{}",
        path.string(), other, whose,
        std::filesystem::path(path).replace_extension(".safetensors").string(),
        whose == "ONNX" ? "; an export writes ONNX" : "");
  }
}

}  // namespace

void Model::save(const std::filesystem::path& path) const {
  refuse_other_formats(path);
  std::vector<Tensor> values;
  std::vector<TensorView> tensors;
  for (const std::string& name : parameter_names()) {
    const Tensor& value = values.emplace_back(parameter(name));
    const auto check = [&](const auto& data) {
      const std::size_t bad = first_not_finite(data);
      require<DataError>(bad == data.size(),
                         "cannot save the model to '{}': element {} of the weight '{}' is {}",
                         path.string(), bad, name, bad < data.size() ? data[bad] : 0);
    };
    value.dtype() == DType::f64 ? check(value.as<double>()) : check(value.as<float>());
    tensors.push_back({name, value.dtype(), value.shape(), value.bytes()});
  }
  std::map<std::string, std::string> metadata = facts_of(*this);
  metadata[kNetworkKey] = network().to_json();
  write_safetensors(path, tensors, metadata);
}

std::map<std::string, std::string> facts_of(const Model& model) {
  std::map<std::string, std::string> facts{{kClassesKey,
                                            nlohmann::json(model.class_names()).dump()},
                                           {kTrainingKey, to_json(model.training_record())}};
  if (!model.table().empty()) facts[kTableKey] = model.table().to_json();
  if (!model.series().empty()) facts[kSeriesKey] = model.series().to_json();
  if (held_out_errors(model).samples > 0) facts[kErrorsKey] = to_json(held_out_errors(model));
  if (!model.state().onnx_ports.empty()) facts[kOnnxKey] = model.state().onnx_ports;
  return facts;
}

void set_fact(Model& model, const std::string& key, const std::string& text) {
  if (key == kClassesKey) model.set_class_names(classes_from(text));
  if (key == kTableKey) model.set_table(TableTransform::from_json(text));
  if (key == kSeriesKey) model.set_series(SeriesTransform::from_json(text));
  if (key == kTrainingKey) model.set_training_record(training_record_from(text));
  if (key == kErrorsKey) set_held_out_errors(model, held_out_errors_from(text));
  if (key == kOnnxKey) model.state().onnx_ports = text;
}

namespace {

/// `name`: what messages call the file, "the model 'a.safetensors'".
Model load_model(const SafetensorsFile& file, const std::string& name, ModelOptions options) {
  try {
    return in_memory("it", [&] {
      Network network = network_from(file, options.operators);
      check_tensors(network.definition(), file);
      if (holds_f64(file) && options.precision == Precision::automatic &&
          !options.device.starts_with("cuda")) {
        options.precision = Precision::fp64;
      }
      Model model(std::move(network), std::move(options));
      for (const TensorView& tensor : file.tensors()) {
        model.set_parameter(tensor.name, to_tensor(tensor));
      }
      for (const auto& [key, text] : file.metadata()) set_fact(model, key, text);
      return model;
    });
  } catch (const Error& error) {
    fail_again<DataError>(error, "cannot load {}: {}", name, error.what());
  }
}

}  // namespace

Model Model::load(const std::filesystem::path& path, ModelOptions options) {
  return load_model(read_safetensors(path), fmt::format("the model '{}'", path.string()),
                    std::move(options));
}

Model load_model(std::span<const std::byte> bytes, ModelOptions options) {
  const std::string name = "the model's bytes";
  std::string file = in_memory(name, [&] {
    return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  });
  return load_model(parse_safetensors(std::move(file), name), name, std::move(options));
}

}  // namespace linnet
