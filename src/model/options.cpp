// SPDX-License-Identifier: Apache-2.0
#include "model/options.h"

#include <utility>

namespace linnet {
namespace {

template <class S>
Description described(std::string_view kind, std::string_view name, std::vector<Field> fields) {
  return {.kind = kind,
          .name = name,
          .fields = std::move(fields),
          .defaults = std::make_shared<const S>()};
}

}  // namespace

template <>
const Description& description_of<LossOptions>() {
  using O = LossOptions;
  static const Description kAll = described<O>(
      "loss", "LossOptions",
      {field<&O::label_smoothing>("label_smoothing")
           .from_to_below(0, 1)
           .flag(
               "--label-smoothing",
               "Label smoothing: share of every label that is spread over all classes, in [0, 1)"),
       field<&O::class_weights>("class_weights").at_least(0).finite(),
       field<&O::ignore_index>("ignore_index"),
       field<&O::positive_weights>("positive_weights").at_least(0).finite(),
       field<&O::focal_gamma>("focal_gamma").at_least(0).finite(),
       field<&O::focal_alpha>("focal_alpha").in({.most = 1}),
       field<&O::huber_delta>("huber_delta").above(0).finite(),
       field<&O::l1>("l1").at_least(0).finite(), field<&O::l2>("l2").at_least(0).finite()});
  return kAll;
}

template <>
const Description& description_of<OutputLoss>() {
  using O = OutputLoss;
  static const Description kAll =
      described<O>("loss", "OutputLoss",
                   {field<&O::output>("output"), field<&O::loss>("loss"),
                    field<&O::weight>("weight").finite(), field<&O::options>("options"),
                    field<&O::custom>("custom"), field<&O::target>("target").finite()});
  return kAll;
}

template <>
const Description& description_of<Augment>() {
  using O = Augment;
  static const Description kAll = described<O>(
      "augment", "Augment",
      {field<&O::crop>("crop"), field<&O::padding>("padding").at_least(0),
       field<&O::reflect>("reflect"), field<&O::resized_crop>("resized_crop"),
       field<&O::area_min>("area_min").in({.least = 0, .most = 1, .above_least = true}),
       field<&O::area_max>("area_max").in({.least = 0, .most = 1, .above_least = true}),
       field<&O::ratio_min>("ratio_min").above(0), field<&O::ratio_max>("ratio_max").above(0),
       field<&O::flip>("flip").between(0, 1), field<&O::brightness>("brightness").at_least(0),
       field<&O::contrast>("contrast").at_least(0), field<&O::saturation>("saturation").at_least(0),
       field<&O::cutout>("cutout").at_least(0), field<&O::mixup>("mixup").at_least(0).finite(),
       field<&O::cutmix>("cutmix").at_least(0).finite()});
  return kAll;
}

}  // namespace linnet
