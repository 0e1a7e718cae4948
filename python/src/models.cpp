// SPDX-License-Identifier: Apache-2.0
#include "models.h"

#include <fmt/format.h>
#include <linnet/c_export.h>
#include <linnet/convert.h>
#include <linnet/devices.h>
#include <linnet/function_export.h>
#include <linnet/onnx.h>
#include <linnet/samples.h>
#include <linnet/series_transform.h>
#include <linnet/table_transform.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bind.h"
#include "datasets.h"
#include "docstrings.h"
#include "model/model_state.h"
#include "shapes.h"
#include "shown.h"
#include "tensors.h"
#include "training.h"

namespace linnet::python {

template <>
std::vector<std::string> names_of<Answers>() {
  return {"classes", "labels", "scores", "values"};
}
template <>
std::vector<std::string> names_of<WeightNames>() {
  return weight_names();
}
template <>
std::vector<std::string> names_of<PixelScale>() {
  return pixel_scale_names();
}
template <>
const Options<ImportOptions>& options<ImportOptions>() {
  using O = ImportOptions;
  static const Options<O> all{"ImportOptions",
                              {option<&O::network>("network"), option<&O::names>("names"),
                               option<&O::pixels>("pixels"), option<&O::image>("image"),
                               option<&O::steps>("steps"), option<&O::ignore>("ignore"),
                               option<&O::rename>("rename"), option<&O::strict>("strict"),
                               option<&O::classes>("classes")}};
  return all;
}

namespace {

ModelOptions model_options(const nb::kwargs& named, std::string_view owner) {
  ModelOptions on;
  options<ModelOptions>().read(on, nb::borrow<nb::dict>(named), owner);
  return on;
}

/// Data, or samples of the first input; both are data sets.
Array predicted(ModelHandle& m, const DataLike& data, std::int64_t batch,
                Tensor (Model::*predict)(const Dataset&, std::int64_t)) {
  const Dataset samples = dataset_of(data);
  return array_of(m.use([&](Model& model) { return (model.*predict)(samples, batch); }));
}

void bind_making(nb::class_<ModelHandle>& c) {
  c.def(
      "__init__",
      [](ModelHandle* self, const Network& network, const nb::kwargs& named) {
        const ModelOptions on = model_options(named, "Model");
        new (self) ModelHandle(without_gil([&] { return Model(network, on); }));
      },
      nb::sig(signature("__init__", "self, network: Network", options<ModelOptions>().parameters(),
                        "None")),
      doc("Model.Model", options<ModelOptions>().arguments()));
  c.def_static(
      "load",
      [](const std::filesystem::path& path, const nb::kwargs& named) {
        const ModelOptions on = model_options(named, "Model.load");
        return ModelHandle(without_gil([&] { return Model::load(path, on); }));
      },
      nb::sig(signature("load", "path: PathLike", options<ModelOptions>().parameters(), "Model")),
      doc("Model.load", options<ModelOptions>().arguments()));
  c.def(
      "save",
      [](ModelHandle& m, const std::filesystem::path& path) {
        m.use([&](Model& model) { model.save(path); });
      },
      nb::arg("path"), nb::sig("def save(self, path: PathLike) -> None"), doc("Model.save"));
  c.def(
      "to_bytes",
      [](const nb::object& self) {
        return nb::bytes(nb::module_::import_("linnet._bytes").attr("to_bytes")(self));
      },
      "Returns the bytes of the file that save() writes. A pickle of a model holds them.");
  c.def_static(
      "from_bytes",
      [](const nb::bytes& data, const nb::kwargs& named) {
        return nb::module_::import_("linnet._bytes").attr("from_bytes")(data, named);
      },
      nb::arg("data"), nb::arg("options"),
      nb::sig(
          signature("from_bytes", "data: bytes", options<ModelOptions>().parameters(), "Model")),
      "Returns the model of what to_bytes() returned. Raises as load() does.");
  c.def(
      "__reduce__",
      [](const nb::object& self) {
        return nb::make_tuple(nb::module_::import_("linnet._bytes").attr("unpickled"),
                              nb::make_tuple(self.attr("to_bytes")()));
      },
      nb::sig("def __reduce__(self) -> tuple[Any, ...]"));
  const auto copy = [](ModelHandle& m) {
    return ModelHandle(m.use([](Model& model) { return model.copy(); }));
  };
  c.def("copy", copy, doc("Model.copy"));
  c.def("__copy__", copy);
  c.def(
      "__deepcopy__", [copy](ModelHandle& m, const nb::dict& /*memo*/) { return copy(m); },
      nb::arg("memo"));
  c.def(
      "to",
      [](ModelHandle& m, const std::string& device) {
        return ModelHandle(m.use([&](Model& model) { return model.to(device); }));
      },
      nb::arg("device"), doc("Model.to"));
  c.def(
      "with_head",
      [](ModelHandle& m, const std::string& layer, const Layer& head) {
        return ModelHandle(m.use([&](Model& model) { return model.with_head(layer, head); }));
      },
      nb::arg("layer"), nb::arg("head"), doc("Model.with_head"));
  c.def(
      "with_member_shares",
      [](ModelHandle& m, const Dataset& held_out) {
        return ModelHandle(m.use([&](Model& model) { return model.with_member_shares(held_out); }));
      },
      nb::arg("held_out"), doc("Model.with_member_shares"));
  c.def(
      "with_views",
      [](ModelHandle& m, bool flip, std::int64_t shift) {
        return ModelHandle(
            m.use([&](Model& model) { return model.with_views({.flip = flip, .shift = shift}); }));
      },
      nb::arg("flip") = true, nb::arg("shift") = 0, doc("Model.with_views"));
  c.def(
      "without_views",
      [](ModelHandle& m) {
        return ModelHandle(m.use([](Model& model) { return model.without_views(); }));
      },
      doc("Model.without_views"));
}

void bind_facts(nb::class_<ModelHandle>& c) {
  c.def_prop_ro(
      "network", [](ModelHandle& m) { return m.model().network(); }, doc("Model.network"));
  c.def_prop_ro(
      "device", [](ModelHandle& m) { return m.model().device(); }, doc("Model.device"));
  c.def_prop_ro(
      "threads", [](ModelHandle& m) { return m.model().threads(); }, doc("Model.threads"));
  c.def_prop_ro(
      "engine_choices",
      [](ModelHandle& m) { return m.use([](Model& model) { return model.engine_choices(); }); },
      doc("Model.engine_choices"));
  c.def_prop_rw(
      "class_names",
      [](ModelHandle& m) { return m.use([](Model& model) { return model.class_names(); }); },
      [](ModelHandle& m, const std::vector<std::string>& names) {
        m.use([&](Model& model) { model.set_class_names(names); });
      },
      doc("Model.set_class_names"));
  c.def_prop_ro(
      "answers",
      [](ModelHandle& m) {
        return Convert<Answers>::to(m.use([](Model& model) { return model.answers(); }));
      },
      nb::sig(keep("def answers(self) -> " + Convert<Answers>::type())), doc("Model.answers"));
  c.def_prop_rw(
      "table", [](ModelHandle& m) { return m.use([](Model& model) { return model.table(); }); },
      [](ModelHandle& m, const TableTransform& transform) {
        m.use([&](Model& model) { model.set_table(transform); });
      },
      doc("Model.set_table"));
  c.def_prop_rw(
      "series", [](ModelHandle& m) { return m.use([](Model& model) { return model.series(); }); },
      [](ModelHandle& m, const SeriesTransform& transform) {
        m.use([&](Model& model) { model.set_series(transform); });
      },
      doc("Model.set_series"));
  c.def_prop_ro(
      "sample_shape",
      [](ModelHandle& m) {
        return tuple_of(m.use([](Model& model) { return model.sample_shape(); }));
      },
      nb::sig("def sample_shape(self) -> tuple[int, ...]"), doc("Model.sample_shape"));
  c.def_prop_ro(
      "parameter_names", [](ModelHandle& m) { return m.model().parameter_names(); },
      doc("Model.parameter_names"));
}

/// Warns of the weights that a state lacks: a network half of whose weights are initial ones gives
/// no error.
void warn_of_missing(const std::vector<std::string>& names, const State& state) {
  constexpr std::size_t kMostNamed = 4;
  std::vector<std::string> missing;
  for (const std::string& name : names) {
    if (state.find(name) == nullptr) missing.push_back(fmt::format("'{}'", name));
  }
  if (missing.empty()) return;
  const std::size_t count = missing.size();
  missing.resize(std::min(count, kMostNamed));
  const std::string text = fmt::format(
      "[Model.set_weights] {} of {} weights were not given and keep their values: {}{}; "
      "partial=True says that this is meant",
      count, names.size(), fmt::join(missing, ", "), count > kMostNamed ? ", ..." : "");
  if (PyErr_WarnEx(PyExc_UserWarning, text.c_str(), 1) != 0) nb::raise_python_error();
}

void bind_weights(nb::class_<ModelHandle>& c) {
  c.def(
      "parameter",
      [](ModelHandle& m, const std::string& name) {
        return array_of(m.use([&](Model& model) { return model.parameter(name); }));
      },
      nb::arg("name"), doc("Model.parameter"));
  c.def(
      "set_parameter",
      [](ModelHandle& m, const std::string& name, const ArrayLike& values) {
        const Tensor tensor = tensor_of(values, name);
        m.use([&](Model& model) { model.set_parameter(name, tensor); });
      },
      nb::arg("name"), nb::arg("values"), doc("Model.set_parameter"));
  c.def(
      "parameter_memory",
      [](ModelHandle& m, const std::string& name) {
        return m.use([&](Model& model) { return model.parameter_memory(name); });
      },
      nb::arg("name"), doc("Model.parameter_memory"));
  c.def(
      "weights",
      [](ModelHandle& m) { return dict_of(m.use([](Model& model) { return model.weights(); })); },
      doc("Model.weights"));
  c.def(
      "set_weights",
      [](ModelHandle& m, const NamedArrays& weights, bool partial) {
        std::vector<State::Entry> entries;
        const bool keeps_f64 = computes_in_f64(m.model().state());
        for (const State::Entry& entry : state_of(weights, "weights")) {
          const DType dtype = entry.value.dtype();  // PyTorch has bf16, NumPy the others
          const bool is_float =
              (dtype == DType::f64 && !keeps_f64) || dtype == DType::f16 || dtype == DType::bf16;
          entries.push_back({entry.name, is_float ? entry.value.to(DType::f32) : entry.value});
        }
        const State state(std::move(entries));
        m.use([&](Model& model) { model.set_weights(state); });
        if (!partial) warn_of_missing(m.model().parameter_names(), state);
      },
      nb::arg("weights"), nb::kw_only(), nb::arg("partial") = false,
      doc("Model.set_weights",
          "Arguments:\n"
          "  weights: arrays by the names of weights()\n"
          "  partial: whether weights may be missing; else a UserWarning names those that keep "
          "their values\n"));
}

void bind_predictions(nb::class_<ModelHandle>& c) {
  for (const char* name : {"predict", "__call__"}) {
    c.def(
        name,
        [](ModelHandle& m, const DataLike& data, std::int64_t batch) {
          return predicted(m, data, batch, &Model::predict);
        },
        nb::arg("data"), nb::arg("batch") = 256, doc("Model.predict"));
  }
  c.def(
      "predict_probabilities",
      [](ModelHandle& m, const DataLike& data, std::int64_t batch) {
        return predicted(m, data, batch, &Model::predict_probabilities);
      },
      nb::arg("data"), nb::arg("batch") = 256, doc("Model.predict_probabilities"));
  c.def(
      "predict_all",
      [](ModelHandle& m, const DataLike& data, std::int64_t batch) {
        const Dataset samples = dataset_of(data);
        State all;
        for (const Column& column :
             m.use([&](Model& model) { return model.predict_all(samples, batch); })) {
          all.set(column.name, column.data);
        }
        return dict_of(all);
      },
      nb::arg("data"), nb::arg("batch") = 256, doc("Model.predict_all"));
  c.def(
      "value_of",
      [](ModelHandle& m, const std::string& layer, const DataLike& data, std::int64_t batch) {
        const Dataset samples = dataset_of(data);
        return array_of(m.use([&](Model& model) { return model.value_of(layer, samples, batch); }));
      },
      nb::arg("layer"), nb::arg("data"), nb::arg("batch") = 256, doc("Model.value_of"));
  c.def(
      "input_gradient",
      [](ModelHandle& m, const DataLike& data, const std::string& by, const std::string& of,
         std::int64_t index, std::int64_t batch) {
        const Dataset samples = dataset_of(data);
        return array_of(m.use([&](Model& model) {
          return model.input_gradient(samples, {by, of, index}, batch);
        }));
      },
      nb::arg("data"), nb::kw_only(), nb::arg("by") = "", nb::arg("of") = "", nb::arg("index") = 0,
      nb::arg("batch") = 256, doc("Model.input_gradient"));
  c.def(
      "jacobian",
      [](ModelHandle& m, const DataLike& data, const std::string& by, const std::string& of,
         std::int64_t batch) {
        const Dataset samples = dataset_of(data);
        return array_of(
            m.use([&](Model& model) { return model.jacobian(samples, by, of, batch); }));
      },
      nb::arg("data"), nb::kw_only(), nb::arg("by") = "", nb::arg("of") = "",
      nb::arg("batch") = 256, doc("Model.jacobian"));
  c.def(
      "hessian",
      [](ModelHandle& m, const DataLike& data, const std::string& by, const std::string& of,
         std::int64_t batch) {
        const Dataset samples = dataset_of(data);
        return array_of(m.use([&](Model& model) { return model.hessian(samples, by, of, batch); }));
      },
      nb::arg("data"), nb::kw_only(), nb::arg("by") = "", nb::arg("of") = "",
      nb::arg("batch") = 256, doc("Model.hessian"));
  c.def(
      "with_derivatives",
      [](ModelHandle& m, const std::string& by, const std::string& of, bool hessian) {
        return ModelHandle(
            m.use([&](Model& model) { return model.with_derivatives(by, of, hessian); }));
      },
      nb::kw_only(), nb::arg("by") = "", nb::arg("of") = "", nb::arg("hessian") = false,
      doc("Model.with_derivatives"));
}

void bind_files(nb::module_& m) {
  m.def(
      "load_image",
      [](const std::filesystem::path& file, ModelHandle& model) {
        return array_of(model.use([&](Model& m) { return load_image(file, m); }));
      },
      nb::arg("file"), nb::arg("model"), doc("load_image"));
  m.def(
      "load_images",
      [](const std::vector<std::filesystem::path>& files, ModelHandle& model, int threads) {
        return model.use([&](Model& m) { return load_images(files, m, threads); });
      },
      nb::arg("files"), nb::arg("model"), nb::arg("threads") = 0, doc("load_images"));
  m.def(
      "encode_text",
      [](const std::string& text, const std::vector<std::string>& vocabulary, std::int64_t steps) {
        return array_of(encode_text(text, vocabulary, steps));
      },
      nb::arg("text"), nb::arg("vocabulary"), nb::arg("steps"), doc("encode_text"));
  m.def(
      "read_weights",
      [](const std::filesystem::path& path) {
        return dict_of(without_gil([&] { return read_weights(path); }));
      },
      nb::arg("path"), doc("read_weights"));
  m.def(
      "write_weights",
      [](const std::filesystem::path& path, const NamedArrays& weights,
         const std::map<std::string, std::string>& metadata) {
        const State state = state_of(weights, "weights");
        without_gil([&] { write_weights(path, state, metadata); });
      },
      nb::arg("path"), nb::arg("weights"),
      nb::arg("metadata") = std::map<std::string, std::string>(), doc("write_weights"));
  m.def(
      "import_weights",
      [](const NamedArrays& weights, const nb::kwargs& named) {
        nb::dict arguments = nb::borrow<nb::dict>(named);
        const auto how = take<ImportOptions>(arguments, "import_weights");
        const auto on = take<ModelOptions>(arguments, "import_weights");
        refuse_others(arguments, "import_weights", {});
        const State state = state_of(weights, "weights");
        return ModelHandle(without_gil([&] { return import_weights(state, how, on).model; }));
      },
      nb::sig(signature("import_weights", "weights: Mapping[str, ArrayLike]",
                        options<ImportOptions>().parameters() + ", " +
                            options<ModelOptions>().parameters(),
                        "Model")),
      doc("import_weights", options<ImportOptions>().arguments()));
  m.def(
      "export_weights",
      [](ModelHandle& model, const std::string& names) {
        const auto as = Convert<WeightNames>::from(nb::cast(names), {"export_weights", "names"});
        return dict_of(model.use([&](Model& m) { return export_weights(m, as); }));
      },
      nb::arg("model"), nb::arg("names"), doc("export_weights"));
  m.def(
      "export_c",
      [](ModelHandle& model, const std::filesystem::path& folder, const std::string& name,
         bool jacobian, bool hessian) {
        model.use([&](Model& m) {
          export_c(m, folder, {.name = name, .jacobian = jacobian, .hessian = hessian});
        });
      },
      nb::arg("model"), nb::arg("folder"), nb::arg("name") = "model", nb::arg("jacobian") = false,
      nb::arg("hessian") = false, doc("export_c"));
  m.def(
      "export_function",
      [](ModelHandle& model, const std::filesystem::path& file, bool jacobian) {
        model.use([&](Model& m) { export_function(m, file, {.jacobian = jacobian}); });
      },
      nb::arg("model"), nb::arg("file"), nb::kw_only(), nb::arg("jacobian") = false,
      doc("export_function"));
}

void bind_devices(nb::module_& m) {
  nb::class_<Team>(m, "ThreadTeam", "Threads on which several models compute in turns.");
  m.def(
      "make_thread_team",
      [](int threads) { return without_gil([&] { return team_of(make_thread_team(threads)); }); },
      nb::arg("threads") = 0, doc("make_thread_team"));
  m.def("cpu_bf16", &cpu_bf16, doc("cpu_bf16"));
  nb::class_<CudaDevice>(m, "CudaDevice", doc("CudaDevice"))
      .def_ro("index", &CudaDevice::index, doc("CudaDevice.index"))
      .def_ro("name", &CudaDevice::name, doc("CudaDevice.name"))
      .def_ro("uuid", &CudaDevice::uuid, doc("CudaDevice.uuid"))
      .def_ro("compute_capability", &CudaDevice::compute_capability,
              doc("CudaDevice.compute_capability"))
      .def_ro("multiprocessors", &CudaDevice::multiprocessors, doc("CudaDevice.multiprocessors"))
      .def_ro("memory_bytes", &CudaDevice::memory_bytes, doc("CudaDevice.memory_bytes"));
  nb::class_<CudaStatus>(m, "CudaStatus", doc("CudaStatus"))
      .def_ro("unusable", &CudaStatus::unusable, doc("CudaStatus.unusable"))
      .def_ro("libraries", &CudaStatus::libraries, doc("CudaStatus.libraries"))
      .def_ro("devices", &CudaStatus::devices, doc("CudaStatus.devices"));
  m.def(
      "cuda_status",
      [](const std::string& library) { return without_gil([&] { return cuda_status(library); }); },
      nb::arg("library") = "", doc("cuda_status"));
}

}  // namespace

ModelHandle::ModelHandle(Model model)
    : model_(of_this_process(std::move(model))),
      turn_(std::make_shared<std::recursive_mutex>()),
      process_(forks()) {}

ModelHandle::ModelHandle(Model model, const ModelHandle& other)
    : model_(of_this_process(std::move(model))), turn_(other.turn_), process_(other.process_) {}

void ModelHandle::check_process() const {
  if (process_ != forks()) {
    throw Error(
        "this model was made before the process was forked, and its threads stayed in the parent; "
        "make or load a model in the new process, or start it by spawn");
  }
}

namespace {

thread_local const std::recursive_mutex* refused_turn = nullptr;

}  // namespace

ModelHandle::Refused::Refused(const ModelHandle& model) { refused_turn = model.turn_.get(); }
ModelHandle::Refused::~Refused() { refused_turn = nullptr; }

void ModelHandle::check_turn() const {
  if (refused_turn == turn_.get()) {
    throw Error("a callback of a fleet's fit cannot use the fleet or its members, which train");
  }
}

void bind_models(nb::module_& m) {
  forks();  // counts from here on
  bind_devices(m);
  nb::class_<ModelHandle> model(m, "Model", nb::is_weak_referenceable(), nb::dynamic_attr(),
                                doc("Model"));
  bind_making(model);
  bind_facts(model);
  bind_weights(model);
  bind_predictions(model);
  shown(model, "__repr__", "model_text");
  shown(model, "_repr_html_", "model_html");
  bind_files(m);
}

}  // namespace linnet::python
