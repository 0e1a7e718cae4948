// SPDX-License-Identifier: Apache-2.0
#include "config/loss.h"

#include <gtest/gtest.h>
#include <linnet/zoo.h>

#include "message_of.h"
#include "report/metrics.h"

namespace linnet::command {
namespace {

using linnet::testing::message_of;

Job job_of_table(const std::string& text) {
  const toml::table table = toml::parse(text);
  Job job{.name = "test", .network = Network({2}, {})};
  Section section(table, "a.toml", "[loss]");
  read_loss(section, job);
  return job;
}

TEST(LossSettings, ReadsATable) {
  const LossOptions wanted{.label_smoothing = 0.1,
                           .class_weights = {1, 2.5},
                           .ignore_index = -100,
                           .positive_weights = {3, 4},
                           .focal_gamma = 1,
                           .focal_alpha = -1,
                           .huber_delta = 2,
                           .l1 = 0.5,
                           .l2 = 0.25};
  const Job job = job_of_table(
      "label_smoothing = 0.1\nclass_weights = [1, 2.5]\nignore_index = -100\n"
      "positive_weights = [3, 4]\nfocal_gamma = 1\nfocal_alpha = -1\nhuber_delta = 2\n"
      "l1 = 0.5\nl2 = 0.25");
  EXPECT_EQ(job.training.loss_options, wanted);
  EXPECT_FALSE(job.balanced_classes);
  EXPECT_EQ(job_of_table("").training.loss_options, LossOptions{});
  EXPECT_TRUE(job_of_table("class_weights = \"auto\"").balanced_classes);
}

TEST(LossSettings, BadValuesAreOneClearSentence) {
  EXPECT_EQ(message_of([] {
              job_of_table("class_weights = [1, true]");
            }).substr(0, sizeof("a.toml:1:17: ") - 1),
            "a.toml:1:17: ");
  EXPECT_NE(message_of([] { job_of_table("gamma = 1"); }).find("unknown key 'gamma' in [loss]"),
            std::string::npos);
  Job job{.name = "test", .network = Network({2}, {})};
  EXPECT_EQ(message_of([&] { apply({.class_weights = "1,2,x"}, job); }),
            "--class-weights takes auto or numbers with commas between, such as 1,2,0.5; got "
            "'1,2,x'");
}

TEST(LossSettings, TheCommandLineOverrides) {
  Job job = job_of_table("label_smoothing = 0.1\nclass_weights = [1, 2]");
  apply({.loss = "focal", .label_smoothing = 0.3, .class_weights = "auto"}, job);
  EXPECT_EQ(job.training.loss, Loss::focal);
  EXPECT_EQ(job.training.loss_options.label_smoothing, 0.3);
  EXPECT_TRUE(job.balanced_classes && job.training.loss_options.class_weights.empty());
  apply({.class_weights = "1,2,0.5"}, job);
  EXPECT_EQ(job.training.loss_options.class_weights, (std::vector<double>{1, 2, 0.5}));
  EXPECT_FALSE(job.balanced_classes);
}

TEST(MetricsReport, ShowsASmallTable) {
  Metrics metrics{.samples = 5, .accuracy = 0.6};
  metrics.confusion = {3, 1, 1, 0};
  metrics.scores = class_scores(metrics.confusion);
  const std::vector<std::string> names{"sandal", "a very long name"};
  const std::vector<std::string> lines = metrics_lines(metrics, names);
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(lines[0], "accuracy 60.00 %, macro F1 0.3750");
  EXPECT_EQ(lines[2], " 0 sandal        3 1");
  EXPECT_EQ(lines[3], " 1 a very long   1 0");
  const Json json = to_json(metrics, names);
  EXPECT_EQ(json["classes"][1]["class"], "a very long name");
  EXPECT_EQ(json["confusion"][0][0], 3);
  EXPECT_TRUE(json["top5_accuracy"].is_null());
}

TEST(MetricsReport, OfValuesAndOfSeveralLabels) {
  const Metrics values{
      .kind = Metrics::Kind::values, .samples = 2, .r_squared = 0.5, .mae = 1, .rmse = 2};
  EXPECT_EQ(metrics_lines(values, {})[0],
            "R² 0.5000, mean absolute error 1, root mean squared error 2");
  EXPECT_EQ(to_json(values, {})["r_squared"], 0.5);
  const Metrics binary{.kind = Metrics::Kind::binary,
                       .samples = 2,
                       .auc = {.labels = {0.75, kUndefined}, .mean = 0.75}};
  EXPECT_EQ(metrics_lines(binary, {})[0], "mean ROC AUC of 2 labels 0.7500");
  EXPECT_TRUE(to_json(binary, {})["roc_auc"][1].is_null());
}

}  // namespace
}  // namespace linnet::command
