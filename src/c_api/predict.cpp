// SPDX-License-Identifier: Apache-2.0
#include <linnet/table_transform.h>
#include <linnet/tables.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include "c_api/arrays.h"
#include "c_api/errors.h"
#include "c_api/handles.h"
#include "model/model_state.h"
#include "nn/definition.h"

namespace linnet::c_api {
namespace {

/// Throws Error unless an array of the caller has the floats of these samples.
void need_floats(std::string_view name, const void* data, std::size_t floats, const Shape& all) {
  need(data, name, "an array of floats");
  require(floats == static_cast<std::size_t>(all.elements()),
          "'{}' has {} floats; expected {} for {}", name, floats, all.elements(), to_string(all));
}

/// Calls `f` for parts of many samples: memory is planned for the samples of a call.
template <class F>
void for_batches(std::int64_t samples, const F& f) {
  constexpr std::int64_t kMost = 256;
  for (std::int64_t begin = 0; begin < samples; begin += kMost) {
    f(begin, std::min(begin + kMost, samples));
  }
}

void predict(const linnet_model* model, std::int64_t samples, const float* inputs,
             std::size_t inputs_floats, float* outputs, std::size_t outputs_floats,
             bool probabilities) {
  need_model(model);
  require(samples >= 1, "expected a number of samples of at least 1; got {}", samples);
  const Predictor& predictor = model->prepared(probabilities);
  model->model.network().definition().only_input();
  const Shape in = predictor.input_shape().batched(samples);
  const Shape out = predictor.output_shape().batched(samples);
  need_floats("inputs", inputs, inputs_floats, in);
  need_floats("outputs", outputs, outputs_floats, out);
  const Tensor x = Tensor::borrow(std::span(inputs, inputs_floats), in);
  const Tensor y = Tensor::borrow(std::span(outputs, outputs_floats), out);
  for_batches(samples, [&](std::int64_t begin, std::int64_t end) {
    if (!computes_in_f64(model->model.state())) {
      predictor.predict(x.rows(begin, end), y.rows(begin, end));
      return;
    }
    const Tensor found = predictor.predict(x.rows(begin, end)).to(DType::f32);
    std::ranges::copy(found.as<float>(), y.rows(begin, end).as_writable<float>().begin());
  });
}

void predict(const Predictor& predictor, std::int64_t samples, const State& x, const State& y) {
  const auto rows = [](const State& of, std::int64_t begin, std::int64_t end) {
    State some;
    for (const auto& [name, tensor] : of) some.set(name, tensor.rows(begin, end));
    return some;
  };
  for_batches(samples, [&](std::int64_t begin, std::int64_t end) {
    predictor.predict(rows(x, begin, end), rows(y, begin, end));
  });
}

State state_of(const Dataset& data) {
  State state;
  for (const Column& column : data.inputs()) {
    state.set(column.name, column.data);
    if (column.has_lengths()) state.set(column.name + kLengths, column.lengths.to(DType::i32));
  }
  return state;
}

Table table_of(const linnet_model* model, const char* text, std::size_t bytes) {
  need_model(model);
  need(text, "text", "the text of a table");
  require(!model->model.table().empty(),
          "the model did not learn from a table; linnet_predict() takes its samples");
  return parse_table(std::string(text, bytes), "the text", model->model.table().reading());
}

}  // namespace
}  // namespace linnet::c_api

using namespace linnet;         // NOLINT(*-using-namespace): C functions have no namespace
using namespace linnet::c_api;  // NOLINT(*-using-namespace)

extern "C" {

std::int32_t linnet_predict(const linnet_model* model, std::int64_t samples, const float* inputs,
                            std::size_t inputs_floats, float* outputs,
                            std::size_t outputs_floats) noexcept {
  return guarded(__func__, [&] {
    predict(model, samples, inputs, inputs_floats, outputs, outputs_floats, false);
  });
}

std::int32_t linnet_predict_probabilities(const linnet_model* model, std::int64_t samples,
                                          const float* inputs, std::size_t inputs_floats,
                                          float* outputs, std::size_t outputs_floats) noexcept {
  return guarded(__func__, [&] {
    predict(model, samples, inputs, inputs_floats, outputs, outputs_floats, true);
  });
}

std::int32_t linnet_predict_arrays(const linnet_model* model, const linnet_array* inputs,
                                   std::int32_t inputs_count, const linnet_output* outputs,
                                   std::int32_t outputs_count,
                                   std::int32_t probabilities) noexcept {
  return guarded(__func__, [&] {
    need_model(model);
    State x;
    for (const linnet_array& array : arrays_of(inputs, inputs_count, "inputs")) {
      Column column = column_of(array, model->inputs.front());
      x.set(std::move(column.name), std::move(column.data));
    }
    require(outputs_count >= 1, "expected a number of outputs of at least 1; got {}",
            outputs_count);
    need(outputs, "outputs", "an array of linnet_output");
    const std::int64_t samples = x.begin()->value.shape()[0];
    for (const auto& [name, tensor] : x) {
      require(tensor.shape()[0] == samples, "the input '{}' has {} samples; '{}' has {}", name,
              tensor.shape()[0], x.begin()->name, samples);
    }
    const NetworkDefinition& network = model->model.network().definition();
    State y;
    for (const linnet_output& output :
         std::span(outputs, static_cast<std::size_t>(outputs_count))) {
      const std::string name = output.name != nullptr ? output.name : model->outputs.front();
      const auto found = std::ranges::find(model->outputs, name);
      require(found != model->outputs.end(), "the model has no output '{}'", name);
      const auto place = static_cast<std::size_t>(found - model->outputs.begin());
      const Shape shape = network.output_sample(place).batched(samples);
      need_floats(name, output.data, output.floats, shape);
      y.set(name, Tensor::borrow(std::span(output.data, output.floats), shape));
    }
    predict(model->prepared(probabilities != 0), samples, x, y);
  });
}

std::int32_t linnet_count_rows(const linnet_model* model, const char* text, std::size_t bytes,
                               std::int64_t* rows) noexcept {
  return guarded(__func__, [&] {
    need(rows, "rows", "a place for the number of rows");
    *rows = table_of(model, text, bytes).rows();
  });
}

std::int32_t linnet_predict_rows(const linnet_model* model, const char* text, std::size_t bytes,
                                 float* outputs, std::size_t outputs_floats,
                                 std::int32_t probabilities) noexcept {
  return guarded(__func__, [&] {
    const Table table = table_of(model, text, bytes);
    const Predictor& predictor = model->prepared(probabilities != 0);
    const Shape out = predictor.output_shape().batched(table.rows());
    need_floats("outputs", outputs, outputs_floats, out);
    State y;
    y.set(model->outputs.front(), Tensor::borrow(std::span(outputs, outputs_floats), out));
    predict(predictor, table.rows(), state_of(model->model.table().inputs(table)), y);
  });
}

}  // extern "C"
