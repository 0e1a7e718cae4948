// SPDX-License-Identifier: Apache-2.0
#include "model/augment_graph.h"

#include <cmath>

#include "base/check.h"

namespace linnet {
namespace {

void check_mixing(const Augment& a, const StepData& step, const Dataset& data) {
  require(std::isfinite(a.mixup) && std::isfinite(a.cutmix) && a.mixup >= 0 && a.cutmix >= 0,
          "expected alphas of at least 0 for mixup and cutmix; got {} and {}", a.mixup, a.cutmix);
  if (!a.mixes()) return;
  require(step.parts[0].record.dtype != DType::i32,
          "mixup and cutmix need numbers; the data set '{}' holds ids (i32)", data.info().name);
  for (std::size_t i = 0; i < step.targets.size(); ++i) {
    const TargetLoss& target = step.targets[i];
    const bool labels = !target.how.target && step.parts[target.part].record.dtype == DType::i32;
    require(!labels || target.how.custom != nullptr || target.how.loss == Loss::cross_entropy,
            "mixup and cutmix turn labels into distributions, which need the loss cross_entropy");
    require(!labels || step.parts[target.part].record.shape.rank() == 1,
            "mixup and cutmix need one label for each sample; those of '{}' are {} a sample",
            data.info().name, to_string(step.parts[target.part].record.shape.sample()));
    require(!labels || !target.how.options.ignore_index,
            "mixup and cutmix cannot be used with an ignored label (ignore_index)");
  }
}

}  // namespace

StepAugment step_augment(const Augment& a, const NetworkDefinition& network, const Dataset& data,
                         const StepData& read) {
  StepAugment step;
  if (read.inputs == 0) {
    require(!a.any(), "augmentation is set, but the losses depend on no input of the network");
    return step;
  }
  check_mixing(a, read, data);
  const Shape& input = network.inputs[0].sample;
  const DType dtype = read.parts[0].record.dtype;
  const Shape record = read.parts[0].record.shape.sample();
  Augment crops = a;
  crops.mixup = crops.cutmix = 0;
  const bool images =
      input.rank() == 3 && record.rank() == 3 && input[2] == record[2] && dtype != DType::i32;
  if (crops.any() || a.cutmix > 0) {
    require(images,
            "augmentation expects images (height, width, channels) and a network of as many "
            "channels; the data set '{}' holds {} {}, the network takes {}",
            data.info().name, to_string(dtype), to_string(record), to_string(input));
  }
  for (const TargetLoss& target : read.targets) {
    if (target.how.target || !(a.moves() || record != input)) continue;
    const ValueType& labels = read.parts[target.part].record;
    require(labels.dtype != DType::i32 || labels.shape.rank() != 3,
            "augmentation moves the pixels of the images of '{}', but not their labels of {} a "
            "sample: expected no crop, flip or rotation, and images of {}; got images of {}",
            data.info().name, to_string(labels.shape.sample()), to_string(input),
            to_string(record));
  }
  if (a.mixes()) step.mix = MixRule{.mixup = a.mixup, .cutmix = a.cutmix};
  if (!images) return step;
  if (step.mix) step.mix->height = input[0];
  if (step.mix) step.mix->width = input[1];
  require(!a.resized_crop || (a.padding == 0 && !a.crop),
          "expected either a resized crop, or crop and padding; got both");
  require(!a.alternating_flip || a.flip == 0, "expected either flip or alternating_flip; got both");
  if (crops.any() || record != input) {
    step.crop = AugmentRule{.height = input[0],
                            .width = input[1],
                            .padding = a.padding,
                            .reflect = a.reflect,
                            .resized_crop = a.resized_crop,
                            .area_min = a.area_min,
                            .area_max = a.area_max,
                            .ratio_min = a.ratio_min,
                            .ratio_max = a.ratio_max,
                            .flip = a.flip,
                            .alternating_flip = a.alternating_flip,
                            .vertical_flip = a.vertical_flip,
                            .rotate = a.rotate,
                            .brightness = a.brightness,
                            .contrast = a.contrast,
                            .saturation = a.saturation,
                            .top = dtype == DType::u8 ? 255.0 : 1.0,
                            .cutout = a.cutout};
  }
  return step;
}

Value add_images(Graph& graph, const StepAugment& augment, Value all, Mode mode, std::int64_t batch,
                 bool shuffle, const std::string& name) {
  AugmentAttrs attrs{.batch = batch, .shuffle = shuffle, .rule = *augment.crop};
  if (mode != Mode::training) {
    attrs.rule = {.height = augment.crop->height, .width = augment.crop->width, .training = false};
  }
  return graph.emit(AugmentOp(attrs), {all}, name);
}

Value mix_samples(Graph& graph, const StepAugment& augment, Value x, const std::string& name) {
  return graph.emit(MixBatchOp(*augment.mix), {x}, name);
}

Value mix_targets(Graph& graph, const StepAugment& augment, Value target, const Shape& outputs,
                  const std::string& name) {
  const std::int64_t classes = outputs.rank() > 0 ? outputs[-1] : 1;
  return graph.emit(MixTargetsOp({.rule = *augment.mix, .classes = classes}), {target}, name);
}

}  // namespace linnet
