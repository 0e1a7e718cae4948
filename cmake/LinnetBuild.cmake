# SPDX-License-Identifier: Apache-2.0
# Compiler settings and the two functions by which every folder declares itself.
include(GNUInstallDirs)
include(LinnetJoin)
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
# LINNET_API_BEGIN (linnet/export.h) shows the public API, and nothing else is seen from outside.
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_CUDA_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

add_library(linnet_options INTERFACE)
target_compile_options(linnet_options INTERFACE -Wall -Wextra -Wpedantic)
# A sum must not be contracted or regrouped differently by two instruction sets on a whim.
target_compile_options(linnet_options INTERFACE -ffp-contract=off)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(linnet_options INTERFACE -Wno-restrict)  # false alarms on std::string
endif()
if(LINNET_WERROR)
  target_compile_options(linnet_options INTERFACE -Werror)
endif()
if(LINNET_SANITIZE)
  target_compile_options(linnet_options INTERFACE -fsanitize=${LINNET_SANITIZE}
                                                  -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(linnet_options INTERFACE -fsanitize=${LINNET_SANITIZE})
endif()

# ccache finds what another copy of the tree compiled, too: tests/docs/follow_page.py builds one.
if(LINNET_CCACHE)
  find_program(LINNET_CCACHE_PROGRAM ccache NO_CMAKE_SYSTEM_PATH)
endif()
set(linnet_ccache env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR})
if(LINNET_PRECOMPILE)
  list(APPEND linnet_ccache CCACHE_SLOPPINESS=pch_defines,time_macros)
endif()
foreach(language C CXX CUDA)
  if(LINNET_CCACHE_PROGRAM AND NOT CMAKE_${language}_COMPILER_LAUNCHER)
    set(CMAKE_${language}_COMPILER_LAUNCHER ${LINNET_CCACHE_PROGRAM})
  endif()
  if(CMAKE_${language}_COMPILER_LAUNCHER MATCHES "(^|/)ccache$")
    list(PREPEND CMAKE_${language}_COMPILER_LAUNCHER ${linnet_ccache})
  endif()
endforeach()

# linnet_precompile(target REUSE other | HEADERS ...): the target's files find these headers parsed, where
# LINNET_PRECOMPILE says so. Only the standard library's and others' headers: ours change. Files must
# include what they use all the same; presets lint and debug see it. REUSE wants equal flags.
set(LINNET_COMMON_HEADERS
  <algorithm> <array> <cmath> <cstdint> <filesystem> <functional> <limits> <map> <memory> <optional>
  <span> <string> <string_view> <utility> <vector> <fmt/format.h>)
function(linnet_precompile target)
  if(NOT LINNET_PRECOMPILE)
    return()
  endif()
  cmake_parse_arguments(ARG "" "REUSE" "HEADERS" ${ARGN})
  if(ARG_REUSE)
    target_precompile_headers(${target} REUSE_FROM ${ARG_REUSE})
  else()
    target_precompile_headers(${target} PRIVATE ${LINNET_COMMON_HEADERS} ${ARG_HEADERS})
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE -fpch-preprocess)  # for ccache
  endif()
endfunction()

# What decides before a run, and is most of the code: its size counts, not its speed. (Where little is
# inlined GCC 12 takes elements of spans for uninitialized ones.)
# -Oz saves 1 to 2 % more than -Os; GCC has it from 12 on.
set(LINNET_SMALL_CODE $<$<CONFIG:Release>:-Oz>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 12)
  set(LINNET_SMALL_CODE $<$<CONFIG:Release>:-Os>)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  list(APPEND LINNET_SMALL_CODE $<$<CONFIG:Release>:-Wno-maybe-uninitialized>)
endif()

# Leaves out of a program what nothing calls, and packs its relocations where the linker and the C library
# know how (glibc 2.36).
set(LINNET_SMALL_LINK $<$<CONFIG:Release>:LINKER:--gc-sections>)
if(NOT CMAKE_CROSSCOMPILING AND NOT LINNET_ARCHIVES)
  include(CheckCXXSourceRuns)
  set(CMAKE_REQUIRED_LINK_OPTIONS -pie LINKER:-z,pack-relative-relocs)
  set(CMAKE_REQUIRED_FLAGS -fPIE)
  check_cxx_source_runs("int x; int* p = &x; int main() { return *p; }" LINNET_PACKED_RELOCATIONS)
  unset(CMAKE_REQUIRED_LINK_OPTIONS)
  unset(CMAKE_REQUIRED_FLAGS)
  if(LINNET_PACKED_RELOCATIONS)
    list(APPEND LINNET_SMALL_LINK $<$<CONFIG:Release>:LINKER:-z,pack-relative-relocs>)
  endif()
endif()

# linnet_small_sources(files...): of a layer that is not SMALL, those that only choose and prepare, so that nothing of
# them runs for each element but of a loss, of its gradient or of an operator that few networks have.
function(linnet_small_sources)
  set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS "${LINNET_SMALL_CODE}"
                                                 SKIP_PRECOMPILE_HEADERS ON)
endfunction()

