// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "model/options.h"
#include "model/program_cache.h"
#include "model/step_graph.h"

namespace linnet {

/// Everything in the graphs of a data set's steps that follows from the data set, as a text: types,
/// losses with their options, augmentation. Of functions of your own it says whether there are any.
std::string describe(const StepData& data,
                     std::string (*loss_text)(const OutputLoss& loss) = &key_of<OutputLoss>);

// What programs over a data set are made from; `key` tells apart what the texts do not: custom
// losses and whose moments are updated. `network` must outlive the programs.
ProgramRecipe training_recipe(const std::string& key, const ModelState& model, const StepData& data,
                              const TrainingStep& step, std::shared_ptr<TrainingMemory> memory);
ProgramRecipe shard_recipe(const std::string& key, const ModelState& model, const StepData& data,
                           const TrainingStep& step, std::shared_ptr<TrainingMemory> memory);
// The programs that follow shards, at any batch. The last four: sums of shards, see keep_step() to
// add_lanes_step().
ProgramRecipe finish_recipe(const std::string& key, const ModelState& model, const StepData& data,
                            const TrainingStep& step, std::shared_ptr<TrainingMemory> memory);
ProgramRecipe keep_recipe(const std::string& key, const ModelState& model, std::size_t level,
                          std::shared_ptr<TrainingMemory> memory);
ProgramRecipe add_recipe(const std::string& key, const ModelState& model, std::size_t level,
                         std::shared_ptr<TrainingMemory> memory);
ProgramRecipe add_kept_recipe(const std::string& key, const ModelState& model, std::size_t level,
                              std::shared_ptr<TrainingMemory> memory);
ProgramRecipe add_lanes_recipe(const std::string& key, const ModelState& model, std::size_t lanes,
                               std::shared_ptr<TrainingMemory> memory);
// weights: as ProgramRecipe::parameters; one memory for each key.
ProgramRecipe evaluation_recipe(const std::string& key, const ModelState& model,
                                const StepData& data, std::shared_ptr<Buffer> weights = nullptr);

}  // namespace linnet
