// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/image_task.h>
#include <linnet/text_task.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/workloads.h"

namespace linnet::command {

/// What the command line says of a training that names a folder or a file of texts.
struct PreparedSettings {
  DatasetOptions files = {};  ///< how image files become samples
  TextColumns columns = {};   ///< of a file of texts
  std::optional<double> validation = {};
  std::optional<double> test = {};
  bool stratify = true;
  std::uint64_t seed = 0;
  std::string from = {};  ///< a model to start from; empty: the default network
};

/// Returns whether a path is a folder, or a file that is named or looks like one of texts by lines.
bool is_prepared(const std::string& path);

/// Returns whether a path is a folder whose images have their targets in a table.
bool is_image_folder(const std::string& path);

/// Returns the training of a folder of images or texts, or of a file of texts. With a model to
/// start from, its samples are read as the model's own and the network is the model's. Throws Error
/// for other data, saying what to do.
Job prepared_job(const std::string& path, const PreparedSettings& settings);

/// Returns the data with labels as the model counts its classes. Throws Error where a model to
/// start from has other classes, or another number of outputs, and where a network has more outputs
/// than there are classes, saying what to do; `force` lets it pass and takes the classes by number.
Splits match_classes(const Job& job, Model& model, Splits splits, bool force);

}  // namespace linnet::command
