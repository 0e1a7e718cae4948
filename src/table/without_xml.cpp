// SPDX-License-Identifier: Apache-2.0
// What builds for browsers and for Windows (cmake/LinnetCross.cmake) have instead of Expat: no
// spreadsheets.
#include "base/build_name.h"
#include "base/check.h"
#include "table/xml.h"

namespace linnet {

std::string_view attribute(std::span<const char* const>, std::string_view) { return {}; }

XmlReader::XmlReader(XmlHandlers) : state_(nullptr) {
  fail<DataError>("{} builds of Linnet read no spreadsheets (.xlsx); save the table as CSV",
                  kBuildName);
}

XmlReader::~XmlReader() = default;

void XmlReader::feed(std::string_view, bool) {}

}  // namespace linnet
