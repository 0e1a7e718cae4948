// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/dataset.h>
#include <linnet/export.h>
#include <linnet/model.h>
#include <linnet/network.h>
#include <linnet/series_transform.h>
#include <linnet/state.h>
#include <linnet/tables.h>
#include <linnet/trainer.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

LINNET_API_BEGIN
namespace linnet {

/// Names the default networks of series.
enum class SeriesNetwork : std::uint8_t {
  mlp,     ///< two dense layers over all steps of the window
  conv1d,  ///< two convolutions over the steps, then a dense layer
  gru,     ///< a GRU over the steps, then a dense layer
  lstm,    ///< an LSTM over the steps, then a dense layer
};

/// Returns the names of the networks, in the order of SeriesNetwork: "mlp", ...
std::vector<std::string_view> series_network_names();

/// Says how series_task() prepares a training. Columns are given by name or number from 1.
struct SeriesTaskOptions {
  std::vector<std::string> targets = {};  ///< columns that are forecast, numbers; at least one
  /// Column of the time: dates (also 20240331 and 202403), or whole numbers. Empty: the only column
  /// of dates, or none where there is none. "none": rows follow each other at equal steps.
  std::string time = {};
  std::string entity = {};  ///< column that tells several series apart; empty: one series
  std::int64_t past = 0;    ///< steps that the model sees, at least 1
  std::int64_t future = 1;  ///< steps that it forecasts, at least 1
  /// Columns whose values are known ahead, e.g. holidays. The time always is.
  std::vector<std::string> known = {};
  std::vector<std::string> ignore = {};  ///< columns that are left out
  /// Steps of a season, for the seasonal naive forecast; 1: none; 0: found by the autocorrelation
  /// of the first target in the training set, among at most 1000 steps.
  std::int64_t season = 0;
  /// Time from one step to the next: a number and s, min, h, d, w, months or years, e.g. "15min";
  /// without a unit where times are numbers. Empty: the most common difference of two times.
  std::string step = {};
  SameTime same_time = SameTime::refuse;       ///< what becomes of several rows of one time
  OffStep off_step = OffStep::refuse;          ///< what becomes of times between two steps
  SeriesNetwork network = SeriesNetwork::gru;  ///< the default network that is taken
  double validation = 0.1;  ///< share of the rows, before the test set, in [0, 1)
  double test = 0.2;        ///< share of the rows, the last ones, in [0, 1)
  std::uint64_t seed = 0;   ///< seed of the training
};

/// Holds a training that is ready to run on the series of a table:
/// @code
/// const SeriesTask task = series_task(read_table("temperatures.csv"),
///                                     {.targets = {"Temp"}, .past = 30, .future = 7});
/// Model model(task.network);
/// model.set_series(task.transform);
/// model.set_weights(task.weights);
/// train(model, task.data, task.training);
/// calibrate_intervals(model, task.data.validation);  // for intervals, <linnet/intervals.h>
/// model.save("temperatures.safetensors");
///
/// Model loaded = Model::load("temperatures.safetensors");
/// for (const ForecastStep& step : forecast(loaded, read_table("new.csv"))) {
///   std::printf("%s %.1f\n", step.place.time.c_str(), step.values[0]);
/// }
/// @endcode
struct SeriesTask {
  SeriesTransform transform;      ///< fitted on the training set
  SeriesWindows test = {};        ///< windows of the test set, for evaluate_series()
  SeriesWindows validation = {};  ///< windows of the validation set
  Splits data = {};               ///< the windows of the three parts as data sets
  Network network;                ///< the default network
  /// Initial weights of the linear part of targets with a trend and a season, for
  /// Model::set_weights(): a ridge regression, whose strength is chosen by rolling origin. Empty
  /// where there is no such target, few windows, or many numbers in each.
  State weights = {};
  TrainingOptions training = {};        ///< the default recipe, with early stopping
  std::vector<std::string> notes = {};  ///< sentences on what was decided
};

/// Splits the rows by time, fits a transform on the rows before the validation set, and chooses a
/// network and a recipe. A window belongs to the part in which its forecast lies; windows whose
/// forecast lies in two parts are left out, and so are those that miss a target. Throws Error for
/// options out of range, and DataError as SeriesTransform::windows() does, for a target that is no
/// number or constant, and for a part without windows.
SeriesTask series_task(const Table& table, const SeriesTaskOptions& options);

/// Returns a default network of a transform's windows, with an output (future) for each target, in
/// its unit. It adds to the target's last value what the network of this kind computes and a linear
/// function of all inputs, so it begins near persistence, or with SeriesTask::weights near a ridge
/// regression.
/// `windows`: those of the training, which the sizes follow.
Network series_network(const SeriesTransform& transform, SeriesNetwork kind, std::int64_t windows);

/// Returns the default recipe: AdamW, early stopping by the validation loss, the best epoch's
/// weights kept. Each target's squared error is divided by that of persistence.
TrainingOptions series_training(const SeriesTransform& transform, std::int64_t windows);

/// Holds errors of forecasts of a target, in its unit.
struct ForecastErrors {
  std::vector<double> mae = {};   ///< mean absolute error of each step
  std::vector<double> rmse = {};  ///< root mean squared error of each step
  double all_mae = 0;             ///< mean absolute error of all steps
  double all_rmse = 0;            ///< root mean squared error of all steps
  /// all_mae, divided by the mean absolute error of the seasonal naive forecast in the training
  /// part (Hyndman and Koehler, 2006); NaN where that is 0.
  double mase = 0;
};

/// Holds the errors of a target's forecasts beside those of two simple ones, on the same windows.
struct SeriesScore {
  std::string target = {};          ///< column
  ForecastErrors model = {};        ///< of the model
  ForecastErrors persistence = {};  ///< of the last value
  ForecastErrors seasonal = {};     ///< of the value a season ago; empty without a season
};

/// Returns the errors of each target. Waits. Throws Error for a model without a series and for
/// windows of another shape.
std::vector<SeriesScore> evaluate_series(Model& model, const SeriesWindows& windows,
                                         std::int64_t batch = 256);

/// Returns the forecasts of windows: f32 (N, future) of each target, in order. Waits.
std::vector<Tensor> forecast_windows(Model& model, const SeriesWindows& windows,
                                     std::int64_t batch = 256);

/// Holds a forecast step of a series.
struct ForecastStep {
  SeriesPlace place = {};           ///< series and time
  std::vector<double> values = {};  ///< of each target, in order
  std::vector<double> low = {};     ///< lower end of each target's interval; empty: not asked for
  std::vector<double> high = {};    ///< upper end of each target's interval; empty: not asked for
};

/// Returns the forecast of the `future` steps after the last row that holds a target, series by
/// series. Later rows may hold the columns that are known ahead. Waits. Throws DataError as
/// SeriesTransform::windows() does, for a series of fewer steps than a window's past, and where
/// values that are known ahead are missing. `interval`: the coverage of the interval around each
/// value, as of interval_half_widths(); 0: none.
std::vector<ForecastStep> forecast(Model& model, const Table& rows, double interval = 0);

}  // namespace linnet
LINNET_API_END
