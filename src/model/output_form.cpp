// SPDX-License-Identifier: Apache-2.0
#include "model/output_form.h"

#include <algorithm>

#include "base/check.h"
#include "model/model_state.h"

namespace linnet {
namespace {

/// Returns where the loss does not tell.
Answers answers_of(LastLayer last, Answers otherwise) {
  switch (last) {
    case LastLayer::softmax:
    case LastLayer::log_softmax: return Answers::classes;
    case LastLayer::sigmoid: return Answers::labels;
    case LastLayer::other: break;
  }
  return otherwise;
}

}  // namespace

std::int64_t most_classes(const NetworkDefinition& network) {
  const Shape outputs = network.output_sample();
  return std::max<std::int64_t>(outputs.rank() > 0 ? outputs[-1] : 1, 2);
}

Answers answers_of(const ModelState& model) {
  const NetworkDefinition& network = model.definition();
  const LastLayer last = last_layer(network.graph, network.outputs[0].value);
  const TrainingRecord& record = model.record;
  if (record.loss.empty()) {
    return answers_of(last, model.class_names.empty() ? Answers::values : Answers::classes);
  }
  const std::vector<std::string_view> names = loss_names();
  const auto found = std::ranges::find(names, std::string_view(record.loss));
  if (found == names.end()) {
    return answers_of(last, record.labels ? Answers::scores : Answers::values);
  }
  switch (static_cast<Loss>(found - names.begin())) {
    case Loss::cross_entropy:
    case Loss::kl_divergence: return Answers::classes;
    case Loss::binary_cross_entropy: return Answers::labels;
    case Loss::focal: return record.labels ? Answers::classes : Answers::labels;
    case Loss::hinge: return record.labels ? Answers::scores : Answers::values;
    case Loss::automatic:
    case Loss::mse:
    case Loss::mae:
    case Loss::huber:
    case Loss::cosine:
    case Loss::minkowski:
    case Loss::quantile:
    case Loss::normalized_squared_error: break;
  }
  return Answers::values;
}

OutputForm probability_form(const ModelState& model) {
  switch (answers_of(model)) {
    case Answers::classes: return OutputForm::softmax;
    case Answers::labels: return OutputForm::sigmoid;
    case Answers::scores:
    case Answers::values: break;
  }
  const std::string& loss = model.record.loss;
  require(loss.empty() || loss == "custom",
          "the model was trained with the loss {}, which defines no probabilities; predict() "
          "returns its outputs",
          loss);
  return OutputForm::softmax;
}

}  // namespace linnet
