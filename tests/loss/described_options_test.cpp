// SPDX-License-Identifier: Apache-2.0
// What follows from the descriptions of options: no field is forgotten, and each is part of the
// keys of programs.
#include <gtest/gtest.h>

#include <filesystem>

#include "base/files.h"
#include "describe/docstrings.h"
#include "model/options.h"
#include "tasks/options.h"
#include "train/recipes.h"

namespace linnet::testing {
namespace {

struct Header {
  const Description& options;
  std::string text;
};

template <class S>
Header header_of(const std::string& file) {
  return {description_of<S>(), read_text(std::filesystem::path(LINNET_HEADERS) / file, 1 << 20)};
}

std::vector<Header> all_headers() {
  return {header_of<LossOptions>("loss.h"),
          header_of<OutputLoss>("trainer.h"),
          header_of<Augment>("augment.h"),
          header_of<Clip>("optimizer.h"),
          header_of<Warmup>("schedule.h"),
          header_of<Average>("trainer.h"),
          header_of<Lookahead>("trainer.h"),
          header_of<Freeze>("trainer.h"),
          header_of<Whiten>("whiten.h"),
          header_of<ParameterGroup>("optimizer.h"),
          header_of<Checkpoints>("checkpoint.h"),
          header_of<Watch>("custom_metric.h"),
          header_of<Objective>("trainer.h"),
          header_of<FitOptions>("trainer.h"),
          header_of<TrainerOptions>("trainer.h"),
          header_of<TrainingOptions>("trainer.h"),
          header_of<BatchOptions>("batch.h"),
          header_of<LBFGS>("lbfgs.h"),
          header_of<CpuOptions>("devices.h"),
          header_of<CudaOptions>("devices.h"),
          header_of<ModelOptions>("model.h"),
          header_of<DatasetOptions>("dataset.h"),
          header_of<TableOptions>("tables.h"),
          header_of<TableTransformOptions>("table_transform.h"),
          header_of<TableTaskOptions>("table_task.h"),
          header_of<SeriesTaskOptions>("series_task.h"),
          header_of<TextColumns>("text_task.h"),
          header_of<TextTaskOptions>("text_task.h"),
          header_of<ImageTaskOptions>("image_task.h")};
}

/// Returns the variables of a struct that its description lacks.
std::vector<std::string> forgotten(const Description& options, const std::string& header) {
  std::vector<std::string> names;
  for (const StructDocs& found : parse_docstrings(header)) {
    if (found.name != options.name) continue;
    // Of a list of several lines, TableOptions::missing_words, docstrings do not know.
    EXPECT_GE(found.members.size() + 1, options.fields.size());
    for (const MemberDocs& member : found.members) {
      if (options.find(member.name) == nullptr) names.push_back(member.name);
    }
  }
  return names;
}

TEST(DescribedOptions, NameEveryField) {
  for (const auto& [options, text] : all_headers()) {
    EXPECT_EQ(forgotten(options, text), std::vector<std::string>()) << options.name;
    const std::string head = "struct " + std::string(options.name) + " {\n";
    std::string more = text;
    more.insert(more.find(head) + head.size(), "  double added = 0;  ///< a new field\n");
    EXPECT_EQ(forgotten(options, more), std::vector<std::string>{"added"}) << options.name;
  }
}

/// Reads any value but the one that the field has.
void change(const Field& field, void* object) {
  const Setting before = field.write(object);
  const Setting::List numbers{{0.5}, {0.25}};
  for (const Setting& other :
       std::vector<Setting>{{true}, {std::int64_t{3}}, {0.5}, {std::string("focal")}, {numbers}}) {
    try {
      field.format->read(field.member(object), {field.key, "", other});
    } catch (const SettingError&) {
      continue;
    }
    if (!(field.write(object) == before)) return;
  }
  ADD_FAILURE() << "no other value for " << field.key;
}

/// Values are checked where they are used, and seeds have 64 bits.
TEST(DescribedOptions, AreCopiedAsTheyStand) {
  TrainingOptions all;
  all.seed = ~std::uint64_t{0};
  all.augment.flip = 2;
  all.checkpoints.folder = "runs/a";
  all.metrics.resize(2);
  all.optimizer = SGD{.learning_rate = 3};
  TrainerOptions trainer;
  copy_fields(all, trainer);
  EXPECT_EQ(trainer.seed, all.seed);
  EXPECT_EQ(trainer.metrics.size(), 2U);
  FitOptions fit;
  copy_fields(all, fit);
  EXPECT_EQ(fit.augment.flip, 2);
  EXPECT_EQ(fit.checkpoints.folder, "runs/a");
  Objective objective;
  copy_fields(all, objective);
  EXPECT_EQ(std::get<SGD>(objective.optimizer).learning_rate, 3);
}

TEST(DescribedOptions, EveryFieldOfALossIsPartOfAProgramsKey) {
  const auto key = [](const OutputLoss& how) {
    StepData data;
    data.targets.push_back({.how = how});
    return describe(data);
  };
  std::vector<std::string> keys{key({})};
  for (const Field& field : description_of<OutputLoss>().fields_without({"custom", "options"})) {
    OutputLoss how;
    change(field, &how);
    keys.push_back(key(how));
  }
  for (const Field& field : description_of<LossOptions>().fields) {
    OutputLoss how;
    change(field, &how.options);
    keys.push_back(key(how));
  }
  OutputLoss own;
  own.custom = [](const Expression& y, const Expression& /*target*/) { return y; };
  keys.push_back(key(own));
  std::ranges::sort(keys);
  EXPECT_EQ(std::ranges::adjacent_find(keys), keys.end());
  EXPECT_EQ(keys.size(), 4 + description_of<LossOptions>().fields.size() + 2);
}

}  // namespace
}  // namespace linnet::testing
