# SPDX-License-Identifier: Apache-2.0
# Run at every build: writes IN as OUT with the commit of FOLDER; touches OUT only where it changed.
execute_process(COMMAND git -C ${FOLDER} rev-parse --short=12 HEAD
                OUTPUT_VARIABLE LINNET_COMMIT OUTPUT_STRIP_TRAILING_WHITESPACE
                ERROR_QUIET RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  set(LINNET_COMMIT unknown)
endif()
configure_file(${IN} ${OUT} @ONLY)
