// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <linnet/save_dataset.h>

#include <array>
#include <csignal>
#include <memory>
#include <utility>

#include "base/end_signals.h"
#include "commands/data_commands.h"
#include "config/given.h"
#include "config/images.h"
#include "config/named_data.h"
#include "config/options.h"
#include "report/count_progress.h"
#include "report/print.h"

namespace linnet::command {
namespace {

struct ConvertOptions {
  GivenOptions given;
  std::string from;
  std::string to;
  std::string format;
  std::string image_format = "png";
  std::int64_t size = 0;
  Setting images = {SettingTable()};  ///< fields of image_flags()
  std::uint64_t seed = 0;
};

const std::vector<std::string>& format_names() {  // in the order of SaveFormat
  static const std::vector<std::string> names{"idx", "cifar", "images", "npy"};
  return names;
}

const std::vector<std::string>& image_format_names() {  // in the order of ImageFormat
  static const std::vector<std::string> names{"png", "bmp"};
  return names;
}

volatile std::sig_atomic_t interrupted = 0;

struct Interrupted {};

/// Ctrl-C must not leave a half-filled folder: it is noted here, and thrown between two files.
class NoteInterrupts {
 public:
  NoteInterrupts() {
    interrupted = 0;
    for (std::size_t i = 0; i < kEndSignals.size(); ++i) {
      before_[i] = std::signal(kEndSignals[i], [](int) { interrupted = 1; });
      if (before_[i] == SIG_IGN) std::signal(kEndSignals[i], SIG_IGN);
    }
  }
  NoteInterrupts(const NoteInterrupts&) = delete;
  NoteInterrupts& operator=(const NoteInterrupts&) = delete;
  ~NoteInterrupts() {
    for (std::size_t i = 0; i < kEndSignals.size(); ++i) std::signal(kEndSignals[i], before_[i]);
  }

 private:
  std::array<void (*)(int), kEndSignals.size()> before_{};
};

int convert(const ConvertOptions& options) {
  check_image_files(options.given, options.from);
  check_data_seed(options.given, "--seed", options.from);
  if (options.format != "images") {
    options.given.refuse({"--image-format"}, "--to images",
                         fmt::format("--to is {}", options.format));
  }
  DatasetOptions load{.seed = options.seed};
  if (options.size > 0) load.size = {options.size, options.size};
  read_images(options.images, load);
  const LoadedData data = load_data(options.from, load);
  print_notes(data.note);
  const NoteInterrupts guard;
  CountProgress progress("writing", "samples");
  SaveOptions save;
  save.image_format =
      static_cast<ImageFormat>(index_of(image_format_names(), options.image_format));
  save.progress = [&](std::int64_t done, std::int64_t samples) {
    if (interrupted != 0) throw Interrupted{};
    progress.update(done, samples);
  };
  try {
    save_dataset(data.splits, options.to,
                 static_cast<SaveFormat>(index_of(format_names(), options.format)), save);
  } catch (const Interrupted&) {
    progress.clear();
    print_note("interrupted; '{}' was not written", options.to);
    return kInterrupted;
  }
  progress.clear();
  print_note("{} training and {} test samples written to '{}' as {}", data.splits.train.size(),
             data.splits.test.size(), options.to, options.format);
  if (data.splits.validation.size() > 0) {
    print_note("left out {} samples that are held out for validation",
               data.splits.validation.size());
  }
  return kSuccess;
}

}  // namespace

void add_data_convert(CLI::App& data, Action& action) {
  auto options = std::make_shared<ConvertOptions>();
  CLI::App* command = data.add_subcommand("convert", "Writes a data set in another format");
  command->add_option("FROM", options->from, "A folder of data, or a name")->required();
  command->add_option("TO", options->to, "The folder to make; it must not exist")->required();
  command
      ->add_option(
          "--to", options->format,
          "idx (MNIST's files), cifar (binary batches), images (one folder per class) or npy")
      ->required()
      ->check(one_of(format_names()));
  command->add_option("--image-format", options->image_format, "Format of image files: png or bmp")
      ->check(one_of(image_format_names()))
      ->capture_default_str();
  command->add_option("--size", options->size, "Resize image files to SIZE x SIZE pixels")
      ->check(at_least(1, 1 << 14));
  add_flags(*command, image_flags({"channels"}), options->images);
  command
      ->add_option("--seed", options->seed,
                   "Random seed of generated data and of a split by patient")
      ->check(at_least(0, kLargestSeed));
  command->footer("Example: linnet data convert path/to/mnist digits --to images");
  act(*command, options, action, convert);
}

}  // namespace linnet::command
