// SPDX-License-Identifier: Apache-2.0
#include "model/options.h"

#include <initializer_list>
#include <utility>

namespace linnet {
namespace {

std::vector<Field> joined(std::initializer_list<std::vector<Field>> parts) {
  std::vector<Field> all;
  for (const std::vector<Field>& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

/// The fields of Objective, which a one-line training has too.
template <class O>
std::vector<Field> objective_fields() {
  return {field<&O::optimizer>("optimizer"),
          field<&O::schedule>("schedule"),
          field<&O::loss>("loss"),
          field<&O::loss_options>("loss_options"),
          field<&O::custom_loss>("custom_loss"),
          field<&O::output_losses>("output_losses"),
          field<&O::trains>("trains"),
          field<&O::warmup>("warmup"),
          field<&O::clip>("clip"),
          field<&O::average>("average")};
}

/// Those of FitOptions.
template <class O>
std::vector<Field> fit_fields() {
  return {
      field<&O::epochs>("epochs").at_least(1).flag("--epochs", "Passes over the training set"),
      field<&O::batch>("batch").at_least(1).flag("--batch", "Samples in a batch"),
      field<&O::shards>("shards").at_least(0).flag(
          "--shards",
          "Compute each batch in so many parts, one after the other, to need less memory; a "
          "power of two"),
      field<&O::memory_limit>("memory_limit")
          .flag("--memory-limit",
                "Bytes that the training may need as planned, e.g. 512MiB: without --shards it "
                "takes as many as that asks for"),
      field<&O::patience>("patience")
          .at_least(0)
          .flag("--patience",
                "Epochs without a lower validation loss after which the training stops; 0: never"),
      field<&O::keep_best>("keep_best"),
      field<&O::shuffle>("shuffle"),
      field<&O::drop_last>("drop_last")
          .flag("--drop-last", "Leave out the last, incomplete batch of each epoch"),
      field<&O::streamed>("streamed")
          .flag("--streamed",
                "Image files: decode batch by batch; other data, on a GPU: keep the data in "
                "host memory and copy batch by batch"),
      field<&O::prefetch>("prefetch")
          .between(1, 1024)
          .flag("--prefetch", "Batches that a streamed training prefetches"),
      field<&O::decoders>("decoders").between(0, 1024),
      field<&O::augment>("augment"),
      field<&O::checkpoints>("checkpoints")};
}

/// Those of TrainerOptions.
template <class O>
std::vector<Field> trainer_fields() {
  return {
      field<&O::seed>("seed"),
      field<&O::metrics>("metrics"),
      field<&O::disabled_passes>("disabled_passes"),
      field<&O::recompute>("recompute")
          .flag("--recompute",
                "Compute concatenations and activations after batch norms again for the "
                "gradients instead of keeping them: less memory, the same weights, more time"),
      field<&O::side_by_side>("side_by_side")
          .flag("--side-by-side",
                "On the CPU: compute the shards at the same time; the same weights, more memory"),
      field<&O::sync_batch_norm>("sync_batch_norm")
          .flag("--sync-batch-norm",
                "With --side-by-side, or on several processes with one shard each: batch norms "
                "take the statistics of the whole batch"),
      field<&O::bucket_bytes>("bucket_bytes")
          .at_least(1)
          .flag("--bucket",
                "Bytes of gradients that processes add together while the backward pass still\n"
                "finds others, e.g. 16MiB (default: 4MiB); the same weights with --reduce tree"),
      field<&O::ranks>("ranks")};
}

}  // namespace

template <>
Description described<LossOptions>() {
  using O = LossOptions;
  return {"loss",
          "LossOptions",
          {field<&O::label_smoothing>("label_smoothing")
               .from_to_below(0, 1)
               .flag("--label-smoothing",
                     "Label smoothing: share of every label that is spread over all "
                     "classes, in [0, 1)"),
           field<&O::class_weights>("class_weights").at_least(0).finite(),
           field<&O::ignore_index>("ignore_index"),
           field<&O::positive_weights>("positive_weights").at_least(0).finite(),
           field<&O::focal_gamma>("focal_gamma").at_least(0).finite(),
           field<&O::focal_alpha>("focal_alpha").in({.most = 1}),
           field<&O::huber_delta>("huber_delta").above(0).finite(),
           field<&O::l1>("l1").at_least(0).finite(), field<&O::l2>("l2").at_least(0).finite()},
          nullptr};
}

template <>
Description described<OutputLoss>() {
  using O = OutputLoss;
  return {"loss",
          "OutputLoss",
          {field<&O::output>("output"), field<&O::loss>("loss"),
           field<&O::weight>("weight").finite(), field<&O::options>("options"),
           field<&O::custom>("custom"), field<&O::target>("target").finite()},
          nullptr};
}

template <>
Description described<Augment>() {
  using O = Augment;
  return {"augment",
          "Augment",
          {field<&O::crop>("crop"), field<&O::padding>("padding").at_least(0),
           field<&O::reflect>("reflect"), field<&O::resized_crop>("resized_crop"),
           field<&O::area_min>("area_min").in({.least = 0, .most = 1, .above_least = true}),
           field<&O::area_max>("area_max").in({.least = 0, .most = 1, .above_least = true}),
           field<&O::ratio_min>("ratio_min").above(0), field<&O::ratio_max>("ratio_max").above(0),
           field<&O::flip>("flip").between(0, 1), field<&O::brightness>("brightness").at_least(0),
           field<&O::contrast>("contrast").at_least(0),
           field<&O::saturation>("saturation").at_least(0), field<&O::cutout>("cutout").at_least(0),
           field<&O::mixup>("mixup").at_least(0).finite(),
           field<&O::cutmix>("cutmix").at_least(0).finite()},
          nullptr};
}

template <>
Description described<Clip>() {
  using O = Clip;
  return {"clip",
          "Clip",
          {field<&O::norm>("norm").at_least(0).finite(),
           field<&O::value>("value").at_least(0).finite()},
          nullptr};
}

template <>
Description described<Warmup>() {
  using O = Warmup;
  return {"warmup", "Warmup", {field<&O::epochs>("epochs").at_least(0)}, nullptr};
}

template <>
Description described<Average>() {
  using O = Average;
  return {"average",
          "Average",
          {field<&O::decay>("decay").from_to_below(0, 1), field<&O::warmup>("warmup")},
          nullptr};
}

template <>
Description described<ParameterGroup>() {
  using O = ParameterGroup;
  return {"trains",
          "ParameterGroup",
          {field<&O::name>("name"), field<&O::learning_rate_factor>("learning_rate_factor"),
           field<&O::weight_decay>("weight_decay")},
          nullptr};
}

template <>
Description described<Checkpoints>() {
  using O = Checkpoints;
  return {"checkpoints",
          "Checkpoints",
          {field<&O::folder>("folder"), field<&O::every_epoch>("every_epoch"),
           field<&O::every_steps>("every_steps").at_least(0),
           field<&O::every_seconds>("every_seconds").at_least(0),
           field<&O::keep>("keep").at_least(1), field<&O::on_failed_save>("on_failed_save"),
           field<&O::resume>("resume")},
          nullptr};
}

template <>
Description described<Watch>() {
  using O = Watch;
  return {"watch", "Watch", {field<&O::metric>("metric"), field<&O::better>("better")}, nullptr};
}

template <>
Description described<Objective>() {
  using O = Objective;
  return {"objective", "Objective", objective_fields<O>(), nullptr};
}

template <>
Description described<FitOptions>() {
  using O = FitOptions;
  return {"fit", "FitOptions",
          joined({fit_fields<O>(),
                  {field<&O::validation>("validation"), field<&O::test>("test"),
                   field<&O::watch>("watch"), field<&O::callback>("callback")}}),
          nullptr};
}

template <>
Description described<TrainerOptions>() {
  using O = TrainerOptions;
  return {"trainer", "TrainerOptions", trainer_fields<O>(), nullptr};
}

template <>
Description described<TrainingOptions>() {
  using O = TrainingOptions;
  return {"training", "TrainingOptions",
          joined({fit_fields<O>(), objective_fields<O>(), trainer_fields<O>()}), nullptr};
}

}  // namespace linnet
