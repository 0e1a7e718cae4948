// SPDX-License-Identifier: Apache-2.0
#include "log/epoch_record.h"

#include <limits>

namespace linnet {

std::vector<std::pair<std::string, RecordNumber>> epoch_record(const EpochReport& report) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  std::vector<std::pair<std::string, RecordNumber>> record{{"epoch", report.epoch}};
  const std::pair<const char*, const Evaluation*> parts[] = {{"train", &report.train},
                                                             {"validation", &report.validation},
                                                             {"test", &report.test}};
  for (const auto& [part, evaluation] : parts) {
    const bool measured = evaluation->samples > 0;
    record.emplace_back(part + std::string("_loss"), measured ? evaluation->loss : kNone);
    record.emplace_back(part + std::string("_accuracy"), measured ? evaluation->accuracy : kNone);
  }
  record.emplace_back("learning_rate", report.learning_rate);
  record.emplace_back("seconds", report.seconds);
  record.emplace_back("samples", report.train.samples);
  record.emplace_back("samples_per_second", report.samples_per_second);
  record.emplace_back("complete", report.complete);
  for (const auto& [part, evaluation] : parts) {
    for (const auto& [name, value] : evaluation->metrics) {
      record.emplace_back(part + ("_" + name), value);
    }
  }
  return record;
}

}  // namespace linnet
