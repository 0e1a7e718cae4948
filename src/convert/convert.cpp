// SPDX-License-Identifier: Apache-2.0
#include <linnet/convert.h>

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <ranges>
#include <utility>

#include "base/check.h"
#include "base/pattern.h"
#include "convert/known_networks.h"
#include "convert/layouts.h"
#include "convert/name_rules.h"
#include "convert/network_layers.h"

namespace linnet {
namespace {

/// Networks of the literature have at most 1,400; what is not one of them is not gone through.
constexpr std::size_t kMostTensors = 8192;
constexpr std::ptrdiff_t kMostProblems = 10;  // in a sentence

constexpr std::array<std::string_view, 4> kNames{"linnet", "torchvision", "timm", "keras"};
constexpr std::array<std::string_view, 5> kScales{"imagenet", "caffe", "unit", "symmetric", "raw"};

template <std::size_t size>
std::vector<std::string> strings(const std::array<std::string_view, size>& names) {
  return {names.begin(), names.end()};
}

std::string_view text_of(WeightNames names) { return kNames.at(static_cast<std::size_t>(names)); }

/// A tensor of a file by the parts of its name.
struct Given {
  std::string name;  ///< as it stands in the file
  std::string layer;
  std::string role;
  Tensor values;
  bool placed = false;
};

bool is_separator(char c) { return c == '.' || c == '/'; }

/// First components that names may share: "_orig_mod.module." has two.
constexpr std::size_t kMostShared = 16;

/// Returns what names may begin with that does not count: nothing, or the first components that
/// most of them share. A loss's weights beside the network's do not.
std::vector<std::string> shared_starts(const std::vector<Given>& tensors) {
  std::vector<std::string> starts = {""};
  while (tensors.size() > 1 && starts.size() <= kMostShared) {
    const std::string& start = starts.back();
    std::map<std::string_view, std::size_t> longer;
    for (const Given& tensor : tensors) {
      if (!tensor.name.starts_with(start)) continue;
      const auto end =
          std::find_if(tensor.name.begin() + std::ssize(start), tensor.name.end(), is_separator);
      if (end == tensor.name.end()) continue;
      ++longer[std::string_view(tensor.name.begin(), end + 1)];
    }
    const auto most =
        std::ranges::max_element(longer, {}, [](const auto& one) { return one.second; });
    if (most == longer.end() || 2 * most->second <= tensors.size()) break;
    starts.emplace_back(most->first);
  }
  return starts;
}

/// "module.layer1.0.conv1.weight" without "module." to "layer1.0.conv1" and "weight".
void split_names(std::vector<Given>& tensors, const std::string& without) {
  for (Given& tensor : tensors) {
    std::string_view name(tensor.name);
    if (name.starts_with(without)) name.remove_prefix(without.size());
    if (name.ends_with(":0")) name.remove_suffix(2);
    const auto end = std::find_if(name.rbegin(), name.rend(), is_separator);
    const auto layer = static_cast<std::size_t>(name.rend() - end);
    tensor.layer = name.substr(0, layer == 0 ? 0 : layer - 1);
    tensor.role = name.substr(layer);
  }
}

/// Counters of batches and seeds of dropouts, which no network of ours has.
bool is_bookkeeping(std::string_view name) {
  return name.ends_with("num_batches_tracked") || name.ends_with("seed_generator_state");
}

/// Returns the name with other first components where they are one of `names`.
std::string with_names(const std::string& name, const std::map<std::string, std::string>& names) {
  for (const auto& [from, to] : std::views::reverse(names)) {  // "fc.out" before "fc"
    if (name.starts_with(from) && name.size() > from.size() && is_separator(name[from.size()])) {
      return to + name.substr(from.size());
    }
  }
  return name;
}

/// Where the tensors belong: by our layer and their role.
using Places = std::map<std::pair<std::string, std::string>, Given*>;

Places places_of(std::vector<Given>& tensors, const Family& family, WeightNames names) {
  Places places;
  for (Given& tensor : tensors) {
    for (const std::string& layer : our_names(family, names, tensor.layer)) {
      places.emplace(std::pair(layer, tensor.role), &tensor);
    }
  }
  return places;
}

/// Splits the names where most of them are known, and returns whose they are: `given`, or the first
/// of equals in this order, most used first.
WeightNames find_names(std::vector<Given>& tensors, const Family& family,
                       std::optional<WeightNames> given) {
  std::vector<WeightNames> candidates = {WeightNames::torchvision, WeightNames::timm,
                                         WeightNames::keras, WeightNames::linnet};
  if (given) candidates = {*given};
  WeightNames best = candidates[0];
  std::string without;
  std::int64_t most = -1;
  for (const std::string& start : shared_starts(tensors)) {
    split_names(tensors, start);
    for (const WeightNames names : candidates) {
      const std::int64_t known = std::ranges::count_if(tensors, [&](const Given& tensor) {
        return !our_names(family, names, tensor.layer).empty();
      });
      if (known <= most) continue;
      best = names;
      without = start;
      most = known;
    }
  }
  split_names(tensors, without);
  return best;
}

/// Returns a dim of the first of these tensors that is there; 0: none is.
std::int64_t dim(const Places& places, const std::string& layer, const std::string& role,
                 int axis) {
  const auto found = places.find({layer, role});
  if (found == places.end()) return 0;
  const Shape& shape = found->second->values.shape();
  return axis < static_cast<int>(shape.rank()) ? shape[axis] : 0;
}

NetworkSizes sizes_of(const Places& places, const KnownNetwork& known, const Family& family,
                      WeightNames names, const ImportOptions& options) {
  NetworkSizes sizes{.names = names};
  sizes.pixels = options.pixels.value_or(published_pixels(known, names));
  sizes.image = options.image.rank() == 2 ? options.image : Shape{known.side, known.side};
  sizes.steps = options.steps;
  const bool keras = names == WeightNames::keras;
  const std::string head(family.head);
  sizes.classes = keras ? dim(places, head, "kernel", 1) : dim(places, head, "weight", 0);
  if (options.classes > 0) sizes.classes = options.classes;
  const char* table = keras ? "embeddings" : "weight";
  sizes.vocabulary = dim(places, "embedding_1", table, 0);
  sizes.features = dim(places, "embedding_1", table, 1);
  for (const char* layer : {"gru_1", "lstm_1"}) {
    sizes.units = std::max(sizes.units, keras ? dim(places, layer, "recurrent_kernel", 0)
                                              : dim(places, layer, "weight_hh_l0", 1));
  }
  require<DataError>(known.side > 0 || (sizes.vocabulary > 0 && sizes.units > 0),
                     "the weights do not fit {}, by the names of {}: no tensor has the name of an "
                     "embedding or a recurrent layer",
                     known.name, text_of(names));
  return sizes;
}

/// Finds the place of each tensor in a network, before there is memory for it, and what does not
/// fit.
class Placing {
 public:
  Placing(const Family& family, WeightNames names, Places& places)
      : family_(family), names_(names), places_(places) {}

