// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <linnet/network.h>
#include <linnet/zoo.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "bind.h"
#include "docstrings.h"
#include "expressions.h"
#include "nn/views.h"
#include "options.h"
#include "shapes.h"
#include "shown.h"
#include "tensors.h"

namespace linnet::python {

template <>
const Options<zoo::ImageOptions>& options<zoo::ImageOptions>() {
  using O = zoo::ImageOptions;
  static const Options<O> all{"zoo.ImageOptions",
                              {option<&O::sample>("sample"), option<&O::classes>("classes"),
                               option<&O::pixels>("pixels"), option<&O::epsilon>("epsilon"),
                               option<&O::small_stem>("small_stem"),
                               option<&O::stride_first>("stride_first")}};
  return all;
}
template <>
const Options<zoo::VggOptions>& options<zoo::VggOptions>() {
  using O = zoo::VggOptions;
  static const Options<O> all{"zoo.VggOptions",
                              {option<&O::sample>("sample"), option<&O::classes>("classes"),
                               option<&O::pixels>("pixels"), option<&O::batch_norm>("batch_norm"),
                               option<&O::dropout>("dropout")}};
  return all;
}
template <>
const Options<zoo::TextOptions>& options<zoo::TextOptions>() {
  using O = zoo::TextOptions;
  static const Options<O> all{"zoo.TextOptions",
                              {option<&O::steps>("steps"), option<&O::vocabulary>("vocabulary"),
                               option<&O::features>("features"), option<&O::units>("units"),
                               option<&O::classes>("classes")}};
  return all;
}

namespace {

/// A network under construction, which its expressions keep.
struct Functional {
  std::shared_ptr<FunctionalNetwork> network = std::make_shared<FunctionalNetwork>();
  std::shared_ptr<Tracing> tracing = std::make_shared<Tracing>(Tracing{true, network});

