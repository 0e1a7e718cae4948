// SPDX-License-Identifier: Apache-2.0
// The structs of options as classes, whose fields follow from their descriptions (model/options.h,
// tasks/options.h).
#include <fmt/format.h>
#include <linnet/model.h>
#include <nanobind/stl/string.h>

#include <map>

#include "base/check.h"
#include "bind.h"
#include "datasets.h"
#include "docstrings.h"
#include "options.h"
#include "training.h"

namespace linnet::python {

namespace {

/// Returns weights in the order of the labels, of a list or of a dict by label.
std::vector<double> label_weights(nb::handle value, const Place& place) {
  if (!nb::isinstance<nb::dict>(value)) {
    return Convert<std::vector<double>>::from(value, place);
  }
  std::map<std::int64_t, double> by_label;
  for (const auto& [label, weight] : nb::borrow<nb::dict>(value)) {
    if (PyIndex_Check(label.ptr()) == 0) {
      refuse(place, "a dict whose keys are labels, integers that count Dataset.classes from 0",
             label);
    }
    by_label[Convert<std::int64_t>::from(label, place)] = Convert<double>::from(weight, place);
  }
  std::vector<double> weights;
  for (const auto& [label, weight] : by_label) {
    const std::int64_t next = std::ssize(weights);
    if (label != next) {
      throw nb::value_error(fmt::format("[{}] expected {} to have a weight for each label from 0 "
                                        "on; got {}, but none for {}",
                                        place.owner, place.key, label, next)
                                .c_str());
    }
    weights.push_back(weight);
  }
  return weights;
}

template <auto kMember>
Option<LossOptions> weights_option(std::string_view key) {
  Option<LossOptions> made = option<kMember>(key);
  made.set = [](LossOptions& to, nb::handle value, const Place& place) {
    to.*kMember = label_weights(value, place);
  };
  made.type += " | Mapping[int, float]";
  return made;
}

template <class... T>
std::map<const AnyFormat*, AnyConvert> converts_of() {
  return {{&kFormatOf<T>,
           {[] { return Convert<T>::type(); },
            [](void* field, nb::handle value, const Place& place) {
              *static_cast<T*>(field) = Convert<T>::from(value, place);
            },
            [](const void* field) { return Convert<T>::to(*static_cast<const T*>(field)); }}}...};
}

}  // namespace

const AnyConvert& convert_of(const AnyFormat& format) {
  static const auto kAll = converts_of<
      bool, int, std::int64_t, std::size_t, double, std::string, std::filesystem::path,
      std::optional<bool>, std::optional<char>, std::optional<double>, std::optional<std::int32_t>,
      std::optional<std::int64_t>, std::vector<std::string>, std::map<std::string, std::string>,
      Shape, OnFailedSave, Better, Precision, std::shared_ptr<ThreadTeam>, CpuOptions, CudaOptions,
      OnBadImage, std::optional<Exif>, DatasetOptions, std::optional<DateOrder>,
      std::map<std::string, ColumnType>, MissingValues, Scaling, std::map<std::string, Scaling>,
      TableTarget, TableTransform, TableTransformOptions, SeriesNetwork, SameTime, OffStep,
      Optimizer, Schedule, Clip, Warmup, Average, Lookahead, std::vector<Freeze>, Whiten, Augment,
      Checkpoints, Watch, LossOptions, std::vector<ParameterGroup>, std::vector<OutputLoss>,
      std::vector<CustomMetric>, Ranks, Dataset>();
  const auto found = kAll.find(&format);
  LINNET_ASSERT(found != kAll.end());
  return found->second;
}

template <>
const Options<LossOptions>& options<LossOptions>() {
  static const Options<LossOptions> all = described_options<LossOptions>(
      {weights_option<&LossOptions::class_weights>("class_weights"),
       weights_option<&LossOptions::positive_weights>("positive_weights")});
  return all;
}
namespace {

/// The loss, by name or as a function.
template <class O, auto kCustom>
Option<O> loss_option() {
  return {"loss",
          [](O& to, nb::handle value, const Place& place) {
            set_loss(to.loss, to.*kCustom, value, place);
          },
          [](const O& from) { return Convert<Loss>::to(from.loss); }, loss_type()};
}

}  // namespace

template <>
const Options<OutputLoss>& options<OutputLoss>() {
  static const Options<OutputLoss> all =
      described_options<OutputLoss>({loss_option<OutputLoss, &OutputLoss::custom>()});
  return all;
}
template <>
const Options<CustomMetric>& options<CustomMetric>() {
  static const Options<CustomMetric> all{"CustomMetric",
                                         {option<&CustomMetric::name>("name"),
                                          option<&CustomMetric::values>("values"),
                                          option<&CustomMetric::result>("result"),
                                          option<&CustomMetric::numbers>("numbers"),
                                          option<&CustomMetric::output>("output")}};
  return all;
}
template <>
const Options<Objective>& options<Objective>() {
  static const Options<Objective> all =
      described_options<Objective>({loss_option<Objective, &Objective::custom_loss>()});
  return all;
}
template <>
const Options<TrainingOptions>& options<TrainingOptions>() {
  using O = TrainingOptions;
  static const Options<O> all = described_options<O>({loss_option<O, &O::custom_loss>()});
  return all;
}

namespace {

/// Objects are their fields, but for functions and processes, which no pickle holds.
template <class S>
inline constexpr bool kIsPickled =
    !(std::is_same_v<S, Objective> || std::is_same_v<S, OutputLoss> ||
      std::is_same_v<S, CustomMetric> || std::is_same_v<S, TrainingOptions>);

template <class S>
void bind_copies(nb::class_<S>& made) {
  made.def("__copy__", [](const S& self) { return self; });
  made.def(
      "__deepcopy__", [](const S& self, const nb::dict& /*memo*/) { return self; },
      nb::arg("memo"));
  if constexpr (kIsPickled<S>) {
    made.def(
        "__reduce__",
        [](const nb::object& self) {
          nb::list values;
          for (const Option<S>& one : options<S>().all) {
            values.append(one.get(nb::cast<const S&>(self)));
          }
          return nb::make_tuple(self.type(), nb::tuple(values));
        },
        nb::sig("def __reduce__(self) -> tuple[Any, ...]"));
  }
}

/// Binds a struct of options as a class of keyword arguments, in the order of its fields.
template <class S>
void bind(nb::module_& m) {
  const Options<S>& all = options<S>();
  const char* name = keep(std::string(all.name));
  nb::class_<S> made(m, name, doc(name));
  made.def(
      "__init__",
      [](S* self, const nb::args& values, const nb::kwargs& named) {
        const Options<S>& all = options<S>();
        nb::dict arguments = nb::borrow<nb::dict>(named);
        if (values.size() > all.all.size()) {
          throw nb::type_error(fmt::format("[{}] takes at most {} arguments; got {}", all.name,
                                           all.all.size(), values.size())
                                   .c_str());
        }
        for (std::size_t i = 0; i < values.size(); ++i) {
          const nb::str key(all.all[i].key.data(), all.all[i].key.size());
          if (arguments.contains(key)) {
            throw nb::type_error(
                fmt::format("[{}] got {} twice", all.name, all.all[i].key).c_str());
          }
          arguments[key] = values[i];
        }
        S value{};
        all.read(value, arguments, all.name);
        new (self) S(std::move(value));
      },
      nb::sig(keep("def __init__(self, " + all.parameters() + ") -> None")), keep(all.arguments()));
  for (const Option<S>& one : all.all) {
    const auto get = one.get;
    made.def_prop_ro(
        keep(std::string(one.key)), [get](const S& self) { return get(self); },
        nb::sig(
            keep(fmt::format("def {}(self) -> {}", one.key, one.got.empty() ? one.type : one.got))),
        doc(fmt::format("{}.{}", all.name, one.documented.empty() ? one.key : one.documented)));
  }
  bind_copies(made);
  made.def("__repr__", [](const S& self) {
    std::string out = fmt::format("{}(", options<S>().name);
    for (const Option<S>& one : options<S>().all) {
      const nb::object value = one.get(self);
      const nb::object otherwise = one.get(S{});
      const std::string text = nb::repr(value).c_str();
      if (text == nb::repr(otherwise).c_str()) continue;
      out += fmt::format("{}{}={}", out.back() == '(' ? "" : ", ", one.key, text);
    }
    return out + ")";
  });
}

}  // namespace

void bind_options(nb::module_& m) {
  bind<Clip>(m);
  bind<Warmup>(m);
  bind<Average>(m);
  bind<Lookahead>(m);
  bind<Freeze>(m);
  bind<Whiten>(m);
  bind<ParameterGroup>(m);
  bind<Augment>(m);
  bind<Checkpoints>(m);
  bind<Watch>(m);
  bind<LossOptions>(m);
  bind<OutputLoss>(m);
  bind<CustomMetric>(m);
  bind<LBFGS>(m);
  bind<CpuOptions>(m);
  bind<CudaOptions>(m);
  bind<Objective>(m);
  bind<DatasetOptions>(m);
  bind<TableTransformOptions>(m);
  bind<TrainingOptions>(m);
}

}  // namespace linnet::python
