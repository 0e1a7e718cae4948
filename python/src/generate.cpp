// SPDX-License-Identifier: Apache-2.0
#include <linnet/generator.h>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <exception>
#include <optional>

#include "bind.h"
#include "docstrings.h"
#include "gil.h"
#include "models.h"

namespace linnet::python {

void bind_generate(nb::module_& m) {
  const GenerateOptions standard;
  m.def(
      "generate",
      [](ModelHandle& model, const std::string& prompt, std::int64_t length, double temperature,
         std::int64_t top_k, std::uint64_t seed, const std::optional<nb::callable>& on_text) {
        GenerateOptions how{.length = length,
                            .temperature = temperature,
                            .top_k = top_k,
                            .seed = seed};
        std::exception_ptr raised;
        if (on_text) {
          how.on_text = [&](std::string_view character) {
            const WithGil locked;
            try {
              const nb::object goes_on = (*on_text)(nb::str(character.data(), character.size()));
              return goes_on.is_none() || is_true(goes_on);
            } catch (...) {
              raised = std::current_exception();
              return false;
            }
          };
        }
        std::string text = model.use([&](Model& of) { return generate(of, prompt, how); });
        if (raised) std::rethrow_exception(raised);
        return text;
      },
      nb::arg("model"), nb::arg("prompt") = "", nb::kw_only(), nb::arg("length") = standard.length,
      nb::arg("temperature") = standard.temperature, nb::arg("top_k") = standard.top_k,
      nb::arg("seed") = standard.seed, nb::arg("on_text") = nb::none(),
      nb::sig("def generate(model: Model, prompt: str = \"\", *, length: int = 500, temperature: "
              "float = 0.8, top_k: int = 0, seed: int = 0, on_text: Callable[[str], bool | None] | "
              "None = None) -> str"),
      doc("generate"));
}

}  // namespace linnet::python
