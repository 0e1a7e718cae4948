// SPDX-License-Identifier: Apache-2.0
#include "report/training.h"

#include <algorithm>

#include "data/image.h"
#include "data/targets.h"
#include "report/metrics.h"

namespace linnet::command {
namespace {

constexpr std::size_t kWorstImages = 24;

struct Mistake {
  std::size_t sample = 0;
  std::size_t predicted = 0;
  float probability = 0;
};

bool is_picture(const Column& column) {
  const Shape shape = column.record();
  return column.dtype() == DType::u8 && shape.rank() == 3 && (shape[2] == 1 || shape[2] == 3);
}

std::string png_of(const Column& images, std::size_t sample) {
  const Shape shape = images.record();
  const auto row = static_cast<std::int64_t>(sample);
  std::vector<std::uint8_t> pixels(static_cast<std::size_t>(shape.elements()));
  if (images.source != nullptr) {
    images.source->read(row, std::as_writable_bytes(std::span(pixels)));
  } else {
    std::ranges::copy(images.data.rows(row, row + 1).as<std::uint8_t>(), pixels.begin());
  }
  return encode_png(
      {.height = shape[0], .width = shape[1], .channels = shape[2], .pixels = std::move(pixels)});
}

}  // namespace

void add_epochs(Report& report, const History& history) {
  const bool tested = !history.epochs.empty() && history.epochs.front().test.samples > 0;
  report.held_out = tested ? "test" : "validation";
  for (const EpochReport& epoch : history.epochs) {
    ReportEpoch row{.epoch = epoch.epoch,
                    .train_loss = epoch.train.loss,
                    .train_accuracy = epoch.train.accuracy,
                    .seconds = epoch.seconds,
                    .samples_per_second = epoch.samples_per_second};
    const Evaluation& held_out = tested ? epoch.test : epoch.validation;
    if (held_out.samples > 0) {
      row.test_loss = held_out.loss;
      row.test_accuracy = held_out.accuracy;
    }
    row.partial = epoch.train.samples != history.epochs.front().train.samples;
    report.epochs.push_back(row);
  }
}

void add_mistakes(Report& report, const Metrics& metrics, std::span<const float> logits,
                  const Dataset& test, std::optional<std::int32_t> ignore_index) {
  const std::span<const std::int32_t> labels = labels_of(test);
  if (labels.empty() || metrics.confusion.empty()) return;
  // A network may have more outputs than the data has classes.
  const std::size_t classes = metrics.scores.classes.size();
  for (std::size_t c = 0; c < classes; ++c) {
    report.class_names.push_back(class_name(test.classes(), c));
  }
  report.confusion = metrics.confusion;
  std::vector<Mistake> mistakes;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] == ignore_index) continue;
    const std::span<const float> row = logits.subspan(i * classes, classes);
    const auto predicted = static_cast<std::size_t>(std::ranges::max_element(row) - row.begin());
    if (predicted == static_cast<std::size_t>(labels[i])) continue;
    mistakes.push_back({i, predicted, static_cast<float>(softmax_probability(row, predicted))});
  }
  const Column& images = test.inputs()[0];
  if (!is_picture(images)) return;
  const std::size_t shown = std::min(kWorstImages, mistakes.size());
  std::partial_sort(mistakes.begin(), mistakes.begin() + static_cast<std::ptrdiff_t>(shown),
                    mistakes.end(), [](const Mistake& a, const Mistake& b) {
                      return a.probability != b.probability ? a.probability > b.probability
                                                            : a.sample < b.sample;
                    });
  for (std::size_t i = 0; i < shown; ++i) {
    const Mistake& m = mistakes[i];
    report.worst_images.push_back(
        {.png = png_of(images, m.sample),
         .truth = class_name(test.classes(), static_cast<std::size_t>(labels[m.sample])),
         .predicted = class_name(test.classes(), m.predicted),
         .probability = m.probability});
  }
}

}  // namespace linnet::command
