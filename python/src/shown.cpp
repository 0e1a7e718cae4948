// SPDX-License-Identifier: Apache-2.0
#include "shown.h"

#include <linnet/tensor.h>

#include "bind.h"

namespace linnet::python {

void bind_reprs(nb::module_& m) {
  const nb::object plain = nb::module_::import_("builtins").attr("object").attr("__repr__");
  for (const auto& [name, value] : nb::borrow<nb::dict>(m.attr("__dict__"))) {
    if (PyType_Check(value.ptr()) == 0 || !value.attr("__repr__").is(plain)) continue;
    auto type = nb::borrow<nb::class_<Tensor>>(value);  // shown() asks for no Tensor
    shown(type, "__repr__", "fields_text");
  }
}

}  // namespace linnet::python
