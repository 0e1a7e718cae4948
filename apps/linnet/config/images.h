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

/// Options for images: how files become samples, and their augmentation.
struct ImageSettings {
  std::optional<std::string> augment;
  std::optional<std::string> size;
  std::optional<std::int64_t> channels;
  std::optional<std::string> on_bad_image;
  std::optional<std::string> exif;
  std::optional<std::int64_t> white;
  std::optional<int> decoders;
};
/// Adds --on-bad-image; `help` says what it does.
void add_bad_image_option(CLI::App& command, std::optional<std::string>& on_bad_image,
                          const std::string& help);
/// Returns what a value of --on-bad-image names.
OnBadImage on_bad_image_of(const std::string& name);
/// Adds --channels (1 or 3).
void add_channels_option(CLI::App& command, std::optional<std::int64_t>& channels);
/// Adds --augment, --exif, --white, --decoders and those of add_loading_options().
void add_image_options(CLI::App& command, ImageSettings& settings);
/// Adds --image-size, --channels and --on-bad-image alone.
void add_loading_options(CLI::App& command, ImageSettings& settings);
/// Returns the names of all these options.
const std::vector<std::string>& image_option_names();
/// Refuses those of add_loading_options() where the data, a folder or a name, are no image files.
void check_image_files(const GivenOptions& given, const std::string& data);
/// Refuses `option`, a seed, where no sample of the data is drawn by it.
void check_data_seed(const GivenOptions& given, const std::string& option, const std::string& data);
/// Throws Error for what can't be read.
void apply(const ImageSettings& settings, Job& job);
void apply(const ImageSettings& settings, DatasetOptions& images);

/// Reads a text such as "flip,padding=4,jitter=0.4": names of augmentations, with numbers. "none":
/// none. Throws Error for an unknown name (with the nearest one) and for a number that is none.
Augment parse_augment(const std::string& text);

/// Reads the table [augment], which errors call `where`: the fields of Augment by name. true takes
/// the number of `--augment NAME`. Throws SettingError at the value.
void read_augment(const Setting& table, const std::string& where, Augment& augment);
/// Reads image_size, channels, on_bad_image, exif and white of the table [data].
void read_images(Section& section, DatasetOptions& images);

/// Returns the job's data, as its options say.
LoadedData load_data(const Job& job);
/// Makes the network fit the images of a job whose network takes any; crops stay as they are but
/// where the images are smaller.
Network fit_network(const Job& job, const Shape& sample);

}  // namespace linnet::command
