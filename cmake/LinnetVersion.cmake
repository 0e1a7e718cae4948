# SPDX-License-Identifier: Apache-2.0
# linnet_version, MAJOR.MINOR.PATCH, from include/linnet/version.h: the one place that says it.
set(linnet_version "")
foreach(part IN ITEMS MAJOR MINOR PATCH)
  file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/../include/linnet/version.h line
       REGEX "^#define LINNET_VERSION_${part} [0-9]+$")
  string(REGEX MATCH "[0-9]+$" number "${line}")
  list(APPEND linnet_version ${number})
endforeach()
list(JOIN linnet_version "." linnet_version)
