// SPDX-License-Identifier: Apache-2.0
#include "config/images.h"

#include <linnet/series_task.h>
#include <linnet/table_task.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <tuple>

#include "base/check.h"
#include "base/join.h"
#include "config/options.h"
#include "config/prepared.h"
#include "datasets/load_dataset.h"
#include "describe/nearest.h"
#include "model/options.h"

namespace linnet::command {
namespace {

/// What fields of Augment are where they are named without a number, as in `--augment flip`; those
/// of truth values are true, ranges their defaults.
constexpr std::array<std::pair<std::string_view, double>, 8> kNamed{{{"padding", 4},
                                                                     {"flip", 0.5},
                                                                     {"brightness", 0.4},
                                                                     {"contrast", 0.4},
                                                                     {"saturation", 0.4},
                                                                     {"cutout", 8},
                                                                     {"mixup", 0.2},
                                                                     {"cutmix", 1}}};
constexpr std::array<std::string_view, 3> kJitter{"brightness", "contrast", "saturation"};

const Description& augmentations() { return description_of<Augment>(); }

/// Returns the fields' names as --augment takes them, with "jitter".
std::vector<std::string> names() {
  std::vector<std::string> all{"jitter"};
  for (const Field& field : augmentations().fields) {
    std::ranges::replace(all.emplace_back(field.key), '_', '-');
  }
  return all;
}

/// Returns a field's value of what was written; truth values and numbers may stand for each other.
Setting value_of(const Field& field, const Setting& given) {
  const Setting otherwise = field.write(augmentations().defaults.get());
  const auto* on = given.get_if<bool>();
  double number = on != nullptr && *on ? 1 : 0;
  if (on == nullptr) {
    number = FieldFormat<double>::read({field.key, "[augment]", given});
  } else if (*on && otherwise.get_if<bool>() == nullptr) {
    const auto* const named =
        std::ranges::find(kNamed, field.key, &decltype(kNamed)::value_type::first);
    if (named == kNamed.end()) return otherwise;
    number = named->second;
  }
  if (otherwise.get_if<bool>() != nullptr) return {number != 0, given.place};
  if (otherwise.get_if<double>() != nullptr) return {number, given.place};
  return {static_cast<std::int64_t>(number), given.place};
}

const std::vector<std::string>& bad_image_names() {
  static const std::vector<std::string> all{"stop", "skip"};
  return all;
}

const std::vector<std::string>& exif_names() {
  static const std::vector<std::string> all{"apply", "ignore"};
  return all;
}

constexpr int kMostWhite = 65535;

template <class T>
T number_of(const std::string& text, std::string_view what) {
  T value{};
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  require(error == std::errc{} && stopped == end && value >= 0 && value < 1e6,
          "{}: expected a number of at least 0; got '{}'", what, text);
  return value;
}

constexpr std::int64_t kMostSide = 1'000'000;

/// "224" or "224x192" (height x width).
Shape size_of_images(const std::string& text) {
  const char* const end = text.data() + text.size();
  std::int64_t height = 0;
  std::from_chars_result read = std::from_chars(text.data(), end, height);
  std::int64_t width = height;
  if (read.ec == std::errc{} && read.ptr != end && *read.ptr == 'x') {
    read = std::from_chars(read.ptr + 1, end, width);
  }
  require(read.ec == std::errc{} && read.ptr == end && std::min(height, width) >= 1 &&
              std::max(height, width) <= kMostSide,
          "--image-size: expected pixels, such as 224, or HEIGHTxWIDTH, such as 224x192; got '{}'",
          text);
  return {height, width};
}

}  // namespace

Augment parse_augment(const std::string& text) {
  Augment augment;
  if (text == "none") return augment;
  SettingTable table;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string entry = text.substr(begin, end - begin);
    const std::size_t equals = std::min(entry.find('='), entry.size());
    std::string name = entry.substr(0, equals);
    require(std::ranges::count(names(), name) > 0, "there is no augmentation '{}'{}", name,
            did_you_mean(name, names()));
    const std::string number = entry.substr(std::min(equals + 1, entry.size()));
    const Setting value = equals < entry.size()
                              ? Setting(number_of<double>(number, "--augment " + name))
                              : Setting(true);
    std::ranges::replace(name, '-', '_');
    std::erase_if(table, [&](const SettingEntry& before) { return before.key == name; });
    table.push_back({std::move(name), value});
    begin = end + 1;
  }
  read_augment({std::move(table)}, "--augment", augment);
  return augment;
}

