// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/export.h>
#include <linnet/model.h>
#include <linnet/state.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

LINNET_API_BEGIN
namespace linnet {

/// Names the library whose names and layouts of weights a file has.
enum class WeightNames : std::uint8_t {
  /// Linnet's own: Model::parameter_names().
  linnet,
  /// The state_dict of torchvision's models; of CIFAR ResNets the one of the published PyTorch
  /// weights, of text models the one of a module with members embedding, gru or lstm, and fc.
  torchvision,
  timm,   ///< the state_dict of timm's models
  keras,  ///< the variables of keras.applications by `variable.path`, e.g. "conv1_conv/kernel"
};
/// Returns the names of WeightNames, in order: "linnet", "torchvision", "timm", "keras".
std::vector<std::string> weight_names();

/// Names the scale of the pixels that a network was trained on, which its first layer applies to
/// bytes.
enum class PixelScale : std::uint8_t {
  imagenet,   ///< (x / 255 - mean) / std of ImageNet, channel by channel: torchvision
  caffe,      ///< x - mean of ImageNet, channels in the order blue, green, red: Keras's ResNet, VGG
  unit,       ///< x / 255, from 0 to 1
  symmetric,  ///< x / 127.5 - 1, from -1 to 1
  raw,        ///< x, from 0 to 255
};
/// Returns the names of PixelScale, in order.
std::vector<std::string> pixel_scale_names();

/// Returns the names of networks whose weights are known by other names: "resnet18", ...,
/// "resnet18-cifar" (ImageOptions::small_stem), "densenet121", "vgg16", "vgg16-bn",
/// "cifar-resnet20", "mobilenet_v2", "efficientnet_b0", "convnext_tiny", "regnet_y_400mf",
/// "vit_tiny", "gru-text", "lstm-text".
std::vector<std::string> network_names();

/// Says how import_weights() reads weights.
struct ImportOptions {
  std::string network = {};               ///< a name of network_names()
  std::optional<WeightNames> names = {};  ///< library of the names; none: found by the names
  std::optional<PixelScale> pixels = {};  ///< none: those of the published weights
  Shape image = {};                       ///< (height, width); (): the network's usual one
  std::int64_t steps = 150;               ///< ids of a sample, of text models
  std::vector<std::string> ignore = {};   ///< patterns (* and ?) of names to leave out
  /// Names of layers in the file, "fc" or "module.fc", and what they are read as, "head": of their
  /// tensors, the first components change.
  std::map<std::string, std::string> rename = {};
  /// Whether every tensor must become a weight, and every weight come from a tensor. If false,
  /// other tensors are left out, and weights that the file lacks are drawn from ModelOptions::seed.
  bool strict = true;
  /// Number of outputs of a new last dense layer, whose first weights ModelOptions::seed gives; the
  /// weights of the file's last layer are left out. 0: the file's last layer.
  std::int64_t classes = 0;
};

/// Holds a model that import_weights() made, and reports on the tensors.
struct Imported {
  Model model;                              ///< the model
  WeightNames names = WeightNames::linnet;  ///< library of the names
  std::int64_t placed = 0;                  ///< number of tensors that became weights
  /// Tensors that carry no weights (counters of batches, seeds) or that ImportOptions::ignore
  /// names.
  std::vector<std::string> ignored = {};
  /// Without ImportOptions::strict: what did not fit, a sentence each, with names and shapes.
  std::vector<std::string> unfit = {};
};

/// Makes a model of a known network with these weights. Names are matched by the rules of the
/// network's family; first components that all names share ("module.") and Keras's ":0" are
/// ignored. Layouts are changed as needed: convolutions, dense layers after Flatten, gates of
/// recurrent layers; biases that Keras's ResNets have before batch norms go into the running means.
/// Classes, words, features and units follow from the shapes; without the last dense layer the
/// network returns features. The first layer scales bytes as ImportOptions::pixels says, so the
/// model takes images as bytes. Tensors are f32, f64, f16 or bf16. Waits. Throws Error for an
/// unknown network, and DataError that lists every tensor without a parameter, every missing
/// weight, and every tensor of another shape, with both names and shapes; if not strict, where no
/// tensor fits.
Imported import_weights(const State& weights, const ImportOptions& options,
                        const ModelOptions& on = {});

/// Returns the weights of a model under other names and in their layouts, f32, ready for
/// load_state_dict(strict=True) or Keras's Variable.assign(). Biases that Keras's ResNets have
/// before batch norms are zeros. The scale of pixels is not part of it: see pixel_scale_of().
/// Waits. Throws Error naming a layer for which no rule has a name, and for a ResNet whose strides
/// are in other layers than in the networks that have these names.
State export_weights(const Model& model, WeightNames names);

/// Returns the scale of the pixels of the model's network, by its first layer; none: another scale.
std::optional<PixelScale> pixel_scale_of(const Network& network);

/// Reads named arrays: a .npz file of NumPy (stored or deflated), the index of weights in several
/// safetensors files (x.safetensors.index.json, which lie beside it), or else a safetensors file.
/// Throws DataError "cannot read 'x': ..." for any other file, for those of other programs (.pth,
/// .keras, .gguf, ...) with the way to convert them; OutOfMemory.
State read_weights(const std::filesystem::path& path);
/// Writes named arrays: a .npz file, or a safetensors file with this metadata, which .npz lacks.
/// The file appears whole or not at all. Throws Error for another extension than .npz and
/// .safetensors, for bf16 in .npz, and where the file cannot be written.
void write_weights(const std::filesystem::path& path, const State& weights,
                   const std::map<std::string, std::string>& metadata = {});

}  // namespace linnet
LINNET_API_END