# linnet_layer(name [OWN_FLAGS | SMALL [APART]] SOURCES ... [FAST ...] [OWN_NAMES ...] DEPENDS layers...
#              LINK libraries...)
# One folder of src/ as a static library. DEPENDS names the layers below it: it can include their
# headers and no others' (tools/check_includes.py keeps it). OWN_FLAGS: it is compiled with other flags;
# SMALL: with LINNET_SMALL_CODE. FAST: sources of a SMALL layer that go through pixels, bytes or letters.
# OWN_NAMES: sources of a SMALL layer whose local names stand in others of it too (cmake/LinnetJoin.cmake).
# APART: none are joined, since a program takes only those whose operators it has (LINNET_ONLY_OPS).
function(linnet_layer name)
  cmake_parse_arguments(ARG "OWN_FLAGS;SMALL;APART" "" "SOURCES;FAST;OWN_NAMES;DEPENDS;LINK" ${ARGN})
  add_library(linnet_${name} STATIC ${ARG_SOURCES})
  if(ARG_OWN_NAMES)
    linnet_own_names(${ARG_OWN_NAMES})
  endif()
  if(ARG_FAST AND NOT LINNET_FUZZ)  # the last level counts; what was parsed for another does not fit
    set_source_files_properties(${ARG_FAST} PROPERTIES COMPILE_OPTIONS $<$<CONFIG:Release>:-O3>
                                                       SKIP_PRECOMPILE_HEADERS ON)
  endif()
  if(LINNET_FUZZ)  # With these checks too Clang takes minutes for a file of vector kernels.
    list(FILTER ARG_SOURCES INCLUDE REGEX "_hwy\\.cpp$")
    set_source_files_properties(${ARG_SOURCES} PROPERTIES COMPILE_OPTIONS -fno-sanitize=undefined)
  endif()
  target_include_directories(linnet_${name} PUBLIC ${PROJECT_SOURCE_DIR}/src
                                                   ${PROJECT_SOURCE_DIR}/include)
  list(TRANSFORM ARG_DEPENDS PREPEND linnet_)
  target_link_libraries(linnet_${name} PUBLIC ${ARG_DEPENDS} ${ARG_LINK} linnet_options)
  set_property(GLOBAL APPEND PROPERTY LINNET_LAYERS linnet_${name})
  if(ARG_SMALL)
    target_compile_options(linnet_${name} PRIVATE ${LINNET_SMALL_CODE})
    if(NOT ARG_APART)
      linnet_join(linnet_${name})
    endif()
    get_property(first GLOBAL PROPERTY LINNET_FIRST_SMALL_LAYER)
    if(first)
      linnet_precompile(linnet_${name} REUSE ${first})
    else()
      linnet_precompile(linnet_${name})
      set_property(GLOBAL PROPERTY LINNET_FIRST_SMALL_LAYER linnet_${name})
    endif()
  elseif(name STREQUAL "base" OR ARG_OWN_FLAGS)
    linnet_precompile(linnet_${name})
  else()
    linnet_precompile(linnet_${name} REUSE linnet_base)
  endif()
endfunction()

# linnet_slow_tests(names...): of add_test() in the same folder; see SLOW below.
function(linnet_slow_tests)
  set_property(TEST ${ARGN} APPEND PROPERTY LABELS slow)
endfunction()

# For sources that nobody waits for when they run, and everybody when they are compiled: the tests' own
# (what they test is compiled as users get it).
set(LINNET_SMALL_EFFORT $<$<CONFIG:Release>:-O1>)
function(linnet_compile_tests target)
  target_link_libraries(${target} PRIVATE linnet_options)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_compile_options(${target} PRIVATE ${LINNET_SMALL_EFFORT})
  linnet_precompile(${target} REUSE linnet_test_headers)
endfunction()
if(LINNET_BUILD_TESTS AND LINNET_PRECOMPILE)
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/test_headers.cpp CONTENT "// For its headers alone.\n")
  add_library(linnet_test_headers OBJECT ${CMAKE_BINARY_DIR}/test_headers.cpp)
  set_target_properties(linnet_test_headers PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(linnet_test_headers PRIVATE -fPIE ${LINNET_SMALL_EFFORT})  # as tests are
  target_link_libraries(linnet_test_headers PRIVATE GTest::gtest fmt::fmt linnet_options)
  linnet_precompile(linnet_test_headers HEADERS <gtest/gtest.h>)
endif()

# linnet_test(name SOURCES ... LAYERS ... [LINK ...] [SLOW patterns...])
# One GoogleTest program; ctest sees every case of it. SLOW names cases, as --gtest_filter does, that take
# over half a second: they get the label `slow`, which `./dev test --quick` leaves out. APART: no source is joined.
function(linnet_test name)
  if(NOT LINNET_BUILD_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "APART" "" "SOURCES;LAYERS;LINK;SLOW" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  list(TRANSFORM ARG_LAYERS PREPEND linnet_)
  target_link_libraries(${name} PRIVATE ${ARG_LAYERS} ${ARG_LINK} GTest::gtest_main)
  linnet_compile_tests(${name})
  if(NOT ARG_APART)
    linnet_join(${name})
  endif()
  set(seconds 300)
  if(LINNET_SANITIZE MATCHES "thread")
    set(seconds 1800)  # some take minutes where processors are shared
  endif()
  if(NOT ARG_SLOW)
    gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT ${seconds})
    return()
  endif()
  list(JOIN ARG_SLOW ":" slow)
  gtest_discover_tests(${name} TEST_FILTER "-${slow}" DISCOVERY_TIMEOUT 60
                       PROPERTIES TIMEOUT ${seconds})
  gtest_discover_tests(${name} TEST_FILTER "${slow}" TEST_LIST ${name}_slow DISCOVERY_TIMEOUT 60
                       PROPERTIES TIMEOUT ${seconds} LABELS slow)
endfunction()
