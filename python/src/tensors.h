// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/state.h>
#include <linnet/tensor.h>

#include <string>
#include <string_view>

#include "gil.h"

// Arrays of Python as Tensors, and Tensors as arrays of NumPy, without a copy where the memory
// allows.
namespace linnet::python {

/// Anything that NumPy reads as an array: an object with the buffer protocol, DLPack, a list.
class ArrayLike : public nb::object {
  NB_OBJECT_DEFAULT(ArrayLike, nb::object, "ArrayLike", is_array)
  static bool is_array(PyObject* object) { return object != Py_None; }
};
class Array : public nb::object {
  NB_OBJECT_DEFAULT(Array, nb::object, "Array", is_array)
  static bool is_array(PyObject* object) { return object != nullptr; }
};
class Arrays : public nb::object {
  NB_OBJECT_DEFAULT(Arrays, nb::object, "dict[str, Array]", PyDict_Check)
};
class NamedArrays : public nb::object {
  NB_OBJECT_DEFAULT(NamedArrays, nb::object, "Mapping[str, ArrayLike]", PyMapping_Check)
};

/// An element type: a name of the library's or of NumPy's, or a type of NumPy's or PyTorch's.
class DTypeLike : public nb::object {
  NB_OBJECT_DEFAULT(DTypeLike, nb::object, "DTypeLike", is_dtype)
  static bool is_dtype(PyObject* object) { return object != Py_None; }
};
/// Returns the type. Throws Error for one that the library lacks.
DType dtype_of(const DTypeLike& given);

/// Returns the object's memory, which lives as long as the Tensor: a dense array with the buffer
/// protocol or DLPack is not copied. Other layouts and types are copied to a dense array that the
/// library knows. Throws TypeError for what is not an array of numbers; errors call it `what`.
Tensor tensor_of(nb::handle object, std::string_view what);

/// Returns the Tensor as an array of NumPy over the same memory (read-only where the Tensor is); a
/// copy of bf16, which NumPy lacks, as f32, and of a GPU's memory.
Array array_of(const Tensor& tensor);

State state_of(nb::handle mapping, std::string_view what);
Arrays dict_of(const State& state);

}  // namespace linnet::python
