// SPDX-License-Identifier: Apache-2.0
#include "sources.h"

#include <fmt/format.h>

#include <algorithm>

#include "docstrings.h"
#include "gil.h"
#include "tensors.h"

namespace linnet::python {
namespace {

/// Copies an array over a record. Throws DataError for another shape.
void write_record(nb::handle made, DType dtype, const Shape& shape, std::span<std::byte> to) {
  const Tensor record = tensor_of(made, "the record").to(dtype);
  if (record.shape() != shape) {
    throw DataError(
        fmt::format("expected a record {}; got {}", to_string(shape), to_string(record.shape())));
  }
  std::copy_n(record.bytes().data(), record.bytes().size(), to.data());
}

/// Calls a function of Python, whose exception becomes the sentence of a DataError.
template <class F>
void guarded(const F& call) {
  const WithGil locked;
  try {
    call();
  } catch (nb::python_error& e) {
    if (!e.matches(PyExc_Exception)) {  // KeyboardInterrupt, SystemExit
      throw Interrupt{std::make_shared<nb::python_error>(std::move(e))};
    }
    throw DataError(
        fmt::format("{}: {}", nb::type_name(e.type()).c_str(), nb::str(e.value()).c_str()));
  }
}

/// Records that an object with __len__ and __getitem__ returns.
class PythonRecords : public RecordSource {
 public:
  PythonRecords(const nb::object& records, DType dtype, Shape record)
      : records_(hold(records)),
        size_(static_cast<std::int64_t>(nb::len(records))),
        dtype_(dtype),
        record_(record) {}

  std::int64_t size() const override { return size_; }
  DType dtype() const override { return dtype_; }
  Shape record() const override { return record_; }
  void read(std::int64_t index, std::span<std::byte> to) const override {
    guarded([&] {
      const nb::object made = nb::handle(records_.get())[nb::int_(index)];
      write_record(made, dtype_, record_, to);
    });
  }

 private:
  std::shared_ptr<PyObject> records_;
  std::int64_t size_;
  DType dtype_;
  Shape record_;
};

}  // namespace

Dataset map_column(const Dataset& data, const std::string& column, const nb::callable& function,
                   const ShapeArg& record, const DTypeLike& dtype, std::uint64_t seed) {
  const DType type = dtype_of(dtype);
  const Shape shape = shape_of(record);
  const auto held = hold(function);
  return data.map(column, {.record = shape, .dtype = type, .seed = seed},
                  [held, type, shape](const Tensor& from, Tensor& to, const RecordPlace& place) {
                    guarded([&] {
                      const nb::object made =
                          nb::handle(held.get())(array_of(from.clone()), nb::cast(place));
                      write_record(made, type, shape, to.writable_bytes());
                    });
                  });
}

void bind_sources(nb::module_& m) {
  nb::class_<RecordPlace>(m, "RecordPlace", doc("RecordPlace"))
      .def_ro("row", &RecordPlace::row, doc("RecordPlace.row"))
      .def_ro("epoch", &RecordPlace::epoch, doc("RecordPlace.epoch"))
      .def_ro("key", &RecordPlace::key, doc("RecordPlace.key"));
  nb::class_<Source>(m, "RecordSource", doc("RecordSource"))
      .def(
          "__init__",
          [](Source* self, const nb::object& records, const ShapeArg& record,
             const DTypeLike& dtype) {
            if (!nb::hasattr(records, "__len__") || !nb::hasattr(records, "__getitem__")) {
              throw nb::type_error(
                  fmt::format("[RecordSource] expected records with __len__ and __getitem__, since "
                              "each epoch reads them again in another order; got {}",
                              nb::type_name(records.type()).c_str())
                      .c_str());
            }
            new (self)
                Source{std::make_shared<PythonRecords>(records, dtype_of(dtype), shape_of(record))};
          },
          nb::arg("records"), nb::kw_only(), nb::arg("record"), nb::arg("dtype") = "f32",
          nb::sig("def __init__(self, records: Any, *, record: int | "
                  "Sequence[int], dtype: DTypeLike = "
                  "'f32') -> None"),
          "Makes a source of an object with __len__ and __getitem__, whose items are arrays of the "
          "shape `record`.");
}

}  // namespace linnet::python