  Traced traced(const Expression& expression) const { return {tracing, expression}; }
};

void bind_network(nb::module_& m) {
  nb::class_<Network> network(m, "Network", doc("Network"));
  network
      .def(
          "__init__",
          [](Network* self, const ShapeArg& sample, const nb::object& layers,
             const DTypeLike& dtype) {
            const auto all = Convert<std::vector<Layer>>::from(layers, {"Network", "layers"});
            new (self) Network(shape_of(sample), all, dtype_of(dtype));
          },
          nb::arg("sample"), nb::arg("layers") = nb::make_tuple(), nb::arg("dtype") = "f32",
          nb::sig("def __init__(self, sample: int | Sequence[int], layers: "
                  "Sequence[Layer] = (), dtype: DTypeLike = "
                  "'f32') -> None"),
          doc("Network.Network"))
      .def(
          "add", [](Network& n, const Layer& layer) -> Network& { return n.add(layer); },
          nb::arg("layer"), nb::rv_policy::none, nb::sig("def add(self, layer: Layer) -> Network"),
          doc("Network.add"))
      .def("with_head", &Network::with_head, nb::arg("layer"), nb::arg("head"),
           doc("Network.with_head"))
      .def(
          "with_views",
          [](const Network& n, bool flip, std::int64_t shift) {
            return n.with_views({.flip = flip, .shift = shift});
          },
          nb::arg("flip") = true, nb::arg("shift") = 0, doc("Network.with_views"))
      .def("without_views", &Network::without_views, doc("Network.without_views"))
      .def_prop_ro(
          "views",
          [](const Network& n) -> std::optional<std::string> {
            const std::optional<TestViews> views = n.views();
            return views ? std::optional(to_string(*views)) : std::nullopt;
          },
          doc("Network.views", "As a text such as \"flip,shift=1\"."))
      .def_prop_ro(
          "input_shape", [](const Network& n) { return tuple_of(n.input_shape()); },
          nb::sig("def input_shape(self) -> tuple[int, ...]"), doc("Network.input_shape"))
      .def_prop_ro(
          "output_shape", [](const Network& n) { return tuple_of(n.output_shape()); },
          nb::sig("def output_shape(self) -> tuple[int, ...]"), doc("Network.output_shape"))
      .def_prop_ro("input_names", &Network::input_names, doc("Network.input_names"))
      .def_prop_ro("output_names", &Network::output_names, doc("Network.output_names"))
      .def_prop_ro("parameters", &Network::parameters, doc("Network.parameters"))
      .def("to_json", &Network::to_json, doc("Network.to_json"))
      .def_static(
          "from_json", [](const std::string& text) { return Network::from_json(text); },
          nb::arg("text"), doc("Network.from_json"))
      .def("__copy__", [](const Network& n) { return n; })
      .def(
          "__deepcopy__", [](const Network& n, const nb::dict& /*memo*/) { return n; },
          nb::arg("memo"))
      .def("__getstate__", &Network::to_json)
      .def("__setstate__",
           [](Network& n, const std::string& text) { new (&n) Network(Network::from_json(text)); });
  shown(network, "_repr_html_", "network_html");
  shown(network, "__repr__", "network_text");
}

void bind_functional(nb::module_& m) {
  nb::class_<Functional>(m, "FunctionalNetwork", doc("FunctionalNetwork"))
      .def(nb::init<>(), doc("FunctionalNetwork.FunctionalNetwork"))
      .def(
          "input",
          [](Functional& f, const std::string& name, const ShapeArg& sample, const DTypeLike& dtype,
             bool lengths) {
            return f.traced(f.network->input(name, shape_of(sample), dtype_of(dtype), lengths));
          },
          nb::arg("name"), nb::arg("sample"), nb::arg("dtype") = "f32", nb::arg("lengths") = false,
          doc("FunctionalNetwork.input"))
      .def(
          "normal",
          [](Functional& f, const ShapeArg& sample) {
            return f.traced(f.network->normal(shape_of(sample)));
          },
          nb::arg("sample"), doc("FunctionalNetwork.normal"))
      .def(
          "uniform",
          [](Functional& f, const ShapeArg& sample, double low, double high) {
            return f.traced(f.network->uniform(shape_of(sample), low, high));
          },
          nb::arg("sample"), nb::arg("low") = 0, nb::arg("high") = 1,
          doc("FunctionalNetwork.uniform"))
      .def(
          "build",
          [](const Functional& f, const nb::dict& outputs) {
            std::vector<std::pair<std::string, Expression>> all;
            for (const auto& [key, value] : outputs) {
              const Place place{"FunctionalNetwork.build", "outputs"};
              if (!nb::isinstance<Traced>(value)) refuse(place, "a dict of Expression", value);
              all.emplace_back(Convert<std::string>::from(key, place),
                               nb::cast<const Traced&>(value).get());
            }
            return f.network->build(all);
          },
          nb::arg("outputs"), nb::sig("def build(self, outputs: dict[str, Expression]) -> Network"),
          doc("FunctionalNetwork.build"));
}

template <class O>
void image_network(nb::module_& zoo, const char* name, Network (*make)(const O&)) {
  const std::string docs = std::string("zoo.") + name;
  zoo.def(
      name,
      [make, docs](const nb::kwargs& named) {
        O with{};
        options<O>().read(with, nb::borrow<nb::dict>(named), docs);
        return make(with);
      },
      nb::sig(keep(fmt::format("def {}(*, {}) -> Network", name, options<O>().parameters()))),
      doc(docs, options<O>().arguments()));
}

/// Binds a network of several sizes; `argument`: the size's name and type, as Python writes them.
template <class Size>
void sized_network(nb::module_& zoo, const char* name, const char* argument,
                   Network (*make)(Size, const zoo::ImageOptions&)) {
  const std::string docs = std::string("zoo.") + name;
  const auto& named_options = options<zoo::ImageOptions>();
  zoo.def(
      name,
      [make, docs](Size size, const nb::kwargs& named) {
        zoo::ImageOptions with{};
        options<zoo::ImageOptions>().read(with, nb::borrow<nb::dict>(named), docs);
        return make(size, with);
      },
      nb::sig(keep(
          fmt::format("def {}({}, *, {}) -> Network", name, argument, named_options.parameters()))),
      doc(docs, named_options.arguments()));
}

void bind_zoo(nb::module_& m) {
  nb::module_ zoo = m.def_submodule("zoo", keep(std::string(docstring("zoo"))));
  image_network<zoo::ImageOptions>(zoo, "resnet18", zoo::resnet18);
  image_network<zoo::ImageOptions>(zoo, "resnet34", zoo::resnet34);
  image_network<zoo::ImageOptions>(zoo, "resnet50", zoo::resnet50);
  image_network<zoo::ImageOptions>(zoo, "resnet101", zoo::resnet101);
  image_network<zoo::ImageOptions>(zoo, "small_resnet", zoo::small_resnet);
  image_network<zoo::ImageOptions>(zoo, "densenet121", zoo::densenet121);
  image_network<zoo::ImageOptions>(zoo, "densenet169", zoo::densenet169);
  image_network<zoo::VggOptions>(zoo, "vgg11", zoo::vgg11);
  image_network<zoo::VggOptions>(zoo, "vgg16", zoo::vgg16);
  image_network<zoo::TextOptions>(zoo, "gru_text", zoo::gru_text);
  image_network<zoo::TextOptions>(zoo, "lstm_text", zoo::lstm_text);
  image_network<zoo::ImageOptions>(zoo, "mobilenet_v2", zoo::mobilenet_v2);
  image_network<zoo::ImageOptions>(zoo, "mobilenet_v3_small", zoo::mobilenet_v3_small);
  image_network<zoo::ImageOptions>(zoo, "mobilenet_v3_large", zoo::mobilenet_v3_large);
  sized_network<std::int64_t>(zoo, "cifar_resnet", "depth: int", zoo::cifar_resnet);
  sized_network<std::int64_t>(zoo, "efficientnet", "scale: int", zoo::efficientnet);
  sized_network<std::string_view>(zoo, "convnext", "size: str", zoo::convnext);
  sized_network<std::string_view>(zoo, "regnet", "size: str", zoo::regnet);
  sized_network<std::string_view>(zoo, "vit", "size: str", zoo::vit);
  zoo.def(
      "mlp",
      [](std::int64_t features, const Dims& hidden, const Layer& activation, std::int64_t outputs) {
        return zoo::mlp(features, hidden, activation, outputs);
      },
      nb::arg("features"), nb::arg("hidden"), nb::arg("activation"), nb::arg("outputs"),
      doc("zoo.mlp"));
}

}  // namespace

void bind_networks(nb::module_& m) {
  bind_network(m);
  bind_functional(m);
  bind_zoo(m);
}

}  // namespace linnet::python
