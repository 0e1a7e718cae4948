// SPDX-License-Identifier: Apache-2.0
#include <linnet/error.h>
#include <linnet/ranks.h>

#include <string>
#include <typeinfo>

#include "base/utf8.h"
#include "bind.h"
#include "docstrings.h"
#include "gil.h"

namespace linnet::python {
namespace {

/// The exceptions live as long as the process, as the module does.
struct Exceptions {
  PyObject* error;
  PyObject* data;
  PyObject* device;
  PyObject* memory;
  PyObject* rank;
  PyObject* internal;
};

PyObject* make(nb::module_& m, const char* name, nb::handle bases) {
  const std::string full = std::string("linnet.") + name;
  PyObject* made = PyErr_NewExceptionWithDoc(full.c_str(), doc(name), bases.ptr(), nullptr);
  if (made == nullptr) nb::raise_python_error();
  m.attr(name) = nb::handle(made);
  return made;
}

/// Names in it are somebody else's: of files and columns that need not be UTF-8, which Python
/// wants.
void raise(PyObject* type, const std::exception& e) {
  PyErr_SetString(type, escaped(e.what()).c_str());
}

void raise(PyObject* type, const OutOfMemory& e) {
  nb::object error = nb::handle(type)(escaped(e.what()).c_str());
  error.attr("wanted") = e.wanted;
  error.attr("free") = e.free;
  PyErr_SetObject(type, error.ptr());
}

void raise(PyObject* type, const RankError& e) {
  nb::object error = nb::handle(type)(escaped(e.what()).c_str());
  error.attr("rank") = e.rank;
  PyErr_SetObject(type, error.ptr());
}

void translate(const std::exception_ptr& thrown, void* payload) {
  const auto& types = *static_cast<const Exceptions*>(payload);
  try {
    std::rethrow_exception(thrown);
  } catch (const Interrupt& e) {
    e.error->restore();
  } catch (const OutOfMemory& e) {
    raise(types.memory, e);
  } catch (const RankError& e) {
    raise(types.rank, e);
  } catch (const DeviceError& e) {
    raise(types.device, e);
  } catch (const DataError& e) {
    raise(types.data, e);
  } catch (const Error& e) {
    raise(types.error, e);
  } catch (const InternalError& e) {
    raise(types.internal, e);
  } catch (const std::bad_cast&) {
    PyErr_SetString(PyExc_TypeError, "a value has a type that this call does not take");
  }
}

}  // namespace

void bind_errors(nb::module_& m) {
  static Exceptions types{};
  types.error = make(m, "Error", PyExc_Exception);
  const nb::handle error(types.error);
  types.data = make(m, "DataError", nb::make_tuple(error, nb::handle(PyExc_ValueError)));
  types.device = make(m, "DeviceError", nb::make_tuple(error, nb::handle(PyExc_RuntimeError)));
  types.memory = make(m, "OutOfMemory", nb::make_tuple(error, nb::handle(PyExc_MemoryError)));
  types.rank = make(m, "RankError", nb::make_tuple(error, nb::handle(PyExc_ConnectionError)));
  types.internal = make(m, "InternalError", PyExc_RuntimeError);
  nb::register_exception_translator(translate, &types);
}

}  // namespace linnet::python
