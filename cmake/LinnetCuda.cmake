# SPDX-License-Identifier: Apache-2.0
# CUDA code is built twice from the same sources: by nvcc into the plug-in liblinnet_cuda.so, where a
# toolkit is found, and by the C++ compiler against the simulated runtime of tests/cuda_sim, for
# tests on machines without a GPU.
set(LINNET_CUDA AUTO CACHE STRING
    "Build the CUDA plug-in: AUTO (where there is a device to compile for, nvcc and cuDNN), ON, OFF")
set_property(CACHE LINNET_CUDA PROPERTY STRINGS AUTO ON OFF)
set(LINNET_CUDA_CODE native CACHE STRING
    "What the plug-in runs on: native (the GPUs of this machine), all, or as nvcc's --generate-code takes it")

# linnet_cuda_code(variable): what LINNET_CUDA_CODE names, as nvcc's --generate-code takes it; empty on a
# machine without a GPU. One entry is one pass of nvcc's front end, which takes longer than the code of an
# architecture does: nothing asks for more than compute_80 offers on 8.6 and 8.9. Newer devices compile the
# last one's PTX.
function(linnet_cuda_code variable)
  set(code ${LINNET_CUDA_CODE})
  if(code STREQUAL "all")
    set(code "arch=compute_75,code=[sm_75]" "arch=compute_80,code=[sm_80,sm_86,sm_89]"
             "arch=compute_90,code=[sm_90,compute_90]")
  elseif(code STREQUAL "native")
    execute_process(COMMAND nvidia-smi --query-gpu=compute_cap --format=csv,noheader
                    OUTPUT_VARIABLE devices ERROR_QUIET RESULT_VARIABLE failed)
    string(REGEX MATCHALL "[0-9]+\\.[0-9]+" devices "${devices}")
    list(REMOVE_DUPLICATES devices)
    set(code "")
    foreach(device ${devices})
      string(REPLACE "." "" device ${device})
      list(APPEND code "arch=compute_${device},code=[sm_${device},compute_${device}]")
    endforeach()
  endif()
  set(${variable} ${code} PARENT_SCOPE)
endfunction()

set(LINNET_HAVE_CUDA OFF)
set(linnet_generate_code "")
if(LINNET_CUDA AND NOT LINNET_ONLY_OPS AND NOT LINNET_SANITIZE)
  linnet_cuda_code(linnet_generate_code)
  if(NOT linnet_generate_code)
    set(linnet_no_cuda "The CUDA plug-in is not built: there is no GPU here, and LINNET_CUDA_CODE names none")
  endif()
endif()
if(linnet_generate_code)
  if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
    find_program(linnet_nvcc nvcc HINTS /usr/local/cuda/bin)
    if(linnet_nvcc)
      set(CMAKE_CUDA_COMPILER ${linnet_nvcc})
    endif()
  endif()
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    set(CMAKE_CUDA_ARCHITECTURES OFF)  # LINNET_CUDA_CODE names them
    enable_language(CUDA)
    # CMake before 3.25.2 does not know nvcc's C++20.
    if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
      set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
      set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
      list(APPEND CMAKE_CUDA_COMPILE_FEATURES cuda_std_20)
      set(CMAKE_CUDA20_COMPILE_FEATURES cuda_std_20)
    endif()
    set(CMAKE_CUDA_STANDARD 20)
    set(CMAKE_CUDA_STANDARD_REQUIRED ON)
    find_package(CUDAToolkit REQUIRED)
    # NVIDIA gives no CMake packages for these: beside the toolkit, or in a Python's nvidia/* folders.
    set(linnet_cuda_hints ${CUDAToolkit_LIBRARY_ROOT} ${CUDAToolkit_INCLUDE_DIRS}
                          ${CUDAToolkit_LIBRARY_DIR} ${LINNET_CUDNN_ROOT})
    find_path(CUDNN_INCLUDE_DIR cudnn.h HINTS ${linnet_cuda_hints} PATH_SUFFIXES include)
    find_library(CUDNN_LIBRARY NAMES cudnn libcudnn.so.9 HINTS ${linnet_cuda_hints}
                 PATH_SUFFIXES lib lib64)
    find_path(CUDNN_FRONTEND_INCLUDE_DIR cudnn_frontend.h
              HINTS ${PROJECT_SOURCE_DIR}/.cache/cuda-python/include
                    ${PROJECT_SOURCE_DIR}/.cache/cuda-python)
    if(CUDNN_INCLUDE_DIR AND CUDNN_LIBRARY AND CUDNN_FRONTEND_INCLUDE_DIR)
      set(LINNET_HAVE_CUDA ON)
    endif()
  endif()
  if(NOT LINNET_HAVE_CUDA)
    string(CONCAT linnet_no_cuda "The CUDA plug-in is not built: nvcc, cuDNN or cudnn-frontend's headers "
                                 "(tools/setup_cuda.sh) are missing")
  endif()
endif()
if(linnet_no_cuda)
  if(LINNET_CUDA STREQUAL "ON")
    message(FATAL_ERROR "${linnet_no_cuda}")
  endif()
  message(STATUS "${linnet_no_cuda}")
endif()

