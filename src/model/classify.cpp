// SPDX-License-Identifier: Apache-2.0
#include <linnet/predictor.h>

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/finite.h"
#include "model/model_state.h"
#include "model/output_form.h"
#include "model/predictor_state.h"
#include "model/step_graph.h"

namespace linnet {
namespace {

/// Returns what a softmax of the logits gives their largest, `top`.
double largest_probability(std::span<const float> logits, float top) {
  double sum = 0;
  for (const float logit : logits) sum += std::exp(static_cast<double>(logit) - top);
  return 1 / sum;
}

/// Returns whether predict() gives probabilities of classes already.
bool gives_probabilities(const PredictorState& state) {
  const NetworkDefinition& network = state.model.definition();
  return state.form == OutputForm::softmax ||
         last_layer(network.graph, network.outputs[0].value) == LastLayer::softmax;
}

void require_classes(const ModelState& model) {
  require(answers_of(model) == Answers::classes,
          "classify() needs a model with classes (by its loss, a last Softmax or class names); "
          "predict() returns the outputs of this one");
  const Shape outputs = model.definition().output_sample();
  require(outputs.rank() == 1,
          "classify() needs outputs (N, classes); this model's are {} a sample, which predict() "
          "returns",
          to_string(outputs));
}

/// Returns what the first output of each sample says.
std::vector<Classified> classes_of(const PredictorState& state, const Tensor& outputs) {
  const ModelState& model = state.model;
  const bool probabilities = gives_probabilities(state);
  std::vector<Classified> classified;
  for (std::int64_t i = 0; i < outputs.shape()[0]; ++i) {
    const Tensor row = outputs.rows(i, i + 1).to(DType::f32);
    const std::span<const float> y = row.as<float>();
    require(all_finite(y), "the outputs of sample {} are not finite", i);
    const auto top = std::ranges::max_element(y);
    const auto index = static_cast<std::size_t>(top - y.begin());
    classified.push_back(
        {.label =
             index < model.class_names.size() ? model.class_names[index] : std::to_string(index),
         .probability = probabilities ? *top : static_cast<float>(largest_probability(y, *top))});
  }
  return classified;
}

}  // namespace

std::vector<Classified> Predictor::classify(const Tensor& samples) const {
  require_classes(state_->model);
  return classes_of(*state_, predict(samples));
}

std::vector<Classified> Predictor::classify(const State& inputs) const {
  require_classes(state_->model);
  return classes_of(*state_, predict(inputs)[state_->model.definition().outputs[0].name]);
}

}  // namespace linnet
