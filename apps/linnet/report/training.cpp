// SPDX-License-Identifier: Apache-2.0
#include "report/training.h"

#include <algorithm>

#include "data/targets.h"
#include "data/vocabulary.h"
#include "formats/image.h"
#include "report/metrics.h"

namespace linnet::command {
namespace {

constexpr std::size_t kWorstImages = 24;
constexpr std::size_t kWorstTexts = 10;
constexpr std::size_t kShownWords = 60;

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

/// The first words of a sample's ids, as DatasetInfo::vocabulary counts them.
std::string text_of(const Column& ids, std::size_t sample, const std::vector<std::string>& words) {
  const auto row = static_cast<std::int64_t>(sample);
  const Tensor one = ids.data.rows(row, row + 1);
  std::string text;
  std::size_t shown = 0;
  for (const std::int32_t id : one.as<std::int32_t>()) {
    if (id < Vocabulary::kUnknown) continue;  // padding, the start
    if (shown++ == kShownWords) return text + " …";
    const auto word = static_cast<std::size_t>(id) - std::size_t{Vocabulary::kFirstWord};
    text += (text.empty() ? "" : " ") +
            (id >= Vocabulary::kFirstWord && word < words.size() ? words[word] : std::string("…"));
  }
  return text;
}

bool is_text(const Column& column, const std::vector<std::string>& words) {
  return !words.empty() && column.source == nullptr && column.dtype() == DType::i32 &&
         column.record().rank() == 1;
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
                  const Dataset& test, const std::vector<std::string>& words,
                  std::optional<std::int32_t> ignore_index) {
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
  const Column& samples = test.inputs()[0];
  const bool texts = is_text(samples, words);
  if (!texts && !is_picture(samples)) return;
  const std::size_t shown = std::min(texts ? kWorstTexts : kWorstImages, mistakes.size());
  std::partial_sort(mistakes.begin(), mistakes.begin() + static_cast<std::ptrdiff_t>(shown),
                    mistakes.end(), [](const Mistake& a, const Mistake& b) {
                      return a.probability != b.probability ? a.probability > b.probability
                                                            : a.sample < b.sample;
                    });
  for (std::size_t i = 0; i < shown; ++i) {
    const Mistake& m = mistakes[i];
    const std::string truth =
        class_name(test.classes(), static_cast<std::size_t>(labels[m.sample]));
    const std::string predicted = class_name(test.classes(), m.predicted);
    if (texts) {
      report.worst_texts.push_back(
          {text_of(samples, m.sample, words), truth, predicted, m.probability});
    } else {
      report.worst_images.push_back({png_of(samples, m.sample), truth, predicted, m.probability});
    }
  }
}

}  // namespace linnet::command
