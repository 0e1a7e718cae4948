// SPDX-License-Identifier: Apache-2.0
#include "describe/other_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "describe/nearest.h"

namespace linnet {
namespace {

/// Theirs and ours.
constexpr std::pair<std::string_view, std::string_view> kOtherNames[]{
    {"lr", "learning_rate"},
    {"learning_rate", "lr"},
    {"learning_rate_init", "learning_rate"},
    {"learning_rate_init", "lr"},
    {"wd", "weight_decay"},
    {"eps", "epsilon"},
    {"kernel_size", "kernel"},
    {"out_channels", "filters"},
    {"out_features", "units"},
    {"hidden_size", "units"},
    {"batch_size", "batch"},
    {"batch_size", "size"},
    {"bs", "batch"},
    {"p", "rate"},
    {"num_heads", "heads"},
    {"n_epochs", "epochs"},
    {"num_epochs", "epochs"},
    {"nb_epoch", "epochs"},
    {"max_epochs", "epochs"},
    {"num_train_epochs", "epochs"},
    {"max_iter", "epochs"},
    {"n_iter", "epochs"},
    {"validation_data", "validation"},
    {"validation_split", "validation"},
    {"val_split", "validation"},
    {"criterion", "loss"},
    {"loss_fn", "loss"},
    {"loss_function", "loss"},
    {"opt", "optimizer"},
    {"lr_scheduler", "schedule"},
    {"lr_schedule", "schedule"},
    {"scheduler", "schedule"},
    {"hidden_layer_sizes", "hidden"},
    {"alpha", "l2"},
    {"solver", "optimizer"},
    {"early_stopping", "validation_fraction"},
    {"early_stopping", "patience"},
    {"n_iter_no_change", "patience"},
    {"early_stopping_rounds", "patience"},
    {"class_weight", "class_weights"},
    {"pos_weight", "positive_weights"},
    {"random_state", "seed"},
    {"random_seed", "seed"},
    {"num_workers", "decoders"},
    {"n_jobs", "threads"},
    {"num_threads", "threads"},
    {"horizon", "future"},
    {"forecast_horizon", "future"},
    {"prediction_length", "future"},
    {"n_ahead", "future"},
    {"steps_ahead", "future"},
    {"lookback", "past"},
    {"look_back", "past"},
    {"window", "past"},
    {"window_size", "past"},
    {"context_length", "past"},
    {"input_chunk_length", "past"},
    {"output_chunk_length", "future"},
    {"freq", "step"},
    {"frequency", "step"},
    {"date_column", "time"},
    {"timestamp", "time"},
    {"label", "target"},
    {"labels", "target"},
    {"y", "target"},
    {"test_size", "test"},
    {"output", "out"},
    {"output_dir", "out"},
    {"save_dir", "out"},
    {"cv", "folds"},
    {"k_folds", "folds"},
    {"delimiter", "separator"},
    {"sep", "separator"}};

}  // namespace

std::vector<std::string_view> other_names(std::string_view given) {
  std::vector<std::string_view> names;
  for (const auto& [theirs, ours] : kOtherNames) {
    if (given == theirs) names.push_back(ours);
  }
  return names;
}

std::string meant_among(std::string_view given, const std::vector<std::string>& known) {
  for (const std::string_view ours : other_names(given)) {
    if (std::ranges::count(known, ours) > 0) return fmt::format("; did you mean '{}'?", ours);
  }
  return did_you_mean(given, known);
}

}  // namespace linnet