  void place(const WeightLayer& layer, bool bgr) {
    const auto there = their_name(family_, names_, layer.name);
    if (!there) {
      problems_.push_back(
          fmt::format("the layer '{}' has no counterpart in {}", layer.name, text_of(names_)));
      return;
    }
    for (TheirTensor& tensor : their_tensors(layer, names_, *there->rule, bgr)) {
      Given* given = find(layer.name, tensor.role);
      const std::string ours = layer.name + "." + tensor.ours[0];
      const Shape& our_shape = layer.weights.at(tensor.ours[0]);
      if (given == nullptr) {
        const char* separator = names_ == WeightNames::keras ? "/" : ".";
        problems_.push_back(fmt::format("'{}' {}, which '{}' {} of the network needs, is missing",
                                        tensor_name(there->name, separator, tensor.role),
                                        to_string(tensor.shape), ours, to_string(our_shape)));
      } else if (fits(*given, tensor.shape, ours, our_shape)) {
        placed_.push_back({given, layer, std::move(tensor)});
      }
    }
    if (names_ == WeightNames::keras) place_bias(layer, *there->rule);
  }

  /// Returns what a sentence lists; empty: everything fits.
  std::vector<std::string>& problems() { return problems_; }
  std::int64_t placed() const { return std::ssize(placed_) + std::ssize(biases_); }

