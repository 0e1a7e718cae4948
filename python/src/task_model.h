// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/model.h>
#include <nanobind/nanobind.h>

#include <string>

#include "docstrings.h"
#include "models.h"
#include "options.h"

namespace linnet::python {

/// Binds model(**options) of a task: a model of its network, which `equip` tells of the data.
template <class T, class Equip>
void bind_model(nb::class_<T>& bound, const std::string& name, Equip equip) {
  bound.def(
      "model",
      [name, equip](const T& task, const nb::kwargs& named) {
        ModelOptions on;
        options<ModelOptions>().read(on, nb::borrow<nb::dict>(named), name + ".model");
        return ModelHandle(without_gil([&] {
          Model model(task.network, on);
          equip(task, model);
          return model;
        }));
      },
      nb::sig(signature("model", "self", options<ModelOptions>().parameters(), "Model")),
      "Returns a model of the network that knows how the data become samples.");
}

}  // namespace linnet::python
