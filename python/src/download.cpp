// SPDX-License-Identifier: Apache-2.0
// The module's own definition of data/download.h, which the linker finds before the one in the data
// layer's archive: libcurl and the 25 libraries that it needs would be a fifth of the wheel.
#include "datasets/download.h"

#include <fmt/format.h>
#include <linnet/error.h>

#include "gil.h"

namespace linnet {

std::string download(const std::string& url, std::size_t limit) {
  const python::WithGil locked;
  try {
    const nb::object bytes =
        nb::module_::import_("linnet._download").attr("download")(url.c_str(), limit);
    const auto all = nb::cast<nb::bytes>(bytes);
    return {all.c_str(), all.size()};
  } catch (nb::python_error& e) {
    if (!e.matches(PyExc_Exception)) throw;
    throw DataError(fmt::format("cannot download '{}': {}", url, nb::str(e.value()).c_str()));
  }
}

}  // namespace linnet
