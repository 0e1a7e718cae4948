// SPDX-License-Identifier: Apache-2.0
#include "datasets.h"

#include <fmt/format.h>
#include <linnet/batch.h>
#include <linnet/datasets.h>
#include <linnet/network.h>
#include <linnet/oversample.h>
#include <linnet/save_dataset.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bind.h"
#include "docstrings.h"
#include "shapes.h"
#include "sources.h"
#include "tensors.h"

namespace linnet::python {

template <>
const Options<datasets::Places>& options<datasets::Places>() {
  using O = datasets::Places;
  static const Options<O> all{"datasets.Places",
                              {option<&O::folders>("folders"), option<&O::cache>("cache")}};
  return all;
}

namespace {

bool is_mapping(nb::handle value) {
  return PyMapping_Check(value.ptr()) != 0 && nb::hasattr(value, "items") &&
         !nb::hasattr(value, "__array__");
}

Column column_of(const std::string& name, nb::handle value) {
  Column column{.name = name};
  if (nb::isinstance<Source>(value)) {
    column.source = nb::cast<const Source&>(value).source;
  } else {
    column.data = tensor_of(value, fmt::format("column '{}'", name));
    if (column.data.shape().rank() == 0) {
      throw DataError(fmt::format(
          "column '{}': expected an array whose first axis counts the samples; got a number",
          name));
    }
  }
  return column;
}

std::vector<Column> columns_of(nb::handle value, const char* otherwise) {
  if (value.is_none()) return {};
  if (!is_mapping(value)) return {column_of(otherwise, value)};
  std::vector<Column> all;
  const nb::object items = nb::steal(PyMapping_Items(value.ptr()));
  if (!items.is_valid()) nb::raise_python_error();
  for (const nb::handle item : items) {
    all.push_back(
        column_of(Convert<std::string>::from(item[0], {"Dataset", "names of columns"}), item[1]));
  }
  return all;
}

void set_lengths(std::vector<Column>& columns, nb::handle lengths) {
  if (lengths.is_none()) return;
  if (!is_mapping(lengths)) {
    if (columns.size() != 1) {
      throw DataError("lengths of several inputs need their names: lengths={'text': ...}");
    }
    columns.front().lengths = tensor_of(lengths, "lengths");
    return;
  }
  const nb::object items = nb::steal(PyMapping_Items(lengths.ptr()));
  if (!items.is_valid()) nb::raise_python_error();
  for (const nb::handle item : items) {
    const auto name = Convert<std::string>::from(item[0], {"Dataset", "names of lengths"});
    const auto found = std::find_if(columns.begin(), columns.end(),
                                    [&](const Column& c) { return c.name == name; });
    if (found == columns.end()) {
      throw DataError(fmt::format("lengths of '{}': there is no such input", name));
    }
    found->lengths = tensor_of(item[1], fmt::format("lengths of '{}'", name));
  }
}

Dataset made(nb::handle inputs, nb::handle targets, nb::handle weights, nb::handle lengths,
             const std::vector<std::string>& classes, const std::string& name) {
  std::vector<Column> in = columns_of(inputs, "input");
  set_lengths(in, lengths);
  Dataset data(std::move(in), columns_of(targets, "target"), {.name = name, .classes = classes});
  if (!weights.is_none()) data.set_weights(tensor_of(weights, "weights"));
  return data;
}

nb::dict arrays_of(const std::vector<Column>& columns) {
  nb::dict all;
  for (const Column& column : columns) {
    all[column.name.c_str()] =
        column.source != nullptr ? nb::object(nb::none()) : nb::object(array_of(column.data));
  }
  return all;
}

std::vector<std::string> names_of_columns(const std::vector<Column>& columns) {
  std::vector<std::string> names;
  for (const Column& column : columns) names.push_back(column.name);
  return names;
}

std::string text_of(const Dataset& data) {
  std::string out = fmt::format("<Dataset '{}': {} samples", data.info().name, data.size());
  for (const auto* columns : {&data.inputs(), &data.targets()}) {
    for (const Column& column : *columns) {
      out += fmt::format(", {} {} {}", column.name, to_string(column.dtype()),
                         to_string(column.record()));
    }
  }
  return out + ">";
}

/// A record as an array of its own; one of a source is read.
nb::object record_of(const Column& column, std::int64_t row) {
  if (column.source == nullptr) {
    return nb::object(array_of(column.data))[nb::int_(row)].attr("copy")();
  }
  Tensor record(column.dtype(), column.record());
  without_gil([&] { column.source->read(row, record.writable_bytes()); });
  return array_of(record);
}

/// The records of a row: that of the only column, else a dict by name.
nb::object records_of(const std::vector<Column>& columns, std::int64_t row) {
  if (columns.size() == 1) return record_of(columns.front(), row);
  nb::dict all;
  for (const Column& column : columns) all[column.name.c_str()] = record_of(column, row);
  return all;
}

/// Numbers of rows: integers, so neither a mask nor 0.5.
Tensor rows_of(nb::handle rows) {
  const Tensor given = tensor_of(rows, "rows");
  const bool integers =
      given.dtype() == DType::i64 || given.dtype() == DType::i32 || given.dtype() == DType::u8;
  if (!integers && given.elements() > 0) {
    throw nb::type_error(fmt::format("expected rows to be integers; got {}; data[mask] takes the "
                                     "rows of a mask",
                                     to_string(given.dtype()))
                             .c_str());
  }
  return given.to(DType::i64);
}

/// data[3] is a sample, data[2:5], data[rows] and data[mask] are data sets, as NumPy chooses rows.
nb::object item(const Dataset& d, nb::handle index) {
  if (PyIndex_Check(index.ptr()) != 0 && !nb::hasattr(index, "__len__")) {
    const auto given = Convert<std::int64_t>::from(index, {"Dataset", "the row"});
    const std::int64_t row = given < 0 ? given + d.size() : given;
    if (row < 0 || row >= d.size()) {
      throw nb::index_error(
          fmt::format("row {} is outside of the data set's {} samples", given, d.size()).c_str());
    }
    nb::object inputs = records_of(d.inputs(), row);
    if (d.targets().empty()) return inputs;
    return nb::make_tuple(inputs, records_of(d.targets(), row));
  }
  if (PySlice_Check(index.ptr()) != 0) {
    const auto [begin, end, step, count] =
        nb::borrow<nb::slice>(index).compute(static_cast<std::size_t>(d.size()));
    if (step == 1) return nb::cast(d.rows(begin, begin + static_cast<std::int64_t>(count)));
  }
  const nb::object all = nb::module_::import_("numpy").attr("arange")(d.size());
  const Tensor rows = rows_of(all[index]);
  if (rows.shape().rank() != 1) throw nb::index_error("a data set has one axis of samples");
  return nb::cast(without_gil([&] { return d.take(rows.as<std::int64_t>()); }));
}

void bind_dataset(nb::module_& m) {
  nb::class_<Dataset>(m, "Dataset", nb::is_weak_referenceable(), doc("Dataset"))
      .def(
          "__init__",
          [](Dataset* self, const nb::object& inputs, const nb::object& targets,
             const nb::object& weights, const nb::object& lengths,
             const std::vector<std::string>& classes, const std::string& name) {
            new (self) Dataset(made(inputs, targets, weights, lengths, classes, name));
          },
          nb::arg("inputs"), nb::arg("targets") = nb::none(), nb::kw_only(),
          nb::arg("weights") = nb::none(), nb::arg("lengths") = nb::none(),
          nb::arg("classes") = std::vector<std::string>(), nb::arg("name") = "data",
          nb::sig("def __init__(self, inputs: ArrayLike | RecordSource | "
                  "Mapping[str, ArrayLike | RecordSource], targets: "
                  "ArrayLike | Mapping[str, ArrayLike] | "
                  "None = None, *, weights: ArrayLike | None = None, lengths: "
                  "ArrayLike | Mapping[str, ArrayLike] | "
                  "None = None, classes: Sequence[str] = (), name: str = 'data') -> "
                  "None"),
          "Makes a data set of arrays, which are not copied where the library has their type, and "
          "live as long as it.\n\nArguments:\n"
          "  inputs: an array (N, ...), or a mapping of names to arrays\n"
          "  targets: labels or values of each sample, in the same way\n"
          "  weights: weights of the samples, (N)\n"
          "  lengths: numbers of steps that count, (N), of the input or by its name\n"
          "  classes: class names by label\n"
          "  name: name in messages")
      .def("__len__", &Dataset::size)
      .def("__copy__", [](const Dataset& d) { return d; })
      .def("__getitem__", &item, nb::arg("index"),
           nb::sig("def __getitem__(self, index: SupportsIndex | slice | "
                   "ArrayLike) -> Any"),
           "Returns the sample of a row, (inputs, targets), arrays or dicts of arrays by name, "
           "without targets the inputs alone; of a slice, rows or a mask a data set: rows() of "
           "neighbours, take() of others. Raises IndexError.")
      .def_prop_ro(
          "inputs", [](const Dataset& d) { return nb::borrow<Arrays>(arrays_of(d.inputs())); },
          doc("Dataset.inputs"))
      .def_prop_ro(
          "targets", [](const Dataset& d) { return nb::borrow<Arrays>(arrays_of(d.targets())); },
          doc("Dataset.targets"))
      .def_prop_ro(
          "input_names", [](const Dataset& d) { return names_of_columns(d.inputs()); },
          "Names of the inputs, in order.")
      .def_prop_ro(
          "target_names", [](const Dataset& d) { return names_of_columns(d.targets()); },
          "Names of the targets, in order.")
      .def(
          "column",
          [](const Dataset& d, const std::string& name) { return array_of(d.column(name).data); },
          nb::arg("name"), doc("Dataset.column"))
      .def_prop_rw(
          "weights",
          [](const Dataset& d) -> nb::object {
            if (d.weights().elements() == 0) return nb::none();
            return array_of(d.weights());
          },
          [](Dataset& d, const nb::object& weights) {
            d.set_weights(weights.is_none() ? Tensor() : tensor_of(weights, "weights"));
          },
          nb::for_getter(nb::sig("def weights(self) -> Array | None")),
          nb::for_setter(nb::arg("weights").none()),
          nb::for_setter(nb::sig("def weights(self, weights: ArrayLike | None, /) -> None")),
          doc("Dataset.set_weights"))
      .def_prop_rw(
          "folds",
          [](const Dataset& d) -> nb::object {
            if (d.folds().elements() == 0) return nb::none();
            return array_of(d.folds());
          },
          [](Dataset& d, const nb::object& folds) {
            d.set_folds(folds.is_none() ? Tensor() : tensor_of(folds, "folds"));
          },
          nb::for_getter(nb::sig("def folds(self) -> Array | None")),
          nb::for_setter(nb::arg("folds").none()),
          nb::for_setter(nb::sig("def folds(self, folds: ArrayLike | None, /) -> None")),
          doc("Dataset.set_folds"))
      .def_prop_rw("classes", &Dataset::classes, &Dataset::set_classes, doc("Dataset.classes"))
      .def_prop_ro(
          "vocabulary", [](const Dataset& d) { return d.info().vocabulary; },
          doc("DatasetInfo.vocabulary"))
      .def_prop_ro(
          "name", [](const Dataset& d) { return d.info().name; }, doc("DatasetInfo.name"))
      .def_prop_ro(
          "notes", [](const Dataset& d) { return d.info().notes; }, doc("DatasetInfo.notes"))
      .def("rows", &Dataset::rows, nb::arg("begin"), nb::arg("end"), doc("Dataset.rows"))
      .def(
          "take",
          [](const Dataset& d, const nb::object& rows) {
            const Tensor chosen = rows_of(rows);
            return without_gil([&] { return d.take(chosen.as<std::int64_t>()); });
          },
          nb::arg("rows"), nb::sig("def take(self, rows: ArrayLike) -> Dataset"),
          doc("Dataset.take"))
      .def(
          "split",
          [](const Dataset& d, double share, std::uint64_t seed, bool stratify) {
            return without_gil([&] { return d.split(share, {seed, stratify}); });
          },
          nb::arg("share"), nb::kw_only(), nb::arg("seed") = 0, nb::arg("stratify") = false,
          doc("Dataset.split"))
      .def("map", &map_column, nb::arg("column"), nb::arg("function"), nb::kw_only(),
           nb::arg("record"), nb::arg("dtype") = "f32", nb::arg("seed") = 0,
           nb::sig("def map(self, column: str, function: Callable[["
                   "Array, RecordPlace], ArrayLike], *, "
                   "record: int | Sequence[int], dtype: "
                   "DTypeLike = 'f32', seed: int = 0) -> Dataset"),
           doc("Dataset.map"))
      .def("__repr__", &text_of);

  m.def(
      "oversample",
      [](const DataLike& data, double share, std::uint64_t seed,
         std::optional<std::int32_t> ignore_index) {
        const Dataset samples = dataset_of(data);
        return without_gil([&] { return oversample(samples, {share, seed, ignore_index}); });
      },
      nb::arg("data"), nb::kw_only(), nb::arg("share") = 1.0, nb::arg("seed") = 0,
      nb::arg("ignore_index") = nb::none(), doc("oversample"));

  nb::class_<Splits>(m, "Splits", doc("Splits"))
      .def(nb::init<Dataset, Dataset, Dataset>(), nb::arg("train") = Dataset(),
           nb::arg("validation") = Dataset(), nb::arg("test") = Dataset(),
           nb::sig("def __init__(self, train: Dataset = ..., validation: Dataset = ..., test: "
                   "Dataset = ...) -> None"))
      .def_rw("train", &Splits::train, doc("Splits.train"))
      .def_rw("validation", &Splits::validation, doc("Splits.validation"))
      .def_rw("test", &Splits::test, doc("Splits.test"))
      .def(
          "__iter__",
          [](const Splits& s) { return nb::iter(nb::make_tuple(s.train, s.validation, s.test)); },
          nb::sig("def __iter__(self) -> Iterator[Dataset]"),
          "Goes through train, validation and test.")
      .def("__repr__", [](const Splits& s) {
        return fmt::format("Splits(train={}, validation={}, test={})", text_of(s.train),
                           text_of(s.validation), text_of(s.test));
      });
}

datasets::Places places_of(nb::dict& arguments, std::string_view owner) {
  return take<datasets::Places>(arguments, owner);
}

void bind_named(nb::module_& m) {
  nb::module_ all = m.def_submodule("datasets", keep(std::string(docstring("datasets"))));
  all.def("names", &datasets::names, doc("datasets.names"));
  const std::string named =
      options<datasets::Places>().parameters() + ", " + options<DatasetOptions>().parameters();
  all.def(
      "load",
      [](const std::string& name, const nb::kwargs& options_given) {
        nb::dict arguments = nb::borrow<nb::dict>(options_given);
        const datasets::Places places = places_of(arguments, "datasets.load");
        const auto how = linnet::python::take<DatasetOptions>(arguments, "datasets.load");
        refuse_others(arguments, "datasets.load", {});
        return without_gil([&] { return datasets::load(name, places, how); });
      },
      nb::sig(keep(fmt::format("def load(name: str, *, {}) -> Splits", named))),
      doc("datasets.load", options<datasets::Places>().arguments() +
                               options<DatasetOptions>().arguments().substr(11)));
  all.def(
      "fashion_mnist",
      [](const std::filesystem::path& cache) {
        return without_gil([&] { return datasets::fashion_mnist(cache); });
      },
      nb::arg("cache") = std::filesystem::path("data"),
      nb::sig("def fashion_mnist(cache: PathLike = 'data') -> "
              "Splits"),
      doc("datasets.fashion_mnist"));
  all.def(
      "digits",
      [](std::int64_t train, std::int64_t test, std::uint64_t seed) {
        return without_gil([&] { return datasets::digits(train, test, seed); });
      },
      nb::arg("train"), nb::arg("test"), nb::arg("seed") = 0, doc("datasets.digits"));
  all.def(
      "rosenbrock",
      [](std::int64_t train, std::int64_t test, std::int64_t features, std::uint64_t seed) {
        return without_gil([&] { return datasets::rosenbrock(train, test, features, seed); });
      },
      nb::arg("train"), nb::arg("test"), nb::arg("features"), nb::arg("seed") = 0,
      doc("datasets.rosenbrock"));
  all.def(
      "synthetic",
      [](const Network& network, std::int64_t samples, const nb::object& loss, std::uint64_t seed) {
        const Loss by = Convert<Loss>::from(loss, {"datasets.synthetic", "loss"});
        return without_gil([&] { return datasets::synthetic(network, by, samples, seed); });
      },
      nb::arg("network"), nb::arg("samples"), nb::arg("loss") = "automatic", nb::arg("seed") = 0,
      nb::sig(keep("def synthetic(network: Network, samples: int, loss: " + Convert<Loss>::type() +
                   " = 'automatic', seed: int = 0) -> Dataset")),
      doc("datasets.synthetic"));
  m.def(
      "load_dataset",
      [](const std::filesystem::path& path, const nb::kwargs& named) {
        DatasetOptions how{};
        options<DatasetOptions>().read(how, nb::borrow<nb::dict>(named), "load_dataset");
        return without_gil([&] { return load_dataset(path, how); });
      },
      nb::sig(signature("load_dataset", "path: PathLike", options<DatasetOptions>().parameters(),
                        "Splits")),
      doc("load_dataset", options<DatasetOptions>().arguments()));
}

}  // namespace

Dataset dataset_of(nb::handle data) {
  if (nb::isinstance<Dataset>(data)) return nb::cast<Dataset>(data);
  if (nb::isinstance<Batch>(data)) return nb::cast<const Batch&>(data);
  if (nb::isinstance<Splits>(data)) {
    throw nb::type_error("expected a Dataset; got Splits: use its .train, .validation or .test");
  }
  if (nb::isinstance<nb::tuple>(data)) {
    const nb::tuple pair = nb::borrow<nb::tuple>(data);
    if (pair.size() != 2) {
      throw nb::type_error(
          fmt::format("expected (inputs, targets); got a tuple of {}", pair.size()).c_str());
    }
    return made(pair[0], pair[1], nb::none(), nb::none(), {}, "data");
  }
  if (data.is_none()) throw nb::type_error("expected data: a Dataset or arrays; got None");
  return made(data, nb::none(), nb::none(), nb::none(), {}, "data");
}

void bind_datasets(nb::module_& m) {
  bind_sources(m);
  bind_dataset(m);
  bind_named(m);
}

}  // namespace linnet::python
