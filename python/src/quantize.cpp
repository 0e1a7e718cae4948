// SPDX-License-Identifier: Apache-2.0
#include <linnet/quantize.h>

#include "bind.h"
#include "datasets.h"
#include "docstrings.h"
#include "models.h"

namespace linnet::python {

void bind_quantize(nb::module_& m) {
  const QuantizeOptions standard;
  m.def(
      "quantize",
      [](ModelHandle& model, const DataLike& data, std::int64_t samples, std::int64_t batch) {
        const Dataset set = dataset_of(data);
        return ModelHandle(model.use(
            [&](Model& of) { return quantize(of, set, {.samples = samples, .batch = batch}); }));
      },
      nb::arg("model"), nb::arg("data"), nb::kw_only(), nb::arg("samples") = standard.samples,
      nb::arg("batch") = standard.batch, doc("quantize"));
  m.def(
      "quantized_layers", [](const ModelHandle& model) { return quantized_layers(model.model()); },
      nb::arg("model"), doc("quantized_layers"));
}

}  // namespace linnet::python
