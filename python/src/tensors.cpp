// SPDX-License-Identifier: Apache-2.0
#include "tensors.h"

#include <dlpack/dlpack.h>
#include <fmt/format.h>
#include <linnet/error.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "bind.h"
#include "docstrings.h"

namespace linnet::python {
namespace {

nb::module_ numpy() { return nb::module_::import_("numpy"); }

/// Returns the type that a buffer's format names, if the library has it.
std::optional<DType> dtype_of(const Py_buffer& view) {
  const char* format = view.format == nullptr ? "B" : view.format;
  if (*format == '@' || *format == '=' || *format == '<' || *format == '|') ++format;
  if (*format == '\0' || format[1] != '\0') return {};
  switch (*format) {
    case 'f': return DType::f32;
    case 'd': return DType::f64;
    case 'e': return DType::f16;
    case 'B': return DType::u8;
    case '?': return DType::boolean;
    case 'i':
    case 'l':
    case 'q': return view.itemsize == 4 ? DType::i32 : DType::i64;
    default: return {};
  }
}

/// Returns a dense array of a type that the library has, by way of NumPy; a copy.
nb::object dense(nb::handle object, std::string_view what) {
  const nb::module_ np = numpy();
  nb::object array;
  try {
    array = np.attr("asarray")(object, nb::arg("order") = "C");
  } catch (nb::python_error& e) {
    if (!e.matches(PyExc_ValueError) && !e.matches(PyExc_TypeError)) throw;
    throw nb::type_error(fmt::format("expected {} to be an array of numbers; got {}, which NumPy "
                                     "does not read as one",
                                     what, nb::type_name(object.type()).c_str())
                             .c_str());
  }
  const std::string kind = nb::cast<std::string>(array.attr("dtype").attr("kind"));
  const auto name = nb::cast<std::string>(array.attr("dtype").attr("name"));  // of ml_dtypes too
  const auto size = nb::cast<int>(array.attr("dtype").attr("itemsize"));
  const char* to = kind == "f"                ? (size == 2   ? "f2"
                                                 : size == 4 ? "f4"
                                                             : "f8")
                   : kind == "b"              ? "?"
                   : kind == "u" && size == 1 ? "u1"
                   : kind == "u"              ? (size == 2 ? "i4" : "i8")
                   : kind == "i"              ? (size == 8 ? "i8" : "i4")
                   : name == "bfloat16"       ? "f4"
                                              : nullptr;
  if (to == nullptr) {
    const bool is_array = nb::hasattr(object, "astype");
    const bool gives_rows = nb::hasattr(object, "__next__") ||
                            (!is_array && nb::hasattr(object, "__getitem__")) ||
                            (!is_array && nb::hasattr(object, "__iter__"));
    const char* advice = gives_rows && kind == "O"
                             ? "; RecordSource(records, record=...) reads rows one by one, from an "
                               "object with __len__ and __getitem__"
                         : kind == "O" && is_array
                             ? "; astype('float32') makes an array of numbers of it"
                         : kind == "U" || kind == "S" || kind == "T"
                             ? "; names, labels = numpy.unique(array, return_inverse=True) numbers "
                               "the names of classes"
                             : "";
    const std::string got =
        kind == "O" && !is_array
            ? nb::type_name(object.type()).c_str()
            : fmt::format("one of dtype {}", nb::str(nb::object(array.attr("dtype"))).c_str());
    throw nb::type_error(
        fmt::format("expected {} to be an array of numbers; got {}{}", what, got, advice).c_str());
  }
  if (kind == "u" && size == 8 && nb::cast<std::size_t>(array.attr("size")) > 0 &&
      is_true(array.attr("max")().attr("__gt__")((1ULL << 63) - 1))) {
    throw nb::type_error(
        fmt::format("expected {} to hold numbers below 2^63; got larger ones", what).c_str());
  }
  const nb::object made = array.attr("astype")(to, nb::arg("copy") = false, nb::arg("order") = "C");
  return is_true(made.attr("flags").attr("aligned")) ? made : made.attr("copy")();
}

std::optional<Tensor> from_buffer(nb::handle object) {
  if (PyObject_CheckBuffer(object.ptr()) == 0) return {};
  Py_buffer view{};
  if (PyObject_GetBuffer(object.ptr(), &view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) != 0) {
    PyErr_Clear();
    return {};
  }
  const std::optional<DType> dtype = dtype_of(view);
  const bool aligned =
      view.itemsize > 0 && reinterpret_cast<std::uintptr_t>(view.buf) % view.itemsize == 0;
  if (!dtype || !aligned || view.ndim > static_cast<int>(Shape::kMostAxes)) {
    PyBuffer_Release(&view);
    return {};
  }
  const std::vector<std::int64_t> dims(view.shape, view.shape + view.ndim);
  const std::span bytes(static_cast<const std::byte*>(view.buf),
                        static_cast<std::size_t>(view.len));
  return Tensor::borrow(*dtype, Shape(dims), bytes, hold(view));
}

/// A tensor of another library. Its deleter may be a function of Python, which must not meet an
/// exception that is just being raised.
struct Taken {
  DLManagedTensor managed;
  DLManagedTensor* theirs;
};
void release(DLManagedTensor* self) {
  const std::unique_ptr<Taken> taken(static_cast<Taken*>(self->manager_ctx));
  if (taken->theirs->deleter == nullptr) return;
  if (!has_gil()) return taken->theirs->deleter(taken->theirs);
  const nb::error_scope kept;
  taken->theirs->deleter(taken->theirs);
}

/// Takes over what an object's __dlpack__() gives, if the library can hold it.
std::optional<Tensor> from_capsule(nb::handle object) {
  nb::object capsule;
  try {
    capsule = object.attr("__dlpack__")();
  } catch (nb::python_error& e) {
    if (!e.matches(PyExc_BufferError)) throw;
    return {};  // read-only memory, which the newer protocol alone can express; NumPy has it
  }
  if (PyCapsule_IsValid(capsule.ptr(), "dltensor") == 0) return {};
  auto* managed = static_cast<DLManagedTensor*>(PyCapsule_GetPointer(capsule.ptr(), "dltensor"));
  auto taken = std::make_unique<Taken>(Taken{*managed, managed});
  taken->managed.manager_ctx = taken.get();
  taken->managed.deleter = &release;
  try {
    Tensor tensor = from_dlpack(&taken->managed);
    taken.release();  // the tensor's
    PyCapsule_SetName(capsule.ptr(), "used_dltensor");
    return tensor;
  } catch (const Error&) {
    return {};  // the capsule still owns it; NumPy may make a dense array of it
  }
}

constexpr std::pair<std::string_view, DType> kNames[]{
    {"float32", DType::f32},   {"float64", DType::f64}, {"float16", DType::f16},
    {"bfloat16", DType::bf16}, {"uint8", DType::u8},    {"int32", DType::i32},
    {"int64", DType::i64}};

constexpr std::pair<DType, nb::dlpack::dtype> kTypes[]{
    {DType::f32, {2, 32, 1}},   {DType::f64, {2, 64, 1}}, {DType::f16, {2, 16, 1}},
    {DType::u8, {1, 8, 1}},     {DType::i32, {0, 32, 1}}, {DType::i64, {0, 64, 1}},
    {DType::boolean, {6, 8, 1}}};

nb::dlpack::dtype type_of(DType dtype) {
  for (const auto& [ours, theirs] : kTypes) {
    if (ours == dtype) return theirs;
  }
  throw InternalError(fmt::format("NumPy has no {}", to_string(dtype)));
}

template <class A>
Array exported(const Tensor& tensor, void* data) {
  std::vector<std::size_t> dims(tensor.shape().dims().begin(), tensor.shape().dims().end());
  auto owner = std::make_unique<Tensor>(tensor);
  const nb::capsule capsule(owner.release(),
                            [](void* p) noexcept { delete static_cast<Tensor*>(p); });
  const A array(data, dims.size(), dims.data(), capsule, nullptr, type_of(tensor.dtype()),
                nb::device::cpu::value, 0, 'C');
  return nb::borrow<Array>(nb::cast(array));
}

}  // namespace

DType dtype_of(const DTypeLike& given) {
  std::string name = nb::str(given).c_str();  // "f32", "torch.float32"
  if (!nb::isinstance<nb::str>(given)) {
    try {
      name = nb::cast<std::string>(numpy().attr("dtype")(given).attr("name"));
    } catch (nb::python_error&) {
      name = name.substr(name.rfind('.') + 1);
    }
  }
  for (const auto& [theirs, ours] : kNames) {
    if (name == theirs) return ours;
  }
  return dtype_from_string(name);
}

Tensor tensor_of(nb::handle object, std::string_view what) {
  release_dropped();
  if (nb::isinstance<Tensor>(object)) return nb::cast<Tensor>(object);
  if (std::optional<Tensor> tensor = from_buffer(object)) return *tensor;
  if (nb::hasattr(object, "__dlpack__")) {  // also JAX's bfloat16, which no buffer can express
    if (std::optional<Tensor> tensor = from_capsule(object)) return *tensor;
    if (nb::hasattr(object, "contiguous")) {
      const nb::object copy = object.attr("contiguous")();
      if (std::optional<Tensor> tensor = from_capsule(copy)) return *tensor;
    } else if (!nb::hasattr(object, "__array__")) {
      const nb::object array = numpy().attr("from_dlpack")(object);
      if (std::optional<Tensor> tensor = from_buffer(dense(array, what))) return *tensor;
    }
  }
  if (std::optional<Tensor> tensor = from_buffer(dense(object, what))) return *tensor;
  throw Error(fmt::format("expected {} to have at most {} axes", what, Shape::kMostAxes));
}

Array array_of(const Tensor& tensor) {
  if (tensor.dtype() == DType::bf16) return array_of(tensor.to(DType::f32));
  const Tensor host = tensor.to_host();
  void* data = const_cast<std::byte*>(host.bytes().data());
  static std::byte nothing[8];
  if (data == nullptr) data = nothing;
  if (host.read_only()) return exported<nb::ndarray<nb::numpy, nb::ro>>(host, data);
  return exported<nb::ndarray<nb::numpy>>(host, data);
}

State state_of(nb::handle mapping, std::string_view what) {
  std::vector<State::Entry> entries;
  const nb::object items = nb::steal(PyMapping_Items(mapping.ptr()));
  if (!items.is_valid()) nb::raise_python_error();
  for (const nb::handle item : items) {
    const nb::handle key = item[0];
    if (!nb::isinstance<nb::str>(key)) {
      throw nb::type_error(fmt::format("expected the names of {} to be str; got {}", what,
                                       nb::type_name(key.type()).c_str())
                               .c_str());
    }
    const auto name = nb::cast<std::string>(key);
    entries.push_back({name, tensor_of(item[1], fmt::format("{} '{}'", what, name))});
  }
  return State(std::move(entries));
}

Arrays dict_of(const State& state) {
  nb::dict all;
  for (const State::Entry& entry : state) all[entry.name.c_str()] = array_of(entry.value);
  return nb::borrow<Arrays>(all);
}

void bind_tensors(nb::module_& m) {
  nb::class_<Tensor>(m, "Tensor", doc("Tensor"))
      .def(
          "__init__",
          [](Tensor* self, const ArrayLike& array) {
            new (self) Tensor(tensor_of(array, "array"));
          },
          nb::arg("array"))
      .def_prop_ro(
          "dtype", [](const Tensor& t) { return std::string(to_string(t.dtype())); },
          doc("Tensor.dtype"))
      .def_prop_ro(
          "shape",
          [](const Tensor& t) {
            nb::list dims;
            for (const std::int64_t dim : t.shape().dims()) dims.append(dim);
            return nb::tuple(dims);
          },
          nb::sig("def shape(self) -> tuple[int, ...]"), doc("Tensor.shape"))
      .def_prop_ro(
          "device", [](const Tensor& t) { return to_string(t.device()); }, doc("Tensor.device"))
      .def_prop_ro("read_only", &Tensor::read_only, doc("Tensor.read_only"))
      .def_prop_ro(
          "nbytes", [](const Tensor& t) { return t.bytes().size(); }, "Bytes of its memory.")
      .def_prop_ro(
          "address",
          [](const Tensor& t) { return reinterpret_cast<std::uintptr_t>(t.bytes().data()); },
          "Address of its memory.")
      .def(
          "numpy", [](const Tensor& t) { return array_of(t); },
          "Returns an array of NumPy over the same memory; a copy of a GPU's memory and of bf16.")
      .def(
          "__array__",
          [](const Tensor& t, const nb::object& dtype, const nb::object& copy) {
            nb::object array = array_of(t);
            if (!dtype.is_none()) array = array.attr("astype")(dtype, nb::arg("copy") = false);
            if (!copy.is_none() && nb::cast<bool>(copy)) array = array.attr("copy")();
            return nb::borrow<Array>(array);
          },
          nb::arg("dtype") = nb::none(), nb::arg("copy") = nb::none())
      .def(
          "__dlpack__",
          [](const Tensor& t, const nb::kwargs& options) {
            const bool copies = options.contains("copy") && is_true(options["copy"]);
            if (t.read_only() && !copies) {
              throw nb::buffer_error(
                  "a read-only tensor, which DLPack cannot express; expected copy=True");
            }
            DLManagedTensor* managed =
                without_gil([&] { return to_dlpack(copies ? t.clone() : t); });
            // A capsule that nobody takes gives its tensor back to NumPy's rules: by its name.
            PyObject* capsule = PyCapsule_New(managed, "dltensor", [](PyObject* self) {
              if (PyCapsule_IsValid(self, "dltensor") == 0) return;
              from_dlpack(static_cast<DLManagedTensor*>(PyCapsule_GetPointer(self, "dltensor")));
            });
            if (capsule == nullptr) nb::raise_python_error();
            return nb::steal<nb::capsule>(capsule);
          },
          nb::sig("def __dlpack__(self, **kwargs: Any) -> types.CapsuleType"), doc("to_dlpack"))
      .def(
          "__dlpack_device__",
          [](const Tensor& t) {
            return nb::make_tuple(t.device().kind == Device::Kind::cpu ? 1 : 2, t.device().index);
          },
          nb::sig("def __dlpack_device__(self) -> tuple[int, int]"))
      .def("__repr__", [](const Tensor& t) {
        try {
          return without_gil([&] { return to_string(t); });
        } catch (const Error&) {  // memory of a GPU that another library has
          return fmt::format("<Tensor {} {} on {}>", to_string(t.dtype()), to_string(t.shape()),
                             to_string(t.device()));
        }
      });
}

}  // namespace linnet::python
