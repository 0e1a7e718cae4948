# SPDX-License-Identifier: Apache-2.0
# linnet_operators(): each folder of src/ops/ holds one operator (or a family), each of src/fusions/ one fusion. Its
# files say by their names what they are, and no list names them:
#   NAME.cpp beside NAME_cpu.cpp or NAME_cuda.cu   an operator with its kernels: NAME.cpp
#                      defines                    void linnet::register_NAME(OpRegistry&)
#   NAME_cpu.cpp       defines                    void linnet::cpu::register_NAME(Registry&)
#   NAME_cuda.cu       defines                    void linnet::cuda::register_NAME(Registry&); .cpp where it holds no
#                      code for a device; not there: no kernel on CUDA
#   *_cpu.cpp, *_hwy.cpp, *_cuda.cu, *_cuda.cpp   more of its kernels
#   onednn_*_cpu.cpp, without_onednn_*_cpu.cpp   with LINNET_ONEDNN, and without it
#   NAME_cublaslt.cpp, NAME_cudnn.cpp   engines of NVIDIA's libraries, candidates before the own kernels:
#                      void linnet::cuda::register_NAME_cudnn(Registry&). They take a node by a rule, so a device
#                      that is only described plans it
#   NAME_trial_cudnn.cpp   one that takes a node by a trial on a device, which only a build for GPUs has
#   NAME_function.cpp  what users call in networks (linnet/functions.h): part of the layer nn
#   NAME_onnx.cpp      reads and writes it: void linnet::onnx::register_NAME_onnx(Rules&), part of the layer onnx
#   NAME_c.cpp         writes it to C files:      void linnet::register_NAME_c(Writers&), part of the layer c_export
#   NAME_pass.cpp      a pass of a fusion:        void linnet::register_NAME_pass(Passes&)
#   *_test.cpp         cases of op_test; *_pass_test.cpp: of fusions_test; of cuda_backend_test *_simulated_test.cpp,
#                      and *_device_test.cpp, which run on a GPU, too; *_cudnn_test.cpp: of cudnn_ops_test;
#                      *_cublaslt_test.cpp: of cuda_products_test
#   any other .cpp     more of the operator: references, shapes
set(LINNET_ONLY_OPS "" CACHE STRING "While working on operators: build these alone")

function(linnet_operators)
  file(GLOB files CONFIGURE_DEPENDS LIST_DIRECTORIES false ${PROJECT_SOURCE_DIR}/src/ops/*/*.c*)
  file(GLOB fusions CONFIGURE_DEPENDS LIST_DIRECTORIES false ${PROJECT_SOURCE_DIR}/src/fusions/*/*.c*)
  foreach(file IN LISTS files fusions)
    cmake_path(GET file PARENT_PATH folder)
    cmake_path(GET folder FILENAME folder_name)
    cmake_path(GET file STEM LAST_ONLY stem)
    # The planner places the operands of collect.
    if(file MATCHES "\\.cuh$" OR (LINNET_ONLY_OPS AND NOT folder_name IN_LIST LINNET_ONLY_OPS AND
                                  NOT folder_name STREQUAL "collect"))
      continue()
    endif()
    if((stem MATCHES "^onednn_" AND NOT LINNET_ONEDNN) OR (stem MATCHES "^without_onednn_" AND LINNET_ONEDNN))
      continue()
    endif()
    cmake_path(RELATIVE_PATH file BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} OUTPUT_VARIABLE source)
    string(REGEX REPLACE "_(cpu|cuda)$" "" op ${stem})
    set(is_op FALSE)
    if(EXISTS ${folder}/${op}.cpp AND (EXISTS ${folder}/${op}_cpu.cpp OR EXISTS ${folder}/${op}_cuda.cu))
      set(is_op TRUE)
    endif()
    if(stem MATCHES "_(pass|device|simulated|cudnn|cublaslt)_test$")
      string(TOUPPER ${CMAKE_MATCH_1} kind)
      set_property(GLOBAL APPEND PROPERTY LINNET_OP_${kind}_TESTS ${file})
    elseif(stem MATCHES "_test$")
      set_property(GLOBAL APPEND PROPERTY LINNET_OP_TESTS ${source})
    elseif(stem MATCHES "_(pass|function|onnx|c)$")
      string(TOUPPER ${CMAKE_MATCH_1} kind)
      set_property(GLOBAL APPEND PROPERTY LINNET_OP_${kind}_SOURCES ${file})
      set_property(GLOBAL APPEND PROPERTY LINNET_OP_${kind}_NAMES ${stem})
    elseif(stem MATCHES "_(cpu|hwy)$")
      set_property(GLOBAL APPEND PROPERTY LINNET_OP_CPU_SOURCES ${source})
    elseif(stem MATCHES "_cuda$")
      set_property(GLOBAL APPEND PROPERTY LINNET_OP_CUDA_SOURCES ${source})
      if(is_op)
        set_property(GLOBAL APPEND PROPERTY LINNET_OP_CUDA_NAMES ${op})
      endif()
    elseif(stem MATCHES "_trial_cudnn$")
      set_property(GLOBAL APPEND PROPERTY LINNET_OP_VENDOR_SOURCES ${source})
      set_property(GLOBAL APPEND PROPERTY LINNET_OP_VENDORS ${stem})
    elseif(stem MATCHES "_(cublaslt|cudnn)$")  # simulated as well
      set_property(GLOBAL APPEND PROPERTY LINNET_OP_CUDA_SOURCES ${source})
      set_property(GLOBAL APPEND PROPERTY LINNET_OP_SIMULATED_VENDORS ${stem})
      set_property(GLOBAL APPEND PROPERTY LINNET_OP_VENDORS ${stem})
    else()
      set_property(GLOBAL APPEND PROPERTY LINNET_OP_SOURCES ${source})
      if(is_op)
        set_property(GLOBAL APPEND PROPERTY LINNET_OP_NAMES ${op})
      endif()
    endif()
  endforeach()
endfunction()

# Writes <binary dir>/<file> that calls every operator's registration.
function(linnet_generate_registration file namespace registry header entry property)
  get_property(ops GLOBAL PROPERTY ${property})
  set(declarations "")
  set(calls "")
  foreach(op ${ops})
    string(APPEND declarations "void register_${op}(${registry}& registry);\n")
    string(APPEND calls "  register_${op}(registry);\n")
  endforeach()
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${file} CONTENT
"// Generated by cmake/LinnetOps.cmake.
#include \"${header}\"

namespace ${namespace} {

${declarations}
void ${entry}(${registry}& registry [[maybe_unused]]) {
${calls}}

}  // namespace ${namespace}
" @ONLY)
endfunction()
