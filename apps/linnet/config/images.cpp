// SPDX-License-Identifier: Apache-2.0
#include "config/images.h"

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
#include "tasks/options.h"

namespace linnet::command {
namespace {

/// What fields of Augment are where they are named without a number, as in `--augment flip`; those
/// of truth values are true, ranges their defaults.
constexpr std::array<std::pair<std::string_view, double>, 10> kNamed{{{"padding", 4},
                                                                      {"flip", 0.5},
                                                                      {"vertical_flip", 0.5},
                                                                      {"rotate", 10},
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

template <class T>
T number_of(const std::string& text, std::string_view what) {
  T value{};
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  require(error == std::errc{} && stopped == end && value >= 0 && value < 1e6,
          "{}: expected a number of at least 0; got '{}'", what, text);
  return value;
}

/// One number is the size of a square.
void require_size(Shape& size) {
  if (size.rank() == 1) size = {size[0], size[0]};
  require(size.rank() == 0 || size.rank() == 2,
          "expected an image size of one number, or of height and width; got {}", to_string(size));
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

void add_augment_option(CLI::App& command, std::optional<std::string>& augment) {
  command.add_option("--augment", augment,
                     "Augmentation of training images, e.g. padding=4,flip,cutout=8; names: " +
                         CLI::detail::join(names(), ", ") + "; none");
}

Description image_flags(const std::vector<std::string_view>& keys) {
  Description all = by_flags(description_of<DatasetOptions>());
  if (!keys.empty()) {
    std::erase_if(all.fields, [&](const Field& f) { return std::ranges::count(keys, f.key) == 0; });
  }
  return all;
}

const std::vector<std::string>& image_option_names() {
  static const std::vector<std::string> kAll = [] {
    std::vector<std::string> names = flag_names(image_flags());
    names.insert(names.end(), {"--augment", "--decoders"});
    return names;
  }();
  return kAll;
}

void check_image_files(const GivenOptions& given, const std::string& data) {
  const auto folder = datasets::find(data, data_places());
  if (folder && holds_image_files(*folder)) return;
  std::vector<std::string> names = flag_names(image_flags());
  names.insert(names.end(), {"--size", "--decoders"});
  given.refuse(names, "image files", fmt::format("'{}' holds none", data));
}

void check_data_seed(const GivenOptions& given, const std::string& option,
                     const std::string& data) {
  const auto folder = datasets::find(data, data_places());
  if (!folder || find_dataset(*folder).kind == DataKind::chest_xray) return;
  given.refuse({option}, "generated data and a split by patient",
               fmt::format("'{}' has neither", data));
}

void read_images(const Setting& given, DatasetOptions& images) {
  image_flags().read(&images, given, "");
  require_size(images.size);
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
  s.fields(image_flags(), &images);
  require_size(images.size);
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
  if (job.task->brings_data()) {
    std::vector<std::string> notes = job.task->notes();
    std::erase_if(notes, [](const std::string& note) { return note.starts_with("warning: "); });
    return {job.task->data(), join(notes, "\n")};
  }
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