void add_image_options(CLI::App& command, ImageSettings& settings) {
  command.add_option("--augment", settings.augment,
                     "Augmentation of training images, e.g. padding=4,flip,cutout=8; names: " +
                         CLI::detail::join(names(), ", ") + "; none");
  add_loading_options(command, settings);
  command
      .add_option("--exif", settings.exif,
                  "What the EXIF orientation of image files does: apply (the default) turns them "
                  "upright, ignore leaves the pixels as stored")
      ->check(one_of(exif_names()));
  command
      .add_option("--white", settings.white,
                  "Sample of 16-bit image files that becomes white, e.g. 4095; if not given, the "
                  "least 2^n - 1 that no training image exceeds")
      ->check(at_least(1, kMostWhite));
  command
      .add_option("--decoders", settings.decoders,
                  "Threads that decode the image files of a streamed training; 0: all processors")
      ->check(at_least(0, 1024));
}

void add_bad_image_option(CLI::App& command, std::optional<std::string>& on_bad_image,
                          const std::string& help) {
  command.add_option("--on-bad-image", on_bad_image, help)->check(one_of(bad_image_names()));
}

OnBadImage on_bad_image_of(const std::string& name) {
  return static_cast<OnBadImage>(index_of(bad_image_names(), name));
}

void add_channels_option(CLI::App& command, std::optional<std::int64_t>& channels) {
  command
      .add_option(
          "--channels", channels,
          "Channels of image files: 1 (grey) or 3 (colour); if not given, 3 if any has colour")
      ->check(CLI::IsMember({1, 3}));
}

void add_loading_options(CLI::App& command, ImageSettings& settings) {
  command.add_option(
      "--image-size", settings.size,
      "Size to which image files are resized at loading: one number, or HEIGHTxWIDTH");
  add_channels_option(command, settings.channels);
  add_bad_image_option(
      command, settings.on_bad_image,
      "What follows when an image file cannot be decoded: stop, or leave it out and count it");
}

const std::vector<std::string>& image_option_names() {
  static const std::vector<std::string> all{"--augment", "--image-size", "--channels",
                                            "--on-bad-image", "--decoders"};
  return all;
}

void check_image_files(const GivenOptions& given, const std::string& data) {
  const auto folder = datasets::find(data, data_places());
  if (folder && holds_image_files(*folder)) return;
  given.refuse({"--image-size", "--size", "--channels", "--on-bad-image", "--decoders"},
               "image files", fmt::format("'{}' holds none", data));
}

void check_data_seed(const GivenOptions& given, const std::string& option,
                     const std::string& data) {
  const auto folder = datasets::find(data, data_places());
  if (!folder || find_dataset(*folder).kind == DataKind::chest_xray) return;
  given.refuse({option}, "generated data and a split by patient",
               fmt::format("'{}' has neither", data));
}

void apply(const ImageSettings& settings, DatasetOptions& images) {
  if (settings.size) images.size = size_of_images(*settings.size);
  images.channels = settings.channels.value_or(images.channels);
  if (settings.on_bad_image) images.on_bad_image = on_bad_image_of(*settings.on_bad_image);
  if (settings.exif) images.exif = static_cast<Exif>(index_of(exif_names(), *settings.exif));
  if (settings.white) images.white = settings.white;
}

