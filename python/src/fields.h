// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/tensor.h>
#include <nanobind/nanobind.h>

#include <string>
#include <vector>

#include "docstrings.h"
#include "tensors.h"

namespace nb = nanobind;

namespace linnet::python {

/// Binds fields of a struct as read-only attributes, with the header's docstrings:
///   Fields(m, "ClassReport")("name", &ClassReport::name)("curve", &ClassReport::curve);
/// Lists of numbers are arrays of NumPy.
template <class S>
class Fields {
 public:
  Fields(nb::module_& m, const char* name) : name_(name), class_(m, name, doc(name)) {}

  template <class T>
  Fields& operator()(const char* key, T S::*field) {
    class_.def_ro(key, field, doc(name_ + "." + key));
    return *this;
  }
  template <class T>
  requires std::is_arithmetic_v<T> Fields& operator()(const char* key, std::vector<T> S::*field) {
    class_.def_prop_ro(
        key, [field](const S& self) { return array_of(Tensor(self.*field)); },
        doc(name_ + "." + key));
    return *this;
  }
  nb::class_<S>& bound() { return class_; }

 private:
  std::string name_;
  nb::class_<S> class_;
};

}  // namespace linnet::python
