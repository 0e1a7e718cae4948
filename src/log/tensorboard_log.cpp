// SPDX-License-Identifier: Apache-2.0
#include <linnet/run_log.h>

#include <cmath>
#include <utility>

#include "base/check.h"
#include "formats/image.h"
#include "log/event_file.h"
#include "log/network_graph.h"
#include "model/model_state.h"

namespace linnet {

struct TensorBoardLog::State {
  TensorBoardOptions options;
  EventFile file;
  std::int64_t steps = 0;  ///< of the epochs so far
};

TensorBoardLog::TensorBoardLog(const std::filesystem::path& folder, TensorBoardOptions options)
    : state_(new State{std::move(options), EventFile(folder)}) {
  if (state_->options.model && state_->options.graph) {
    state_->file.graph(network_graph(state_->options.model->state().definition()));
  }
}
TensorBoardLog::~TensorBoardLog() = default;

void TensorBoardLog::on_resume(const ResumeReport& report) {
  state_->steps = static_cast<std::int64_t>(report.step);
  state_->file.begin_at(state_->steps);
}

void TensorBoardLog::on_epoch(const EpochReport& report) {
  EventFile& file = state_->file;
  for (const float loss : report.step_losses) file.scalar("loss/step", loss, state_->steps++);
  const std::int64_t step = state_->steps;
  const std::pair<std::string, const Evaluation*> parts[] = {{"train", &report.train},
                                                             {"validation", &report.validation},
                                                             {"test", &report.test}};
  for (const auto& [part, evaluation] : parts) {
    if (evaluation->samples == 0) continue;
    file.scalar("loss/" + part, evaluation->loss, step);
    if (!std::isnan(evaluation->accuracy)) {
      file.scalar("accuracy/" + part, evaluation->accuracy, step);
    }
    for (const auto& [name, value] : evaluation->metrics) {
      file.scalar(name + "/" + part, value, step);
    }
  }
  file.scalar("epoch/number", static_cast<double>(report.epoch), step);
  file.scalar("epoch/learning_rate", report.learning_rate, step);
  file.scalar("epoch/samples_per_second", report.samples_per_second, step);
  if (!state_->options.model || !state_->options.histograms) return;
  const Model& model = *state_->options.model;
  for (const std::string& name : model.parameter_names()) {
    histogram("weight/" + name, model.parameter(name), step);
  }
}

void TensorBoardLog::scalar(std::string_view tag, double value, std::int64_t step) {
  state_->file.scalar(tag, value, step);
}

void TensorBoardLog::histogram(std::string_view tag, const Tensor& values, std::int64_t step) {
  const Tensor floats = values.to(DType::f32);
  state_->file.histogram(tag, floats.as<float>(), step);
}

void TensorBoardLog::image(std::string_view tag, const Tensor& pixels, std::int64_t step) {
  const Shape& shape = pixels.shape();
  require(pixels.dtype() == DType::u8 && shape.rank() == 3 && (shape[2] == 1 || shape[2] == 3),
          "expected an image of u8 (height, width, 1 or 3) for the log; got {} {}",
          to_string(pixels.dtype()), to_string(shape));
  const auto bytes = pixels.as<std::uint8_t>();
  const std::string png = encode_png({shape[0], shape[1], shape[2], {bytes.begin(), bytes.end()}});
  state_->file.image(tag, png, shape[0], shape[1], shape[2], step);
}

}  // namespace linnet
