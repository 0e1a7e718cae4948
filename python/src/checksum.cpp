// SPDX-License-Identifier: Apache-2.0
// The module's own definition of formats/checksum.h, which the linker finds before the one in the
// formats layer's archive: a libcrypto for one checksum would be a fifteenth of the wheel.
#include "formats/checksum.h"

#include <nanobind/stl/string.h>

#include "gil.h"

namespace nb = nanobind;

namespace linnet {

std::string sha256(std::string_view bytes) {
  const python::WithGil locked;
  const nb::bytes all(bytes.data(), bytes.size());
  return nb::cast<std::string>(
      nb::module_::import_("hashlib").attr("sha256")(all).attr("hexdigest")());
}

}  // namespace linnet
