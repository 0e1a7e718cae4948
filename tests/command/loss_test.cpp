// SPDX-License-Identifier: Apache-2.0
#include "config/loss.h"

#include <gtest/gtest.h>
#include <linnet/expression.h>
#include <linnet/layers.h>
#include <linnet/zoo.h>

#include "config/layers.h"
#include "message_of.h"
#include "report/metrics.h"

namespace linnet::command {
namespace {

using linnet::testing::message_of;

Job job_of_table(const std::string& text, Network network = Network({2}, {})) {
  const toml::table table = toml::parse(text);
  Job job{.name = "test", .network = std::move(network)};
  placed_in("a.toml", [&] { read_loss(setting_from(table, "a.toml"), job); });
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
                           .l2 = 0.25,
                           .minkowski_exponent = 3,
                           .quantile = 0.25};
  const Job job = job_of_table(
      "label_smoothing = 0.1\nclass_weights = [1, 2.5]\nignore_index = -100\n"
      "positive_weights = [3, 4]\nfocal_gamma = 1\nfocal_alpha = -1\nhuber_delta = 2\n"
      "l1 = 0.5\nl2 = 0.25\nminkowski_exponent = 3\nquantile = 0.25");
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
            "--class-weights: expected auto or numbers separated by commas, such as 1,2,0.5; got "
            "'1,2,x'");
}

Network two_outputs() {
  FunctionalNetwork functional;
  const Expression x = functional.input("x", {2});
  return functional.build({{"kind", x | Dense{.units = 3}}, {"age", x | Dense{.units = 1}}});
}

TEST(LossSettings, ATableNamesTheLossOfAnOutput) {
  const Job job = job_of_table(
      "l2 = 0.5\n[age]\nloss = \"huber\"\nweight = 0.25\nhuber_delta = 2\n"
      "[kind]\nlabel_smoothing = 0.1\nclass_weights = [1, 2, 3]\ntarget = 1\n",
      two_outputs());
  const std::vector<OutputLoss>& losses = job.training.output_losses;
  ASSERT_EQ(losses.size(), 2U);
  EXPECT_EQ(losses[0].output, "age");
  EXPECT_EQ(losses[0].loss, Loss::huber);
  EXPECT_EQ(losses[0].weight, 0.25);
  EXPECT_EQ(losses[0].options, (LossOptions{.huber_delta = 2}));
  EXPECT_FALSE(losses[0].target);
  EXPECT_EQ(losses[1].loss, Loss::automatic);
  EXPECT_EQ(losses[1].options, (LossOptions{.label_smoothing = 0.1, .class_weights = {1, 2, 3}}));
  EXPECT_EQ(losses[1].target, 1.0);
  EXPECT_EQ(job.training.loss_options, (LossOptions{.l2 = 0.5}));
}

TEST(LossSettings, TheCommandLineOverridesTheTableOfTheFirstOutput) {
  Job job = job_of_table("[kind]\nloss = \"hinge\"\n", two_outputs());
  apply({.loss = "focal",
         .options = {SettingTable{{"label_smoothing", {0.3}}}},
         .class_weights = "auto"},
        job);
  EXPECT_EQ(job.training.output_losses[0].loss, Loss::focal);
  EXPECT_EQ(job.training.output_losses[0].options.label_smoothing, 0.3);
  EXPECT_EQ(job.training.loss, Loss::automatic);
  const Dataset data({{"x", Tensor(std::vector<float>(6), {3, 2})}},
                     {{"kind", Tensor(std::vector<std::int32_t>{0, 0, 1}, {3})}});
  EXPECT_EQ(with_class_weights(job, data).output_losses[0].options.class_weights,
            (std::vector<double>{0.75, 1.5, 0}));
}

TEST(LossSettings, MistakesInTheTableOfAnOutputAreNamed) {
  const auto mistake = [](const std::string& text) {
    return message_of([&] { job_of_table(text, two_outputs()); });
  };
  EXPECT_EQ(mistake("[ag]\nloss = \"mse\"\n"),
            "a.toml:1:1: [loss.ag] names no output of the network; did you mean 'age'?");
  EXPECT_EQ(mistake("[something]\n"),
            "a.toml:1:1: [loss.something] names no output of the network; expected kind or age");
  EXPECT_EQ(mistake("[age]\nlos = \"mse\"\n"),
            "a.toml:2:1: unknown key 'los' in [loss.age]; did you mean 'loss'?");
  EXPECT_EQ(mistake("[age]\nloss = \"hubr\"\n").substr(0, 43),
            "a.toml:2:8: 'loss' in [loss.age] must be au");
  EXPECT_EQ(mistake("[age]\nl1 = 0.5\n").substr(0, 42),
            "a.toml:2:1: unknown key 'l1' in [loss.age]");
  EXPECT_EQ(mistake("label_smoothing = 0.1\n[kind]\nloss = \"focal\"\n"),
            "a.toml:2:1: [loss.kind] is the loss of the first output; expected none in [training] "
            "and no options but l1 and l2 in [loss]");
}

TEST(LossSettings, TheCommandLineOverrides) {
  Job job = job_of_table("label_smoothing = 0.1\nclass_weights = [1, 2]");
  apply({.loss = "focal",
         .options = {SettingTable{{"label_smoothing", {0.3}}}},
         .class_weights = "auto"},
        job);
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