  void write_to(Model& model) const {
    for (const Placed& one : placed_) {
      const std::vector<Tensor> ours = one.tensor.to_ours(one.given->values.to(DType::f32));
      for (std::size_t i = 0; i < ours.size(); ++i) {
        const std::string& role = one.tensor.ours[i];
        model.set_parameter(one.layer.name + "." + role,
                            ours[i].reshaped(one.layer.weights.at(role)));
      }
    }
    // A batch norm computes on x + bias - mean.
    for (const auto& [name, given] : biases_) {
      Tensor mean = model.parameter(name);
      const std::span<float> numbers = mean.as_writable<float>();
      const Tensor biases = given->values.to(DType::f32);
      const std::span<const float> bias = biases.as<float>();
      for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] -= bias[i];
      model.set_parameter(name, mean);
    }
  }

 private:
  struct Placed {
    const Given* given;
    WeightLayer layer;
    TheirTensor tensor;
  };

  Given* find(const std::string& layer, const std::string& role) const {
    const auto found = places_.find({layer, role});
    return found == places_.end() || found->second->placed ? nullptr : found->second;
  }

  /// Marks the tensor as placed; lists what is wrong with it.
  bool fits(Given& given, const Shape& shape, const std::string& ours, const Shape& our_shape) {
    given.placed = true;
    const DType dtype = given.values.dtype();
    const bool real =
        dtype == DType::f32 || dtype == DType::f64 || dtype == DType::f16 || dtype == DType::bf16;
    if (real && given.values.shape() == shape) return true;
    problems_.push_back(
        fmt::format("'{}' is {} {}; expected f32 {}, since '{}' of the network is {}", given.name,
                    to_string(dtype), to_string(given.values.shape()), to_string(shape), ours,
                    to_string(our_shape)));
    return false;
  }

  void place_bias(const WeightLayer& layer, const NameRule& rule) {
    if (rule.bias_into.empty() || layer.has("bias")) return;
    Given* given = find(layer.name, "bias");
    if (given == nullptr) return;
    const std::string mean =
        renamed(layer.name, rule.ours, rule.bias_into).value() + ".running_mean";
    const Shape shape{layer.weights.at("weight")[0]};
    if (fits(*given, shape, mean, shape)) biases_.emplace_back(mean, given);
  }

  const Family& family_;
  WeightNames names_;
  Places& places_;
  std::vector<Placed> placed_;
  std::vector<std::pair<std::string, const Given*>> biases_;  // by the mean that takes them
  std::vector<std::string> problems_;
};

const Family* family_of(const std::vector<WeightLayer>& layers) {
  for (const Family& family : families()) {
    const bool all = std::ranges::all_of(layers, [&](const WeightLayer& layer) {
      return their_name(family, WeightNames::linnet, layer.name).has_value();
    });
    const bool marked = family.mark.empty() ||
                        std::ranges::find(layers, family.mark, &WeightLayer::name) != layers.end();
    if (all && marked) return &family;
  }
  return nullptr;
}

/// Weights under the names of a network that computes something else would be worse than none.
void require_strides(const NetworkDefinition& network, WeightNames names) {
  const Bottlenecks found = bottlenecks_of(network);
  if (names == WeightNames::linnet || found == Bottlenecks::none) return;
  const bool first = names == WeightNames::keras;
  require(first == (found == Bottlenecks::stride_first),
          "the network's bottlenecks have their stride in {}, those of {} in {}; with these "
          "weights the network would give other results",
          first ? "the 3x3 convolution" : "the first 1x1 convolution", text_of(names),
          first ? "the first 1x1 convolution" : "the 3x3 convolution");
}

}  // namespace

std::vector<std::string> weight_names() { return strings(kNames); }
std::vector<std::string> pixel_scale_names() { return strings(kScales); }

