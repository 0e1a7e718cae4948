// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/dataset.h>
#include <linnet/export.h>
#include <linnet/network.h>
#include <linnet/trainer.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

LINNET_API_BEGIN
namespace linnet {

/// Says how image_task() prepares a training.
struct ImageTaskOptions {
  /// Share of the images that choose the epoch, in [0, 1). Unset: 0.1, of images without a
  /// validation set; images that have one take no share above 0.
  std::optional<double> validation = {};
  /// Share of the images that measure the model. Unset: 0.2, of images without a test set.
  std::optional<double> test = {};
  /// Takes the same share of each class for validation and test, within one image. Has no effect on
  /// images with several labels.
  bool stratify = true;
  std::uint64_t seed = 0;     ///< seed of the split, and of the training
  DatasetOptions files = {};  ///< how image files become samples
};

/// Holds a training that is ready to run on images:
/// @code
/// const ImageTask task = image_task("photos");
/// Model model(task.network);
/// train(model, task.data, task.training);
/// model.save("photos.safetensors");
/// const Tensor probabilities = model.predict_probabilities(load_image("new.jpg", model));
/// @endcode
struct ImageTask {
  Splits data;                    ///< the samples of the three parts
  Network network;                ///< the default network, for these images and classes
  TrainingOptions training = {};  ///< the default recipe, image_training()
  /// Sentences on what was decided: the size of the images, the parts, what is learned.
  std::vector<std::string> notes = {};
};

/// Reads a folder of images with classes, as load_dataset() knows them, splits them, and chooses a
/// network and a recipe. A test set that the folder has, train/ beside test/, is kept, and a
/// validation set too. Without ImageTaskOptions::files.size, images of one size of at most 128
/// pixels keep it; others are resized so that the longer side has 128, or if they have several
/// sizes to a square of at most 128. Throws as load_dataset() and Dataset::split() do, and
/// DataError for data that are no images of 1 or 3 channels with labels.
ImageTask image_task(const std::filesystem::path& folder, const ImageTaskOptions& options = {});

/// Does the same for images that are loaded; ImageTaskOptions::files has no effect.
ImageTask image_task(const Splits& data, const ImageTaskOptions& options = {});

/// Returns `options` with the size of samples that image_task() chooses for the files of a folder,
/// where they leave it open. Reads the headers of the files.
DatasetOptions image_files(const std::filesystem::path& folder, DatasetOptions options = {});

/// Returns the default recipe for `images` training images of this shape: Muon, one cycle of the
/// learning rate over all epochs (100 of fewer than 300 images, fewer of more, 12 from 30,000 on),
/// random crops of padded images, flips in colour and rotations by up to 10 degrees in grey; the
/// weights of the epoch with the lowest validation loss are kept. Nothing stops early, since a
/// schedule that is cut short has not lowered the learning rate. image_task() leaves out flips
/// where classes are single characters or name a side ("turn_left"), and flips and rotations where
/// the images have values.
TrainingOptions image_training(const Shape& sample, std::int64_t images);

}  // namespace linnet
LINNET_API_END
