// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/given.h"
#include "config/section.h"
#include "config/workloads.h"
#include "describe/setting.h"

namespace linnet::command {

/// Describes the options that say how image files become samples, by their flags; `keys`: these
/// alone.
Description image_flags(const std::vector<std::string_view>& keys = {});
/// Adds --augment.
void add_augment_option(CLI::App& command, std::optional<std::string>& augment);
/// Returns the names of all options of images.
const std::vector<std::string>& image_option_names();
/// Refuses those of image files where the data, a folder or a name, are no image files.
void check_image_files(const GivenOptions& given, const std::string& data);
/// Refuses `option`, a seed, where no sample of the data is drawn by it.
void check_data_seed(const GivenOptions& given, const std::string& option, const std::string& data);
/// Reads what options of image_flags() say. Throws Error for what can't be read.
void read_images(const Setting& given, DatasetOptions& images);

/// Reads a text such as "flip,padding=4,jitter=0.4": names of augmentations, with numbers. "none":
/// none. Throws Error for an unknown name (with the nearest one) and for a number that is none.
Augment parse_augment(const std::string& text);

/// Reads the table [augment], which errors call `where`: the fields of Augment by name. true takes
/// the number of `--augment NAME`. Throws SettingError at the value.
void read_augment(const Setting& table, const std::string& where, Augment& augment);
/// Reads the same of the table [data].
void read_images(Section& section, DatasetOptions& images);

/// Returns the job's data, as its options say.
LoadedData load_data(const Job& job);
/// Makes the network fit the images of a job whose network takes any; crops stay as they are but
/// where the images are smaller.
Network fit_network(const Job& job, const Shape& sample);

}  // namespace linnet::command
