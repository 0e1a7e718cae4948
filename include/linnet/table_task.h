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
  TableTargets target = {};              ///< target columns
  TableTransformOptions transform = {};  ///< how columns become numbers
  /// A transform to use instead of a new one, of a model from which a training starts; `transform`
  /// then says of `missing` alone, and the target may be left empty.
  TableTransform fitted = {};
  double validation = 0.1;  ///< share of the rows that choose the epoch, in [0, 1)
  double test = 0.2;        ///< share of the rows that measure the model, in [0, 1)
  /// Takes the same share of each class for validation and test, within one row, as scikit-learn's
  /// `stratify`. Has no effect on values, groups and time.
  bool stratify = true;
  /// Column whose equal texts are never in two parts, e.g. a patient; it is not an input. The
  /// shares are met as nearly as whole groups can. Empty: none.
  std::string group = {};
  /// Column of dates or numbers by which the earliest rows train, the next ones choose the epoch
  /// and the latest measure. Rows of one time are in one part. Empty: none.
  std::string time = {};
  /// Number of parts of a cross-validation, at least 2, of which the part `fold` is the test set
  /// instead of the share `test`; 0: none. Random and stratified as the split is, or of whole
  /// groups (scikit-learn's StratifiedKFold and GroupKFold). By time the rows are cut into folds +
  /// 1 blocks, of which one measures what the blocks before it trained (TimeSeriesSplit), and
  /// `validation` is a share of the blocks before.
  std::int64_t folds = 0;
  std::int64_t fold = 0;  ///< the part that measures the model, in [0, folds)
  /// Number of members of the default network, at most 32: table_ensemble(). 1: table_network();
  /// 0: chosen by the rows.
  std::int64_t ensemble = 0;
  /// Number of parts of the training rows that members of the default ensemble hold out in turn
  /// (FunctionalNetwork::build_ensemble()), at most 8: what a part's members do not learn from
  /// chooses the epoch and their shares, instead of the share `validation`, so that every row
  /// trains. The validation set then is a part of the training set. 1: none; 0: chosen by the rows,
  /// 5 below 2,000, 3 of a fifth each below 10,000, else 1, and 1 with `group`, `time`, `fitted`,
  /// novelty, `validation` 0 and an `ensemble` of 1.
  std::int64_t validation_folds = 1;
  std::uint64_t seed = 0;  ///< seed of the split, and of the training
};

/// Holds a training that is ready to run on the rows of a table:
/// @code
/// const TableTask task = table_task(read_table("penguins.csv"), {.target = "body_mass_g"});
/// Model model(task.network);
/// model.set_table(task.transform);
/// train(model, task.data, task.training);
/// calibrate_intervals(model, task.data.validation);  // of values, <linnet/intervals.h>
/// model.save("penguins.safetensors");
/// @endcode
struct TableTask {
  TableTransform transform;  ///< fitted on the training set
  Splits data;               ///< the samples of the three parts
  Network network;  ///< the default ensemble or network, for these columns and as many rows
  TrainingOptions training = {};  ///< the default recipe, with early stopping
  /// Rows of the table that are the test set, in its order, from 1.
  std::vector<std::int64_t> test_rows = {};
  /// Rows of the table that are the validation set, in its order, from 1.
  std::vector<std::int64_t> validation_rows = {};
  /// Sentences on what was decided: columns and rows that are left out, the kind of target.
  std::vector<std::string> notes = {};
};

/// Splits the rows, fits a transform on the training set, and chooses a network and a recipe. Rows
/// without a target are left out. Every class keeps a row in the training set (rows of classes that
/// begin later are left out of a split by time). Throws Error and DataError as
/// TableTransform::fit() and transform() do, for shares that leave no training set, too few groups
/// or times, a missing group or time (naming row and column), a group beside a time, and for a
/// table of fewer than 2 rows with a target.
TableTask table_task(const Table& table, const TableTaskOptions& options);

/// Returns the default network of a transform's samples: two layers of Dense, LayerNorm, ReLU and
/// Dropout, whose sizes follow from the number of training rows and features; ids go through one
/// Embedding. It ends in logits, one a class or label, or in the targets' units
/// (add_target_scale()).
Network table_network(const TableTransform& transform, std::int64_t rows);

/// Returns the default ensemble of a transform's samples, a network of one output that is the mean
/// of its members (FunctionalNetwork::build_ensemble()). In turn a member is table_network()'s, one
/// whose numbers are encoded by a PiecewiseLinear of `train`, and below 700 rows a linear model.
/// `members`: 1 is table_network() itself; 0 chooses: from 100,000 rows on 1, else one of each kind
/// that the table allows, at least 2. `folds`: the number of each, which hold out samples in turn.
/// Throws Error for samples of another transform, for fewer than 0 members and for more than 32,
/// and for fewer than 1 fold and more than 8.
Network table_ensemble(const TableTransform& transform, const Dataset& train,
                       std::int64_t members = 0, std::int64_t folds = 1);

/// Appends the layer that brings standardised outputs into the targets' units by mean and std of
/// the training set: a Rescale, or a Normalize for several. Does nothing for classes and labels. A
/// network of your own learns values as fast as the default one with it.
void add_target_scale(Network& network, const TableTransform& transform);

/// Returns the default recipe: AdamW, a moving average of the weights, early stopping by the
/// validation loss, the best epoch's average kept; from 100,000 rows on OneCycle instead of the
/// average and of early stopping. The squared error of values is divided by each target's variance,
/// so it begins near 1; labels take the binary cross-entropy.
TrainingOptions table_training(const TableTransform& transform, std::int64_t rows);

}  // namespace linnet
LINNET_API_END
