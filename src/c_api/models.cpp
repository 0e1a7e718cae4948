// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>

#include "c_api/errors.h"
#include "c_api/handles.h"
#include "c_api/options.h"
#include "model/model_file.h"
#include "nn/definition.h"

namespace linnet::c_api {
namespace {

ModelOptions model_options(const char* text) {
  return read_model_options(parse_options(text, "the options"), "the options");
}

/// Returns the element of an index from 0.
template <class T>
const T& at(const std::vector<T>& all, std::int32_t index, std::string_view what) {
  require(index >= 0 && static_cast<std::size_t>(index) < all.size(),
          "expected the number of {} {} below {}; got {}",
          what.starts_with('i') || what.starts_with('o') ? "an" : "a", what, all.size(), index);
  return all[static_cast<std::size_t>(index)];
}

void put_shape(const Shape& shape, std::int64_t* dims, std::int32_t* rank) {
  need(dims, "dims", "room for LINNET_MAX_DIMS numbers");
  need(rank, "rank", "a place for the number of dims");
  std::ranges::copy(shape.dims(), dims);
  *rank = static_cast<std::int32_t>(shape.rank());
}

/// Writes what `get` returns of a model.
template <class T, class Get>
std::int32_t got(const char* function, const linnet_model* model, T* result, const Get& get) {
  return guarded(function, [&] {
    need_model(model);
    need(result, "result", "a place for the result");
    *result = get(*model);
  });
}

}  // namespace
}  // namespace linnet::c_api

using namespace linnet;         // NOLINT(*-using-namespace): C functions have no namespace
using namespace linnet::c_api;  // NOLINT(*-using-namespace)

extern "C" {

std::int32_t linnet_model_load(const char* path, const char* options,
                               linnet_model** model) noexcept {
  return guarded(__func__, [&] {
    need(path, "path", "the name of a model file");
    need(model, "model", "a place for the model");
    *model = std::make_unique<linnet_model>(Model::load(path, model_options(options))).release();
  });
}

std::int32_t linnet_model_load_bytes(const void* bytes, std::size_t size, const char* options,
                                     linnet_model** model) noexcept {
  return guarded(__func__, [&] {
    need(bytes, "bytes", "the bytes of a model file");
    need(model, "model", "a place for the model");
    const std::span file(static_cast<const std::byte*>(bytes), size);
    *model = std::make_unique<linnet_model>(load_model(file, model_options(options))).release();
  });
}

std::int32_t linnet_model_create(const char* network, const char* options,
                                 linnet_model** model) noexcept {
  return guarded(__func__, [&] {
    need(network, "network", "a network's JSON");
    need(model, "model", "a place for the model");
    *model = std::make_unique<linnet_model>(Model(read_network(network), model_options(options)))
                 .release();
  });
}

std::int32_t linnet_model_save(const linnet_model* model, const char* path) noexcept {
  return guarded(__func__, [&] {
    need_model(model);
    need(path, "path", "the name of the file to write");
    model->model.save(path);
  });
}

void linnet_model_free(linnet_model* model) noexcept { delete model; }

std::int32_t linnet_model_inputs(const linnet_model* model, std::int32_t* count) noexcept {
  return got(__func__, model, count,
             [](auto& of) { return static_cast<std::int32_t>(of.inputs.size()); });
}

std::int32_t linnet_model_outputs(const linnet_model* model, std::int32_t* count) noexcept {
  return got(__func__, model, count,
             [](auto& of) { return static_cast<std::int32_t>(of.outputs.size()); });
}

std::int32_t linnet_model_input_name(const linnet_model* model, std::int32_t index,
                                     const char** name) noexcept {
  return got(__func__, model, name,
             [&](auto& of) { return at(of.inputs, index, "input").c_str(); });
}

std::int32_t linnet_model_output_name(const linnet_model* model, std::int32_t index,
                                      const char** name) noexcept {
  return got(__func__, model, name,
             [&](auto& of) { return at(of.outputs, index, "output").c_str(); });
}

std::int32_t linnet_model_input_type(const linnet_model* model, std::int32_t index,
                                     std::int32_t* type) noexcept {
  return got(__func__, model, type, [&](auto& of) -> std::int32_t {
    const NetworkInput& input = at(of.model.network().definition().inputs, index, "input");
    return input.dtype == DType::i32 ? LINNET_I32 : LINNET_F32;
  });
}

std::int32_t linnet_model_input_shape(const linnet_model* model, std::int32_t index,
                                      std::int64_t* dims, std::int32_t* rank) noexcept {
  return guarded(__func__, [&] {
    need_model(model);
    put_shape(at(model->model.network().definition().inputs, index, "input").sample, dims, rank);
  });
}

std::int32_t linnet_model_output_shape(const linnet_model* model, std::int32_t index,
                                       std::int64_t* dims, std::int32_t* rank) noexcept {
  return guarded(__func__, [&] {
    need_model(model);
    at(model->outputs, index, "output");
    const NetworkDefinition& network = model->model.network().definition();
    put_shape(network.output_sample(static_cast<std::size_t>(index)), dims, rank);
  });
}

std::int32_t linnet_model_parameters(const linnet_model* model, std::int64_t* count) noexcept {
  return got(__func__, model, count, [](auto& of) { return of.model.network().parameters(); });
}

std::int32_t linnet_model_answers(const linnet_model* model, std::int32_t* answers) noexcept {
  return got(__func__, model, answers, [](auto& of) -> std::int32_t {
    switch (of.model.answers()) {
      case Answers::classes: return LINNET_CLASSES;
      case Answers::labels: return LINNET_LABELS;
      case Answers::scores: return LINNET_SCORES;
      case Answers::values: break;
    }
    return LINNET_VALUES;
  });
}

std::int32_t linnet_model_classes(const linnet_model* model, std::int32_t* count) noexcept {
  return got(__func__, model, count,
             [](auto& of) { return static_cast<std::int32_t>(of.model.class_names().size()); });
}

std::int32_t linnet_model_class_name(const linnet_model* model, std::int32_t label,
                                     const char** name) noexcept {
  return got(__func__, model, name,
             [&](auto& of) { return at(of.model.class_names(), label, "class").c_str(); });
}

std::int32_t linnet_model_set_classes(linnet_model* model, const char* const* names,
                                      std::int32_t count) noexcept {
  return guarded(__func__, [&] {
    need_model(model);
    require(count >= 0, "expected a number of names of at least 0; got {}", count);
    if (count > 0) need(names, "names", "an array of names");
    std::vector<std::string> all;
    for (const char* name : std::span(names, static_cast<std::size_t>(count))) {
      need(name, "names", "names without a NULL");
      all.emplace_back(name);
    }
    model->model.set_class_names(std::move(all));
  });
}

}  // extern "C"
