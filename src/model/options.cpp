// SPDX-License-Identifier: Apache-2.0
#include "model/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "describe/nearest.h"

namespace linnet {
namespace {

// Fields that several structs have. Each struct is described in the order in which Python takes its
// arguments by place.

template <class O>
std::vector<Field> length_fields() {
  return {field<&O::epochs>("epochs").at_least(1).flag("--epochs", "Passes over the training set"),
          field<&O::batch>("batch").at_least(1).flag("--batch", "Samples in a batch")};
}

template <class O>
std::vector<Field> part_fields() {
  return {field<&O::shards>("shards").at_least(0).flag(
              "--shards",
              "Compute each batch in so many parts, one after the other, to need less memory; a "
              "power of two"),
          field<&O::memory_limit>("memory_limit")
              .same_bits()
              .flag("--memory-limit",
                    "Bytes that the training may need as planned, e.g. 512MiB: without --shards it "
                    "takes as many as that asks for")};
}

template <class O>
std::vector<Field> stop_fields() {
  return {
      field<&O::patience>("patience")
          .at_least(0)
          .flag("--patience",
                "Epochs without a lower validation loss after which the training stops; 0: never"),
      field<&O::keep_best>("keep_best")};
}

template <class O>
std::vector<Field> order_fields() {
  return {field<&O::shuffle>("shuffle"),
          field<&O::drop_last>("drop_last")
              .flag("--drop-last", "Leave out the last, incomplete batch of each epoch")};
}

template <class O>
std::vector<Field> read_fields() {
  return {field<&O::streamed>("streamed")
              .same_bits()
              .flag("--streamed",
                    "Image files: decode batch by batch; other data, on a GPU: keep the data in "
                    "host memory and copy batch by batch"),
          field<&O::prefetch>("prefetch")
              .same_bits()
              .between(1, 1024)
              .flag("--prefetch", "Batches that a streamed training prefetches"),
          field<&O::decoders>("decoders")
              .same_bits()
              .between(0, 1024)
              .flag("--decoders",
                    "Threads that decode the image files of a streamed training; 0: all processors")
              .group("Images")};
}

template <class O>
std::vector<Field> update_fields() {
  return {field<&O::optimizer>("optimizer"), field<&O::schedule>("schedule")};
}

template <class O>
std::vector<Field> limit_fields() {
  return {field<&O::warmup>("warmup"), field<&O::clip>("clip"), field<&O::average>("average")};
}

template <class O>
std::vector<Field> loss_fields() {
  return {field<&O::loss>("loss"), field<&O::loss_options>("loss_options"),
          field<&O::custom_loss>("custom_loss"), field<&O::output_losses>("output_losses")};
}

template <class O>
std::vector<Field> step_fields() {
  return {
      field<&O::recompute>("recompute")
          .same_bits()
          .flag("--recompute",
                "Compute concatenations and activations after batch norms again for the "
                "gradients instead of keeping them: less memory, the same weights, more time"),
      field<&O::side_by_side>("side_by_side")
          .same_bits()
          .flag("--side-by-side",
                "On the CPU: compute the shards at the same time; the same weights, more memory"),
      field<&O::sync_batch_norm>("sync_batch_norm")
          .flag("--sync-batch-norm",
                "With --side-by-side, or on several processes with one shard each: batch norms "
                "take the statistics of the whole batch"),
      field<&O::bucket_bytes>("bucket_bytes")
          .same_bits()
          .at_least(1)
          .flag("--bucket",
                "Bytes of gradients that processes add together while the backward pass still\n"
                "finds others, e.g. 16MiB (default: 4MiB); the same weights with --reduce tree"),
      field<&O::ranks>("ranks")};
}

}  // namespace

Setting FieldFormat<std::vector<Freeze>>::write(const std::vector<Freeze>& value) {
  Setting::List list;
  for (const Freeze& one : value) list.push_back({description_of<Freeze>().write(&one, false)});
  return {std::move(list)};
}

std::vector<Freeze> FieldFormat<std::vector<Freeze>>::read(const FieldReading& from) {
  const auto* list = from.setting.get_if<Setting::List>();
  if (list == nullptr) from.refuse_type(type());
  std::vector<Freeze> all;
  for (const Setting& item : *list) {
    Freeze& one = all.emplace_back();
    if (const auto* name = item.get_if<std::string>()) {
      one.name = *name;
      continue;
    }
    if (item.get_if<SettingTable>() == nullptr) from.refuse_type(type());
    description_of<Freeze>().read(&one, item,
                                  fmt::format("{} {} of {}", from.key, all.size(), from.where));
  }
  return all;
}

Setting FieldFormat<Whiten>::write(const Whiten& value) {
  return {description_of<Whiten>().write(&value, true)};
}

Whiten FieldFormat<Whiten>::read(const FieldReading& from) {
  Whiten value;
  if (const auto* layer = from.setting.get_if<std::string>()) {
    value.layer = *layer;
    return value;
  }
  if (from.setting.get_if<SettingTable>() == nullptr) from.refuse_type(type());
  description_of<Whiten>().read(&value, from.setting,
                                fmt::format("{} of {}", from.key, from.where));
  return value;
}

template <>
Description described<LossOptions>() {
  using O = LossOptions;
  return {
      "loss",
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
       field<&O::l1>("l1").at_least(0).finite(), field<&O::l2>("l2").at_least(0).finite(),
       field<&O::minkowski_exponent>("minkowski_exponent").at_least(1).finite(),
       field<&O::quantile>("quantile")
           .in({.least = 0, .most = 1, .above_least = true, .below_most = true})
           .flag("--quantile",
                 "Share of the targets that --loss quantile puts below the answers, in (0, 1)")},
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
           field<&O::cutmix>("cutmix").at_least(0).finite(),
           field<&O::alternating_flip>("alternating_flip"),
           field<&O::vertical_flip>("vertical_flip").between(0, 1),
           field<&O::rotate>("rotate").between(0, 180)},
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
  return {"warmup", "Warmup", {field<&O::epochs>("epochs").between(0, 1e9)}, nullptr};
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
Description described<GenerateOptions>() {
  using O = GenerateOptions;
  constexpr double kMostLength = 1e9;
  return {
      "generate",
      "GenerateOptions",
      {field<&O::length>("length")
           .between(0, kMostLength)
           .flag("--length", "Characters to add; 500 if not given"),
       field<&O::temperature>("temperature")
           .at_least(0)
           .finite()
           .flag(
               "--temperature",
               "Divides the logits before characters are drawn: below 1 likely ones are drawn more "
               "often;\n0: always the likeliest; 0.8 if not given"),
       field<&O::top_k>("top_k")
           .between(0, kMostLength)
           .flag("--top-k", "Draw among this many of the likeliest characters; 0: among all"),
       field<&O::seed>("seed").flag("--seed", "Random seed of the draws"),
       field<&O::on_text>("on_text")},
      nullptr};
}

template <>
Description described<Lookahead>() {
  using O = Lookahead;
  return {"lookahead",
          "Lookahead",
          {field<&O::every>("every").at_least(0),
           field<&O::alpha>("alpha").in({.least = 0, .most = 1, .above_least = true})},
          nullptr};
}

template <>
Description described<Freeze>() {
  using O = Freeze;
  constexpr double kMostEpochs = 1e9;
  return {"freeze",
          "Freeze",
          {field<&O::name>("name").required(), field<&O::after>("after").between(0, kMostEpochs),
           field<&O::until>("until").between(1, kMostEpochs)},
          nullptr};
}

template <>
Description described<Whiten>() {
  using O = Whiten;
  return {"whiten",
          "Whiten",
          {field<&O::layer>("layer").required(), field<&O::samples>("samples").at_least(1),
           field<&O::epsilon>("epsilon").above(0).finite()},
          nullptr};
}

template <>
Description described<ParameterGroup>() {
  using O = ParameterGroup;
  return {"trains",
          "ParameterGroup",
          {field<&O::name>("name"),
           field<&O::learning_rate_factor>("learning_rate_factor").at_least(0).finite(),
           field<&O::weight_decay>("weight_decay").at_least(0).finite()},
          nullptr};
}

template <>
Description described<Checkpoints>() {
  using O = Checkpoints;
  return {
      "checkpoints",
      "Checkpoints",
      {field<&O::folder>("folder"), field<&O::every_epoch>("every_epoch"),
       field<&O::every_steps>("every_steps").at_least(0),
       field<&O::every_seconds>("every_seconds").at_least(0),
       field<&O::keep>("keep")
           .at_least(1)
           .flag("--keep-checkpoints",
                 "Number of newest checkpoints to keep, besides the best epoch's; 2 if not given")
           .group("Data and run"),
       field<&O::on_failed_save>("on_failed_save")
           .as({"stop", "continue"})
           .flag("--on-failed-save",
                 "What follows when a checkpoint or the model cannot be saved: stop (the default)\n"
                 "or continue and try again at the next one")
           .group("Data and run"),
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
  return {"objective", "Objective",
          joined({update_fields<O>(),
                  loss_fields<O>(),
                  {field<&O::trains>("trains")},
                  limit_fields<O>(),
                  {field<&O::lookahead>("lookahead")}}),
          nullptr};
}

template <>
Description described<FitOptions>() {
  using O = FitOptions;
  return {"fit", "FitOptions",
          joined({length_fields<O>(),
                  part_fields<O>(),
                  {field<&O::validation>("validation"), field<&O::test>("test")},
                  stop_fields<O>(),
                  {field<&O::watch>("watch")},
                  order_fields<O>(),
                  read_fields<O>(),
                  {field<&O::augment>("augment"), field<&O::checkpoints>("checkpoints").same_bits(),
                   field<&O::callback>("callback"), field<&O::freeze>("freeze")}}),
          nullptr};
}

template <>
Description described<TrainerOptions>() {
  using O = TrainerOptions;
  return {"trainer", "TrainerOptions",
          joined({{field<&O::seed>("seed"), field<&O::metrics>("metrics"),
                   field<&O::disabled_passes>("disabled_passes")},
                  step_fields<O>()}),
          nullptr};
}

template <>
Description described<TrainingOptions>() {
  using O = TrainingOptions;
  return {"training", "TrainingOptions",
          joined(
              {length_fields<O>(),
               update_fields<O>(),
               limit_fields<O>(),
               {field<&O::trains>("trains")},
               loss_fields<O>(),
               stop_fields<O>(),
               order_fields<O>(),
               {field<&O::seed>("seed"), field<&O::augment>("augment"),
                field<&O::checkpoints>("checkpoints").same_bits(), field<&O::metrics>("metrics")},
               part_fields<O>(),
               step_fields<O>(),
               read_fields<O>(),
               {field<&O::disabled_passes>("disabled_passes"), field<&O::lookahead>("lookahead"),
                field<&O::freeze>("freeze"), field<&O::whiten>("whiten")}}),
          nullptr};
}

template <>
Description described<CpuOptions>() {
  using O = CpuOptions;
  return {"cpu",
          "CpuOptions",
          {field<&O::tune>("tune").flag(
               "--tune",
               "Measure once which engine is fastest for convolutions and dense layers on the "
               "CPU,\nand use it"),
           field<&O::cache_folder>("cache_folder"), field<&O::choices>("choices")},
          nullptr};
}

template <>
Description described<CudaOptions>() {
  using O = CudaOptions;
  return {
      "cuda",
      "CudaOptions",
      {field<&O::graph_steps>("graph_steps")
           .between(1, 10'000)  // a captured step is tens of graph nodes
           .as({"off", "epoch"}, {0, O::kWholeEpoch})
           .flag("--graph",
                 "Steps of one launch on a GPU: off, a number, or epoch (the default where the "
                 "GPU\ncan loop; if given, an error where it cannot)"),
       field<&O::graph_required>("graph_required"),
       field<&O::cudnn>("cudnn")
           .as({"legacy", "graph"})
           .flag("--conv-engine",
                 "Convolutions on a GPU: by cuDNN (graph) or, for diagnosis, by Linnet (legacy)"),
       field<&O::deterministic>("deterministic")
           .as({"off", "on"})
           .flag("--deterministic",
                 "Libraries' algorithms on a GPU: only those that give the same bits in every "
                 "run\n(on, the default), or the fastest (off)"),
       field<&O::cache_folder>("cache_folder"), field<&O::library>("library")},
      nullptr};
}

template <>
Description described<ModelOptions>() {
  using O = ModelOptions;
  std::vector<std::string> precisions = FieldFormat<Precision>::names();
  precisions.front() = "auto";
  return {"model",
          "ModelOptions",
          {field<&O::device>("device")
               .as({"auto", "cpu", "cuda"})
               .checked(&device_mistake)
               .flag("--device", "Device; one of several GPUs: cuda:INDEX or cuda:UUID"),
           field<&O::threads>("threads").at_least(0).flag("--threads",
                                                          "Number of processors to use; 0: all"),
           field<&O::team>("team"), field<&O::seed>("seed"),
           field<&O::precision>("precision")
               .as(precisions)
               .flag("--precision",
                     "Arithmetic of matrix products and convolutions; fp16: on a GPU; fp64: on a "
                     "CPU, of everything"),
           field<&O::cpu>("cpu"), field<&O::cuda>("cuda"), field<&O::operators>("operators")},
          nullptr};
}

template <>
Description described<BatchOptions>() {
  using O = BatchOptions;
  return {"batches",
          "BatchOptions",
          {field<&O::size>("size").at_least(1), field<&O::shuffle>("shuffle"),
           field<&O::drop_last>("drop_last"), field<&O::shards>("shards").at_least(0)},
          nullptr};
}

template <>
Description described<LBFGS>() {
  using O = LBFGS;
  return {"lbfgs",
          "LBFGS",
          {field<&O::iterations>("iterations").at_least(1),
           field<&O::history>("history").at_least(1),
           field<&O::evaluations>("evaluations").at_least(1),
           field<&O::gradient_tolerance>("gradient_tolerance").at_least(0),
           field<&O::loss_tolerance>("loss_tolerance").at_least(0),
           field<&O::sufficient_decrease>("sufficient_decrease"), field<&O::curvature>("curvature"),
           field<&O::batch>("batch").at_least(0)},
          nullptr};
}

std::string device_mistake(const std::string& name) {
  constexpr std::string_view kIndexed = "cuda:";
  const std::vector<std::string> names{"auto", "cpu", "cuda"};
  if (std::ranges::count(names, name) > 0) return {};
  if (name.starts_with(kIndexed) && name.size() > kIndexed.size()) return {};
  return fmt::format("expected auto, cpu, cuda, cuda:INDEX or cuda:UUID; got '{}'{}", name,
                     did_you_mean(name, names));
}

}  // namespace linnet
