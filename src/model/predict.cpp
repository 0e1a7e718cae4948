// SPDX-License-Identifier: Apache-2.0
#include <linnet/model.h>
#include <linnet/predictor.h>

#include <algorithm>

#include "base/check.h"
#include "model/model_state.h"

namespace linnet {
namespace {

template <class T>
void predict_all(Predictor& predictor, std::span<const T> samples, std::int64_t batch,
                 std::span<float> outputs) {
  const auto in = static_cast<std::size_t>(predictor.input_shape().elements());
  const auto out = static_cast<std::size_t>(predictor.output_shape().elements());
  const std::size_t total = outputs.size() / std::max<std::size_t>(out, 1);
  for (std::size_t first = 0; first < total; first += static_cast<std::size_t>(batch)) {
    const std::size_t count = std::min(static_cast<std::size_t>(batch), total - first);
    predictor.predict(samples.subspan(first * in, count * in),
                      outputs.subspan(first * out, count * out));
  }
}

std::vector<float> predict(Model& model, const Dataset& data, std::int64_t batch,
                           bool probabilities) {
  require(batch > 0, "expected a batch of at least 1; got {}", batch);
  const NetworkDefinition& network = model.state().definition();
  require(data.sample_shape == network.input_sample, "the network takes samples of {}; got {}",
          to_string(network.input_sample), to_string(data.sample_shape));
  std::vector<float> result(
      static_cast<std::size_t>(data.size() * network.output_sample().elements()));
  Predictor predictor(model, probabilities);
  if (data.sample_dtype == DType::u8) {
    predict_all<std::uint8_t>(predictor, data.bytes, batch, result);
  } else {
    predict_all<float>(predictor, data.floats, batch, result);
  }
  return result;
}

}  // namespace

std::vector<float> Model::predict(const Dataset& data, std::int64_t batch) {
  return linnet::predict(*this, data, batch, false);
}

std::vector<float> Model::predict_probabilities(const Dataset& data, std::int64_t batch) {
  return linnet::predict(*this, data, batch, true);
}

}  // namespace linnet
