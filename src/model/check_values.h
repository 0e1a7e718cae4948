// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/dataset.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "model/step_graph.h"

namespace linnet {

/// Returns text such as "row 7, column (0, 3) of 'x_train.npy' (counted from 0)": element `index`
/// of the samples, or the targets, of a data set, whose records have the shape `record`. Without a
/// file `what` names them.
std::string place_of(std::size_t index, const Shape& record, const std::filesystem::path& file,
                     std::string_view what, const Dataset& data);

/// Returns the same of `owner`, e.g. "the input 'x'".
std::string place_of(std::size_t index, const Shape& record, std::string_view owner);

/// Returns how messages call a column, and the file that it was read from: "samples" and "targets"
/// where the data set has one, else "column 'x'", of no known file.
std::string name_of_input(const Column& column, const Dataset& data);
std::string name_of_target(const Column& column, const Dataset& data);
std::filesystem::path file_of_input(const Dataset& data);
std::filesystem::path file_of_target(const Dataset& data);

/// Refuses, by file, row and column, values that no training can use: samples and
/// targets that are NaN or infinite where they count, and ids outside the embedding that reads
/// them. Throws Error. What a source gives is not known yet.
void check_training_values(const NetworkDefinition& network, const Dataset& data);

/// Returns the batch norm, if there is one, that check_batch_norms() refuses.
const Node* norm_of_one_value(const NetworkDefinition& network, std::int64_t samples,
                              std::int64_t batch, std::int64_t shards,
                              const std::vector<bool>& trains);

/// Throws Error where a step on one sample gives a batch norm one value per channel, whose variance
/// is not defined: a batch of one sample, what batches leave of `samples`, or a shard of either.
/// Frozen batch norms compute no variance; `trains`: by parameter.
void check_batch_norms(const NetworkDefinition& network, std::int64_t samples, std::int64_t batch,
                       std::int64_t shards, const std::vector<bool>& trains);

/// Throws Error where all weights are 0, the lengths of a target leave no step, or the loss
/// ignores, or weighs by 0, every label: there is nothing to learn or to measure then. `part` is
/// how the message calls the samples.
void check_counted_labels(const StepData& step, const Dataset& data, std::string_view part);

}  // namespace linnet
