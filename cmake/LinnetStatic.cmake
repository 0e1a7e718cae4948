# SPDX-License-Identifier: Apache-2.0
# LINNET_STATIC: `linnet` as one file that needs nothing of a system but Linux, of LINNET_ARCHIVES, this machine's
# archives and its C library (packaging/static). It can be moved in memory as other programs are. Included after apps/.
if(NOT LINNET_STATIC)
  return()
endif()
if(NOT LINNET_ARCHIVES OR NOT TARGET linnet_command)
  message(FATAL_ERROR "LINNET_STATIC links the command with archives; expected LINNET_ARCHIVES and LINNET_BUILD_APPS")
endif()
target_sources(linnet_command PRIVATE ${PROJECT_SOURCE_DIR}/packaging/static/start.c)
target_link_options(linnet_command PRIVATE -static-pie LINKER:--build-id=none)
