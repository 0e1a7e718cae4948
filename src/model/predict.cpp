// SPDX-License-Identifier: Apache-2.0
#include <linnet/model.h>

#include "base/check.h"
#include "model/bind_data.h"
#include "model/session.h"

namespace linnet {
namespace {

std::vector<float> predict(ModelState& model, const Dataset& data, std::int64_t batch,
                           bool probabilities) {
  const NetworkDefinition& network = model.definition();
  require(data.sample_shape == network.input_sample, "the network takes samples of {}; got {}",
          to_string(network.input_sample), to_string(data.sample_shape));
  const ValueType record = records_of(data).samples;
  Session session(model);
  const Sweep sweep = session.add_sweep(data.size(), batch, [&](std::int64_t n) {
    return prediction_step(network, record, n, probabilities, session.supports());
  });
  session.attach();
  bind_samples(sweep, data);
  const std::int64_t outputs = network.output_sample().elements();
  std::vector<float> result(static_cast<std::size_t>(data.size() * outputs));
  const auto samples = static_cast<std::uint64_t>(data.size());
  for (std::uint64_t step = 0; step < sweep.steps(); ++step) {
    sweep.bind(kOutputs, result.data() + step * sweep.batch * static_cast<std::uint64_t>(outputs));
    sweep.run({.records = samples, .samples = samples}, step, step + 1);
  }
  return result;
}

}  // namespace

std::vector<float> Model::predict(const Dataset& data, std::int64_t batch) {
  return linnet::predict(*state_, data, batch, false);
}

std::vector<float> Model::predict_probabilities(const Dataset& data, std::int64_t batch) {
  return linnet::predict(*state_, data, batch, true);
}

}  // namespace linnet
