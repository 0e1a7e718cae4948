// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <linnet/layers.h>
#include <linnet/series_task.h>

#include <cmath>

#include "base/files.h"
#include "data_sets.h"
#include "message_of.h"
#include "temporary_folder.h"

namespace linnet::test {
namespace {

using linnet::testing::message_of;
using linnet::testing::TemporaryFolder;
using linnet::testing::vector_of;

/// A week's rhythm around a slow wave, a number known ahead that matters, another target.
std::string rows_text(int rows, int changed_from = 1 << 30) {
  std::string text = "date,temp,open,humid\n";
  for (int i = 0; i < rows; ++i) {
    const int open = static_cast<int>(50 * (1 + std::sin(12.9 * i * i))) % 2;
    double temp = 20 + 5 * std::cos(2 * 3.141592653589793 * i / 7) + 4 * open;
    if (i >= changed_from) temp = 1000 - 3 * i;
    text += fmt::format("{}-{:02}-{:02},{:.4f},{},{:.4f}\n", 2000 + i / 336, i / 28 % 12 + 1,
                        i % 28 + 1, temp, open, 50 - temp + i % 2);
  }
  return text;
}

SeriesTaskOptions options() {
  SeriesTaskOptions options;
  options.targets = {"temp"};
  options.time = "none";
  options.past = 14;
  options.future = 3;
  options.known = {"open"};
  options.ignore = {"date"};
  return options;
}

Model trained(const SeriesTask& task, int threads = 1, std::int64_t epochs = 4) {
  Model model(task.network, {.device = "cpu", .threads = threads, .seed = 1});
  model.set_series(task.transform);
  TrainingOptions training = task.training;
  training.epochs = epochs;
  train(model, {.train = task.data.train, .validation = task.data.validation}, training);
  return model;
}

TEST(SeriesTask, LearnsARhythmAndWhatIsKnownAhead) {
  const SeriesTask task = series_task(parse_table(rows_text(500)), options());
  EXPECT_EQ(task.transform.season(), 7);
  Model model = trained(task, 1, 40);
  const SeriesScore score = evaluate_series(model, task.test)[0];
  EXPECT_LT(score.model.all_mae, 0.4 * score.seasonal.all_mae);
  EXPECT_LT(score.model.all_mae, 0.4 * score.persistence.all_mae);
  EXPECT_LT(score.model.mase, 0.5);
}

/// A season of 6 steps around a line, and some noise.
std::string rising_text(int rows, double slope = 0.5) {
  std::string text = "value\n";
  for (int i = 0; i < rows; ++i) {
    const double noise = std::sin(12.9 * i * i);
    text += fmt::format("{:.4f}\n", slope * i + 5 * (i % 6 < 3 ? i % 3 : -1) + 0.1 * noise);
  }
  return text;
}

/// The error without any training, beside that of the last value.
double untrained_error(const SeriesTask& task) {
  Model model(task.network, {.device = "cpu", .threads = 1, .seed = 1});
  model.set_series(task.transform);
  model.set_weights(task.weights);
  const SeriesScore score = evaluate_series(model, task.test)[0];
  return score.model.all_mae / score.persistence.all_mae;
}

TEST(SeriesTask, BeginsAsARidgeRegression) {
  const SeriesTaskOptions options{.targets = {"value"}, .past = 12, .future = 3};
  SeriesTask task = series_task(parse_table(rising_text(300)), options);
  EXPECT_EQ(task.weights.size(), 2);  // weight and bias
  EXPECT_LT(untrained_error(task), 0.3);
  task.weights = {};
  EXPECT_GT(untrained_error(task), 0.9);
}

TEST(SeriesTask, BeginsAsTheLastValueOtherwise) {
  const SeriesTaskOptions options{.targets = {"value"}, .past = 12, .future = 3};
  // Fewer than 40 windows.
  EXPECT_EQ(series_task(parse_table(rising_text(70)), options).weights.size(), 0);
  SeriesTaskOptions longer = options;
  longer.past = 300;  // more than 256 numbers
  EXPECT_EQ(series_task(parse_table(rising_text(900)), longer).weights.size(), 0);
  // No trend.
  EXPECT_EQ(series_task(parse_table(rising_text(300, 0)), options).weights.size(), 0);
}

TEST(SeriesTask, NothingOfTheTestPartReachesTheModel) {
  const TemporaryFolder folder;
  const auto bytes = [&](int changed_from) {
    const SeriesTask task = series_task(parse_table(rows_text(300, changed_from)), options());
    trained(task).save(folder / "model.safetensors");
    return read_file(folder / "model.safetensors");
  };
  const std::string model = bytes(1 << 30);
  EXPECT_EQ(bytes(240), model);
  EXPECT_NE(bytes(209), model) << "the last row of the training set";
}

TEST(SeriesTask, ATestSetOfPartsSharesNoForecast) {
  SeriesTaskOptions given = options();
  given.targets = {"temp", "humid"};
  const SeriesTask task = series_task(parse_table(rows_text(100)), given);
  // 70 rows train, 10 validate, 20 test: forecasts of 3 lie in one part.
  EXPECT_EQ(task.data.train.size(), 70 - 14 - 3 + 1);
  EXPECT_EQ(task.data.validation.size(), 10 - 3 + 1);
  EXPECT_EQ(task.data.test.size(), 20 - 3 + 1);
  EXPECT_EQ(task.test.place(0, 0).time, "80");
  EXPECT_EQ(task.validation.place(7, 2).time, "79");
  EXPECT_EQ(task.network.output_names(), (std::vector<std::string>{"temp", "humid"}));
}

TEST(SeriesTask, EveryNetworkHasTheSameBitsAtAnyNumberOfThreads) {
  SeriesTaskOptions given = options();
  given.targets = {"temp", "humid"};
  const Table table = parse_table(rows_text(120));
  for (const SeriesNetwork kind :
       {SeriesNetwork::mlp, SeriesNetwork::conv1d, SeriesNetwork::gru, SeriesNetwork::lstm}) {
    given.network = kind;
    const SeriesTask task = series_task(table, given);
    Model one = trained(task, 1, 2);
    Model two = trained(task, 2, 2);
    for (const std::string& name : one.parameter_names()) {
      EXPECT_EQ(vector_of(one.parameter(name)), vector_of(two.parameter(name))) << name;
    }
    EXPECT_EQ(vector_of(forecast_windows(one, task.test)[1]),
              vector_of(forecast_windows(two, task.test)[1]));
  }
}

TEST(SeriesTask, ErrorsAreThoseOfADoubleLoop) {
  const Table table = parse_table(rows_text(120));
  const SeriesTask task = series_task(table, options());
  Model model = trained(task);
  const SeriesScore score = evaluate_series(model, task.test, 5)[0];
  const std::vector<float> forecasts = vector_of(forecast_windows(model, task.test)[0]);
  const std::size_t temp = table.find("temp");
  const auto y = [&](std::int64_t row) { return static_cast<float>(table.number(row, temp)); };
  double mae[3][3] = {};
  double squares[3] = {};
  std::int64_t windows = 0;
  for (std::int64_t first = 96; first + 3 <= 120; ++first, ++windows) {
    for (int step = 0; step < 3; ++step) {
      const double actual = y(first + step);
      const double model_error = forecasts[static_cast<std::size_t>(3 * windows + step)] - actual;
      mae[0][step] += std::abs(model_error);
      mae[1][step] += std::abs(y(first - 1) - actual);
      mae[2][step] += std::abs(y(first + step - 7) - actual);
      squares[step] += model_error * model_error;
    }
  }
  ASSERT_EQ(task.test.size(), windows);
  const auto count = static_cast<double>(windows);
  for (std::size_t step = 0; step < 3; ++step) {
    EXPECT_NEAR(score.model.mae[step], mae[0][step] / count, 1e-9);
    EXPECT_NEAR(score.model.rmse[step], std::sqrt(squares[step] / count), 1e-9);
    EXPECT_NEAR(score.persistence.mae[step], mae[1][step] / count, 1e-9);
    EXPECT_NEAR(score.seasonal.mae[step], mae[2][step] / count, 1e-9);
  }
  double naive = 0;  // of the training set, rows 0 to 83
  for (std::int64_t row = 7; row < 84; ++row) {
    naive += std::abs(table.number(row, temp) - table.number(row - 7, temp)) / (84 - 7);
  }
  const double all = (mae[0][0] + mae[0][1] + mae[0][2]) / (3 * count);
  EXPECT_NEAR(score.model.all_mae, all, 1e-9);
  EXPECT_NEAR(score.model.mase, all / naive, 1e-9);
}

TEST(SeriesTask, AModelFileForecastsTheStepsAfterATable) {
  const TemporaryFolder folder;
  std::string text = "shop,day,promo,sales\n";
  for (int i = 0; i < 60; ++i) {
    for (const char* shop : {"n", "s"}) {
      text += fmt::format("{},2024-{:02}-{:02},{},{:.3f}\n", shop, i / 28 + 1, i % 28 + 1,
                          i % 5 == 0, (shop[0] == 'n' ? 100.0 : 10.0) + i % 7 + 5 * (i % 5 == 0));
    }
  }
  SeriesTaskOptions given;
  given.targets = {"sales"};
  given.entity = "shop";
  given.time = "day";
  given.past = 7;
  given.future = 2;
  given.known = {"promo"};
  // Days 29 to 31 of January are missing: gaps that are filled.
  const SeriesTask task = series_task(parse_table(text), given);
  Model model = trained(task);
  model.save(folder / "model.safetensors");
  Model loaded = Model::load(folder / "model.safetensors", {.device = "cpu", .threads = 1});
  EXPECT_EQ(loaded.series().to_json(), task.transform.to_json());

  std::string rows = "day,shop,sales,promo\n";  // another order of columns
  for (int i = 0; i < 9; ++i) {
    rows += fmt::format("2024-05-{:02},s,{},{}\n", i + 1, i < 7 ? fmt::format("{}", 10 + i) : "",
                        i == 7 ? 1 : 0);
  }
  const std::vector<ForecastStep> steps =
      forecast(loaded, parse_table(rows, "new", loaded.series().reading()));
  ASSERT_EQ(steps.size(), 2U);
  EXPECT_EQ(steps[0].place.entity, "s");
  EXPECT_EQ(steps[0].place.time, "2024-05-08");
  EXPECT_EQ(steps[1].place.time, "2024-05-09");
  // The window that ends there, and the same of the model that was not saved.
  std::string whole = rows;
  for (const char* of : {"08,s,,1", "09,s,,0"}) {
    whole.replace(whole.find(of), 7, fmt::format("{}5{}", std::string(of, 5), std::string(of + 5)));
  }
  const std::vector<float> windows =
      vector_of(forecast_windows(model, task.transform.windows(parse_table(whole)))[0]);
  ASSERT_EQ(windows.size(), 2U);
  EXPECT_EQ(steps[0].values[0], windows[0]);
  EXPECT_EQ(steps[1].values[0], windows[1]);

  const auto refusal = [&](const std::string& of) {
    return message_of([&] { forecast(loaded, parse_table(of, "new")); });
  };
  EXPECT_EQ(refusal(rows.substr(0, rows.find("2024-05-09"))),
            "'new' has no row for 2024-05-09 of the series 's', whose 'promo' is known ahead; the "
            "forecast needs it in the 2 steps after the last value of 'sales'");
  EXPECT_EQ(
      refusal("day,shop,sales,promo\n2024-05-01,s,1,0\n2024-05-02,s,2,1\n"),
      "'new' holds 2 steps of the series 's' up to its last value of 'sales'; the model needs "
      "7");
}

TEST(SeriesTask, SaysWhatIsWrong) {
  const Table table = parse_table(rows_text(100));
  const auto refusal = [&](auto change) {
    SeriesTaskOptions given = options();
    change(given);
    return message_of([&] { series_task(table, given); });
  };
  EXPECT_EQ(refusal([](auto& o) { o.targets.clear(); }),
            "name the target column of 'table', one of date, temp, open or humid");
  EXPECT_EQ(refusal([](auto& o) { o.past = 0; }),
            "past is the number of steps that the model sees, from 1 to 1048576; got 0");
  EXPECT_EQ(refusal([](auto& o) { o.future = -7; }),
            "future is the number of steps that are forecast, from 1 to 1048576; got -7");
  EXPECT_EQ(
      refusal([](auto& o) { o.past = 90; }),
      "the training set of 'table' has no window of 90 steps and 3 steps after them that have "
      "all targets: 100 rows in all; expected more rows, or a shorter past or future");
  EXPECT_EQ(refusal([](auto& o) { o.known = {"temp"}; }),
            "the column 'temp' is the target, the time or the series; it cannot be known ahead");
  EXPECT_EQ(refusal([](auto& o) { o.targets = {"tmp"}; }),
            "'table' has no column 'tmp'; did you mean 'temp'?");
  const SeriesTask task = series_task(table, options());
  Model other(Network({3}, {Dense{.units = 3}}), {.device = "cpu", .threads = 1});
  EXPECT_EQ(message_of([&] { other.set_series(task.transform); }),
            "the series transform makes 'past' of (14, 3), of which the network has no input");
  EXPECT_EQ(message_of([&] { evaluate_series(other, task.test); }),
            "the model does not forecast series; set_series() says how");
}

}  // namespace
}  // namespace linnet::test
