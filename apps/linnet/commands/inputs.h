// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/model.h>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "report/saved_run.h"

namespace linnet::command {

/// What a model is asked about: samples without targets, and a name for each.
struct Inputs {
  Dataset data;
  std::vector<std::string> names;  ///< "cat.png", or "t10k-images[17]" for files of many samples
};

/// Reads pictures (PNG, JPEG, BMP), folders of them (with their subfolders, by name), IDX files of
/// pictures (plain or .gz) and .npy arrays, told apart by content, as samples of the model's first
/// input. Pictures come as load_images() has them; arrays have the shape of that input or, as
/// fit_samples() takes them, of the training's samples. `threads` decode folders; 0: all.
/// Throws Error naming the file, its shape and the model's.
Inputs read_inputs(const std::vector<std::string>& paths, const Model& model, int threads = 0);

/// The same for networks that take ids: texts, folders of them (*.txt), tables with a text behind
/// the last tab of each line (.tsv, also .gz, .xz), all by the run's vocabulary, and .npy arrays.
Inputs read_texts(const std::vector<std::string>& paths, const Model& model, const SavedRun& run);

/// Calls read(path) for each. Throws Error naming a path that is missing or can't be entered.
void read_paths(const std::vector<std::string>& paths,
                const std::function<void(const std::filesystem::path&)>& read);

}  // namespace linnet::command
