# SPDX-License-Identifier: Apache-2.0
# The CUDA plug-ins: liblinnet_cuda.so, where a toolkit is found, and its double of the simulated
# runtime, for tests of the command. liblinnet.so opens them when asked to. It shows the public API
# alone, so each has the lower layers once more; both are of one version, which cuda_plugin() checks.
if(LINNET_ONLY_OPS)
  return()
endif()

function(linnet_cuda_plugin name)
  target_sources(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src/backend/cuda/plugin.cpp)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(${name} PRIVATE linnet_ops linnet_plan linnet_runtime linnet_graph linnet_core
                                        linnet_base fmt::fmt)
  target_link_options(${name} PRIVATE "LINKER:--no-undefined" "LINKER:--exclude-libs,ALL")
endfunction()

if(LINNET_HAVE_CUDA)
  get_property(layers GLOBAL PROPERTY LINNET_CUDA_LAYERS)
  list(TRANSFORM layers REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>" OUTPUT_VARIABLE objects)
  add_library(linnet_cuda_plugin MODULE ${objects})
  linnet_cuda_plugin(linnet_cuda_plugin)
  set_target_properties(linnet_cuda_plugin PROPERTIES
    OUTPUT_NAME linnet_cuda INSTALL_RPATH "$ORIGIN" INSTALL_RPATH_USE_LINK_PATH ON)
  target_include_directories(linnet_cuda_plugin PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
  target_link_libraries(linnet_cuda_plugin PRIVATE CUDA::cudart_static CUDA::cublasLt
                                                   ${CUDNN_LIBRARY} ${CMAKE_DL_LIBS})
  install(TARGETS linnet_cuda_plugin LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT cuda)
  # What no device can launch is seen in the compiled kernels.
  find_package(Python3 COMPONENTS Interpreter)
  if(LINNET_BUILD_TESTS AND Python3_FOUND)
    add_test(NAME cuda_kernel_resources
      COMMAND ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/tools/kernel_resources.py
              $<TARGET_FILE:linnet_cuda_plugin>)
  endif()
endif()

if(LINNET_BUILD_TESTS)
  add_library(linnet_cuda_simulated_plugin MODULE)
  linnet_cuda_plugin(linnet_cuda_simulated_plugin)
  set_target_properties(linnet_cuda_simulated_plugin PROPERTIES
    OUTPUT_NAME linnet_cuda_simulated
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  target_link_libraries(linnet_cuda_simulated_plugin PRIVATE linnet_ops_cuda_simulated
                                                             linnet_backend_cuda_simulated)
endif()