Imported import_weights(const State& weights, const ImportOptions& options,
                        const ModelOptions& on) {
  const KnownNetwork& known = known_network(options.network);
  const Family& family = family_named(known.family);
  require(options.image.rank() == 0 || options.image.rank() == 2,
          "expected an image (height, width); got {}", to_string(options.image));
  require(options.classes >= 0, "expected classes of at least 0; got {}", options.classes);
  std::vector<Given> tensors;
  std::vector<std::string> ignored;
  for (const State::Entry& entry : weights) {
    const bool named = std::ranges::any_of(options.ignore, [&](const std::string& pattern) {
      return matches(pattern, entry.name);
    });
    if (named || is_bookkeeping(entry.name)) {
      ignored.push_back(entry.name);
    } else {
      tensors.push_back({.name = with_names(entry.name, options.rename),
                         .layer = {},
                         .role = {},
                         .values = entry.value});
    }
  }
  require<DataError>(tensors.size() <= kMostTensors,
                     "the weights do not fit {}: the file has {} tensors, more than the {} that a "
                     "network can have; leave out others with --ignore",
                     known.name, tensors.size(), kMostTensors);
  const WeightNames names = find_names(tensors, family, options.names);
  Places places = places_of(tensors, family, names);
  const NetworkSizes sizes = sizes_of(places, known, family, names, options);
  Network network = known.make(sizes);
  Placing placing(family, names, places);
  for (const WeightLayer& layer : weight_layers(network.definition())) {
    if (options.classes > 0 && layer.name == family.head) continue;  // a new one
    placing.place(layer, sizes.pixels == PixelScale::caffe);
  }
  for (const Given& tensor : tensors) {
    if (tensor.placed) continue;
    if (options.classes > 0 &&
        std::ranges::count(our_names(family, names, tensor.layer), family.head) > 0) {
      ignored.push_back(tensor.name);
      continue;
    }
    placing.problems().push_back(fmt::format("'{}' {} belongs to no parameter", tensor.name,
                                             to_string(tensor.values.shape())));
  }
  const std::vector<std::string>& problems = placing.problems();
  const bool bears = !options.strict && placing.placed() > 0;
  require<DataError>(problems.empty() || bears,
                     "the weights do not fit {}, by the names of {}: {}{}", known.name,
                     text_of(names),
                     fmt::join(problems.begin(),
                               problems.begin() + std::min(std::ssize(problems), kMostProblems),
                               "; "),
                     std::ssize(problems) > kMostProblems
                         ? fmt::format("; and {} more", std::ssize(problems) - kMostProblems)
                         : "");
  Model model(std::move(network), on);
  placing.write_to(model);
  if (sizes.classes > 1) {
    model.set_training_record({.loss = "cross_entropy",
                               .labels = true,
                               .sample_shape = model.network().input_shape(),
                               .images = {.exif = Exif::apply, .white = 65535}});
  }
  Imported imported{.model = std::move(model)};
  imported.names = names;
  imported.placed = placing.placed();
  imported.ignored = std::move(ignored);
  imported.unfit = problems;
  return imported;
}

State export_weights(const Model& model, WeightNames names) {
  const NetworkDefinition& network = model.network().definition();
  const std::vector<WeightLayer> layers = weight_layers(network);
  if (names == WeightNames::linnet) return model.weights();
  const Family* family = family_of(layers);
  require(family != nullptr, "the network is not one of those whose layers have names in {}: {}",
          text_of(names), fmt::join(network_names(), ", "));
  require_strides(network, names);
  const char* separator = names == WeightNames::keras ? "/" : ".";
  const bool bgr = pixel_scale_of(model.network()) == PixelScale::caffe;
  std::vector<State::Entry> weights;
  for (const WeightLayer& layer : layers) {
    const auto there = their_name(*family, names, layer.name);
    require(there.has_value(), "the layer '{}' has no counterpart in {}", layer.name,
            text_of(names));
    for (const TheirTensor& tensor : their_tensors(layer, names, *there->rule, bgr)) {
      std::vector<Tensor> ours;
      for (const std::string& role : tensor.ours) {
        ours.push_back(model.parameter(layer.name + "." + role));
      }
      weights.push_back({tensor_name(there->name, separator, tensor.role),
                         tensor.to_theirs(ours).reshaped(tensor.shape)});
    }
    const bool bias = names == WeightNames::keras && !there->rule->bias_into.empty();
    if (bias && !layer.has("bias")) {
      weights.push_back(
          {there->name + "/bias", Tensor(DType::f32, Shape{layer.weights.at("weight")[0]})});
    }
  }
  return State(std::move(weights));
}

}  // namespace linnet