# linnet_cuda_layer(name SOURCES ... [SIM ...] [VENDOR ...] DEPENDS layers...)
# .cu and .cpp files: linnet_<name>, a part of the plug-in, and linnet_<name>_simulated. SIM names what
# the simulation alone has, VENDOR what needs a vendor's library and is left out of the simulation.
function(linnet_cuda_layer name)
  cmake_parse_arguments(ARG "" "" "SOURCES;SIM;VENDOR;DEPENDS" ${ARGN})
  if(LINNET_BUILD_TESTS)
    linnet_joined(sources simulated cpp ${ARG_SOURCES})
    set(wrapped ${sources})
    list(FILTER sources INCLUDE REGEX "\\.cpp$")
    list(FILTER wrapped INCLUDE REGEX "\\.cu$")
    foreach(source ${wrapped})
      # CMake would hand the file to nvcc: a C++ file that includes it goes to the C++ compiler.
      cmake_path(ABSOLUTE_PATH source OUTPUT_VARIABLE absolute)
      set(wrapper ${CMAKE_CURRENT_BINARY_DIR}/simulated/${source}.cpp)
      file(CONFIGURE OUTPUT ${wrapper} CONTENT "#include \"${absolute}\"\n" @ONLY)
      list(APPEND sources ${wrapper})
    endforeach()
    list(APPEND sources ${ARG_SIM})
    add_library(linnet_${name}_simulated STATIC ${sources})
    target_compile_definitions(linnet_${name}_simulated PUBLIC LINNET_CUDA_SIM)
    target_include_directories(linnet_${name}_simulated BEFORE PUBLIC
      ${PROJECT_SOURCE_DIR}/tests/cuda_sim)
    target_include_directories(linnet_${name}_simulated PUBLIC ${PROJECT_SOURCE_DIR}/src
                                                               ${PROJECT_SOURCE_DIR}/tests
                                                               ${PROJECT_SOURCE_DIR}/include)
    foreach(layer ${ARG_DEPENDS})
      if(layer MATCHES "_cuda$")
        target_link_libraries(linnet_${name}_simulated PUBLIC linnet_${layer}_simulated)
      else()
        target_link_libraries(linnet_${name}_simulated PUBLIC linnet_${layer})
      endif()
    endforeach()
    target_link_libraries(linnet_${name}_simulated PUBLIC linnet_options)
    linnet_precompile(linnet_${name}_simulated REUSE linnet_base)
    target_compile_options(linnet_${name}_simulated PUBLIC -Wno-unknown-pragmas)  # "unroll" is nvcc's
  endif()
  if(LINNET_HAVE_CUDA)
    set(kernels ${ARG_SOURCES})
    list(FILTER kernels INCLUDE REGEX "\\.cu$")
    list(FILTER ARG_SOURCES EXCLUDE REGEX "\\.cu$")
    linnet_joined(kernels device cu ${kernels})
    add_library(linnet_${name} OBJECT ${kernels} ${ARG_SOURCES} ${ARG_VENDOR})
    target_include_directories(linnet_${name} PRIVATE
      ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include ${CUDAToolkit_INCLUDE_DIRS})
    target_include_directories(linnet_${name} SYSTEM PRIVATE ${CUDNN_INCLUDE_DIR}
                                                             ${CUDNN_FRONTEND_INCLUDE_DIR})
    list(TRANSFORM linnet_generate_code PREPEND "--generate-code=" OUTPUT_VARIABLE code)
    target_compile_options(linnet_${name} PRIVATE
      "$<$<COMPILE_LANGUAGE:CUDA>:${code}>"
      $<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr;--extended-lambda;-Xcompiler=-Wall,-Wextra>
      # What fmt 9 does for nvcc no longer compiles in C++20; as for other compilers it does.
      $<$<COMPILE_LANGUAGE:CUDA>:-DFMT_USE_CONSTEXPR=1;-DFMT_CONSTEVAL=>
      # A kernel that spills registers, on any architecture, is a warning, and an error in CI.
      $<$<COMPILE_LANGUAGE:CUDA>:-Xptxas=-warn-spills>
      $<$<AND:$<COMPILE_LANGUAGE:CUDA>,$<BOOL:${LINNET_WERROR}>>:--Werror=all-warnings>
      $<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wpedantic;-ffp-contract=off>)
    target_link_libraries(linnet_${name} PRIVATE fmt::fmt nlohmann_json::nlohmann_json)
    set_property(GLOBAL APPEND PROPERTY LINNET_CUDA_LAYERS linnet_${name})
  endif()
endfunction()

# linnet_gpu_test(name SOURCES ... LAYERS ...): a GoogleTest program that holds the
# plug-in's code itself, for machines with a GPU; on others it says so and exits with 77. ctest must not
# discover its cases: it would start the program where libraries of CUDA may be missing.
function(linnet_gpu_test name)
  if(NOT LINNET_HAVE_CUDA OR NOT LINNET_BUILD_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "SOURCES;LAYERS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES} ${PROJECT_SOURCE_DIR}/tests/gpu_main.cpp
    $<TARGET_OBJECTS:linnet_ops_cuda> $<TARGET_OBJECTS:linnet_backend_cuda>)
  list(TRANSFORM ARG_LAYERS PREPEND linnet_)
  target_include_directories(${name} SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
  target_link_libraries(${name} PRIVATE ${ARG_LAYERS} CUDA::cudart_static CUDA::cublasLt
                                        ${CUDNN_LIBRARY} ${CMAKE_DL_LIBS} GTest::gtest)
  linnet_compile_tests(${name})
  linnet_join(${name})
endfunction()
