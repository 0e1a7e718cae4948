# SPDX-License-Identifier: Apache-2.0
# Run at every build: writes IN as OUT with the commit of FOLDER, and whether files that it tracks have
# changed since; touches OUT only where it changed.
execute_process(COMMAND git -C ${FOLDER} rev-parse --short=12 HEAD
                OUTPUT_VARIABLE LINNET_COMMIT OUTPUT_STRIP_TRAILING_WHITESPACE
                ERROR_QUIET RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  set(LINNET_COMMIT unknown)
else()
  execute_process(COMMAND git -C ${FOLDER} diff --quiet HEAD ERROR_QUIET RESULT_VARIABLE changed)
  if(changed EQUAL 1)
    string(APPEND LINNET_COMMIT ", changed")
  endif()
endif()
configure_file(${IN} ${OUT} @ONLY)