void apply(const ImageSettings& settings, Job& job) {
  if (settings.augment) job.training.augment = parse_augment(*settings.augment);
  apply(settings, job.images);
  job.training.decoders = settings.decoders.value_or(job.training.decoders);
}

void read_augment(const Setting& table, const std::string& where, Augment& augment) {
  for (const SettingEntry& entry : *table.get_if<SettingTable>()) {
    const Field* field = augmentations().find(entry.key);
    if (entry.key != "jitter") {
      const SettingEntry one{entry.key,
                             field != nullptr ? value_of(*field, entry.value) : entry.value,
                             entry.place};
      augmentations().read(&augment, {SettingTable{one}}, where, {"jitter"});
      continue;
    }
    for (const std::string_view key : kJitter) {
      const Field& colour = *augmentations().find(key);
      const SettingEntry one{std::string(key), value_of(colour, entry.value), entry.place};
      augmentations().read(&augment, {SettingTable{one}}, where);
    }
  }
}

void read_images(Section& s, DatasetOptions& images) {
  if (s.has("image_size")) {
    const toml::node* node = s.node("image_size");
    if (node->is_integer()) {
      const std::int64_t side = s.integer("image_size", 0, 1);
      images.size = {side, side};
    } else {
      images.size = Shape(s.integers("image_size"));
      if (images.size.rank() != 2) {
        s.refuse("image_size", "'image_size' in [data] must be a number or [height, width]");
      }
    }
  }
  images.channels = s.integer("channels", images.channels);
  if (images.channels != 1 && images.channels != 3 && s.has("channels")) {
    s.refuse("channels", "'channels' in [data] must be 1 (grey) or 3 (colour)");
  }
  images.on_bad_image = static_cast<OnBadImage>(
      s.choice("on_bad_image", static_cast<std::size_t>(images.on_bad_image), bad_image_names()));
  if (s.has("exif")) images.exif = static_cast<Exif>(s.choice("exif", 0, exif_names()));
  if (s.has("white")) {
    images.white = s.integer("white", 0, 1);
    if (*images.white > kMostWhite) {
      s.refuse("white", fmt::format("'white' in [data] must be at most {}", kMostWhite));
    }
  }
}

namespace {

/// Splits the job's share off the training set, which goes: its samples are copied.
void hold_out(Splits& splits, const Job& job) {
  require(splits.validation.size() == 0,
          "'{}' has its own validation set; expected no 'validation' share beside it; got {}",
          splits.train.info().name, job.validation);
  std::tie(splits.train, splits.validation) =
      splits.train.split(job.validation, {.seed = job.training.seed});
}

}  // namespace

LoadedData load_data(const Job& job) {
  const auto with_notes = [](const Splits& data, std::vector<std::string> notes) {
    std::erase_if(notes, [](const std::string& note) { return note.starts_with("warning: "); });
    return LoadedData{data, join(notes, "\n")};
  };
  if (job.series != nullptr) return with_notes(job.series->data, job.series->notes);
  if (job.table != nullptr) return with_notes(job.table->data, job.table->notes);
  if (job.prepared != nullptr) return with_notes(job.prepared->data, job.prepared->notes);
  DatasetOptions options = job.images;
  options.streamed = job.training.streamed;
  options.threads = job.training.decoders;
  options.seed = job.training.seed;
  options.ignored_label = job.training.loss_options.ignore_index;
  LoadedData data = load_data(job.data, options);
  if (job.validation > 0) hold_out(data.splits, job);
  return data;
}

Network fit_network(const Job& job, const Shape& sample) {
  if (!job.for_images) return job.network;
  const Shape input = job.network.input_shape();
  const bool larger = sample.rank() == 3 && sample[0] >= input[0] && sample[1] >= input[1];
  if (!job.training.augment.crops() || !larger) return network_for(job, sample);
  return network_for(job, {input[0], input[1], sample[2]});
}

}  // namespace linnet::command
