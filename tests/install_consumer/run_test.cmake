# SPDX-License-Identifier: Apache-2.0
# Installs LINNET_BINARY_DIR into WORK_DIR, moves that prefix, then configures, builds and runs the
# project in CONSUMER_DIR against it.
function(run what)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output
                  ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    message(NOTICE "${output}")
    message(FATAL_ERROR "${what} failed (${result}).")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${WORK_DIR})
file(MAKE_DIRECTORY ${WORK_DIR})
run("Installing" ${CMAKE_COMMAND} --install ${LINNET_BINARY_DIR} --prefix ${WORK_DIR}/first)
# An installed package must not know where it was installed.
file(RENAME ${WORK_DIR}/first ${WORK_DIR}/prefix)

if(MAN_PAGE AND NOT EXISTS ${WORK_DIR}/prefix/${MAN_PAGE})
  message(FATAL_ERROR "The man page was not installed: ${MAN_PAGE}")
endif()

# Of what users get, stripped. MOST_BYTES 0: any size.
if(MOST_BYTES AND STRIP)
  foreach(file ${PROGRAM} ${LIBRARY})
    run("Stripping ${file}" ${STRIP} -o ${WORK_DIR}/stripped ${WORK_DIR}/prefix/${file})
    file(SIZE ${WORK_DIR}/stripped bytes)
    message(STATUS "${file}: ${bytes} bytes stripped, at most ${MOST_BYTES}")
    if(bytes GREATER MOST_BYTES)
      message(FATAL_ERROR "${file} has ${bytes} bytes stripped, more than ${MOST_BYTES}: see what grew with "
                          "`nm --size-sort -S -C`, and docs/cpu.md, Start and size.")
    endif()
  endforeach()
endif()

set(flags "")
if(SANITIZE)
  set(flags -DCMAKE_CXX_FLAGS=-fsanitize=${SANITIZE})
endif()
run("Configuring the consumer" ${CMAKE_COMMAND} -S ${CONSUMER_DIR} -B ${WORK_DIR}/build
    -G ${GENERATOR} -DCMAKE_PREFIX_PATH=${WORK_DIR}/prefix -DCMAKE_CXX_COMPILER=${CXX}
    -DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER} -DCMAKE_BUILD_TYPE=Release ${flags})
run("Building the consumer" ${CMAKE_COMMAND} --build ${WORK_DIR}/build)
run("Running the consumer" ${CMAKE_COMMAND} -E chdir ${WORK_DIR} ${WORK_DIR}/build/consumer)
if(NOT output MATCHES "the same accuracy after loading")
  message(NOTICE "${output}")
  message(FATAL_ERROR "The consumer did not come to its end.")
endif()

# pkg-config finds the moved prefix too.
find_program(pkg_config pkg-config)
if(pkg_config)
  set(ENV{PKG_CONFIG_PATH} ${WORK_DIR}/prefix/lib/pkgconfig)
  run("Asking pkg-config" ${pkg_config} --cflags --libs linnet)
  if(NOT output MATCHES "${WORK_DIR}/prefix")
    message(FATAL_ERROR "pkg-config names another prefix: ${output}")
  endif()
endif()

# A program in C, by find_package() in a project that knows no C++, and by pkg-config.
run("Configuring the program in C" ${CMAKE_COMMAND} -S ${C_CONSUMER_DIR} -B ${WORK_DIR}/c
    -G ${GENERATOR} -DCMAKE_PREFIX_PATH=${WORK_DIR}/prefix -DCMAKE_C_COMPILER=${CC} -DEXAMPLES_DIR=${EXAMPLES_DIR}
    -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS=-Werror)
run("Building the program in C" ${CMAKE_COMMAND} --build ${WORK_DIR}/c)
set(programs ${WORK_DIR}/c/train_and_predict)
if(pkg_config)
  run("Asking pkg-config" ${pkg_config} --cflags --libs linnet-c)
  string(STRIP "${output}" flags_of_c)
  separate_arguments(flags_of_c)
  run("Compiling C" ${CC} -std=c99 -Werror ${EXAMPLES_DIR}/c_interface/train_and_predict.c ${flags_of_c}
      -Wl,-rpath,${WORK_DIR}/prefix/lib -o ${WORK_DIR}/c_program)
  list(APPEND programs ${WORK_DIR}/c_program)
endif()
if(NOT SANITIZE)  # a sanitizer's library comes first in a program
  foreach(program ${programs})
    run("Running the program in C" ${CMAKE_COMMAND} -E chdir ${WORK_DIR} ${program})
    if(NOT output MATCHES "is outside")
      message(FATAL_ERROR "The program in C printed: ${output}")
    endif()
  endforeach()
endif()

# A project with an operator of its own; its CUDA kernel is compiled where nvcc is found.
run("Configuring the own operator" ${CMAKE_COMMAND} -S ${EXAMPLES_DIR}/own_operator
    -B ${WORK_DIR}/own -G ${GENERATOR} -DCMAKE_PREFIX_PATH=${WORK_DIR}/prefix
    -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER}
    -DCMAKE_BUILD_TYPE=Release ${flags})
run("Building the own operator" ${CMAKE_COMMAND} --build ${WORK_DIR}/own)
run("Running the own operator" ${CMAKE_COMMAND} -E chdir ${WORK_DIR} ${WORK_DIR}/own/own_operator)
if(NOT output MATCHES "loaded: the same")
  message(NOTICE "${output}")
  message(FATAL_ERROR "The own operator was not loaded as it was saved.")
endif()
