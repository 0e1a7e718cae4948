// SPDX-License-Identifier: Apache-2.0
#include <linnet/whiten.h>
#include <nanobind/stl/string.h>

#include "bind.h"
#include "datasets.h"
#include "docstrings.h"
#include "models.h"

namespace linnet::python {

void bind_whiten(nb::module_& m) {
  const Whiten standard;
  m.def(
      "whiten",
      [](ModelHandle& model, const std::string& layer, const DataLike& data, std::int64_t samples,
         double epsilon) {
        const Dataset set = dataset_of(data);
        model.use([&](Model& of) {
          whiten(of, set, {.layer = layer, .samples = samples, .epsilon = epsilon});
        });
      },
      nb::arg("model"), nb::arg("layer"), nb::arg("data"), nb::kw_only(),
      nb::arg("samples") = standard.samples, nb::arg("epsilon") = standard.epsilon, doc("whiten"));
}

}  // namespace linnet::python
