// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/dataset.h>
#include <linnet/export.h>
#include <linnet/network.h>
#include <linnet/table_transform.h>
#include <linnet/tables.h>
#include <linnet/trainer.h>

#include <cstdint>
#include <string>
#include <vector>

LINNET_API_BEGIN
namespace linnet {

/// Says how table_task() prepares a training.
struct TableTaskOptions {
  std::string target = {};               ///< target column, by name or number from 1
  TableTransformOptions transform = {};  ///< how columns become numbers
  double validation = 0.1;               ///< share of the rows that choose the epoch, in [0, 1)
  double test = 0.2;                     ///< share of the rows that measure the model, in [0, 1)
  /// Takes the same share of each class for validation and test, within one row, as scikit-learn's
  /// `stratify`. Has no effect on values.
  bool stratify = true;
  std::uint64_t seed = 0;  ///< seed of the split, and of the training
};

/// Holds a training that is ready to run on the rows of a table:
/// @code
/// const TableTask task = table_task(read_table("penguins.csv"), {.target = "species"});
/// Model model(task.network);
/// model.set_table(task.transform);
/// train(model, task.data, task.training);
/// model.save("penguins.safetensors");
/// @endcode
struct TableTask {
  TableTransform transform;       ///< fitted on the training set
  Splits data;                    ///< the samples of the three parts
  Network network;                ///< the default network, for these columns and as many rows
  TrainingOptions training = {};  ///< the default recipe, with early stopping
  /// Sentences on what was decided: columns and rows that are left out, the kind of target.
  std::vector<std::string> notes = {};
};

/// Splits the rows, fits a transform on the training set, and chooses a network and a recipe. Rows
/// without a target are left out. Every class keeps a row in the training set. Throws Error and
/// DataError as TableTransform::fit() and transform() do, for shares that leave no training set,
/// and for a table of fewer than 2 rows with a target.
TableTask table_task(const Table& table, const TableTaskOptions& options);

/// Returns the default network of a transform's samples: two layers of Dense, LayerNorm, ReLU and
/// Dropout, whose sizes follow from the number of training rows and features; ids go through one
/// Embedding. It ends in logits, one a class, or in the target's unit (Rescale by the mean and
/// standard deviation of the training set).
Network table_network(const TableTransform& transform, std::int64_t rows);

/// Returns the default recipe: AdamW, early stopping by the validation loss, the best epoch's
/// weights kept. The squared error of values is divided by the target's variance, so it begins
/// near 1.
TrainingOptions table_training(const TableTransform& transform, std::int64_t rows);

}  // namespace linnet
LINNET_API_END
