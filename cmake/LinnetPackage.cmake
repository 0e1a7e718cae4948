# SPDX-License-Identifier: Apache-2.0
# `cpack`, which `./dev package` calls: a .deb a component. liblinnet0.1 (the library), liblinnet-dev
# (headers, CMake package, pkg-config), linnet (the command) and, where they were built, liblinnet-cuda0.1,
# liblinnet-mpi0.1 and liblinnet-gloo0.1.
if(NOT TARGET linnet OR NOT TARGET linnet_command)
  return()
endif()
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME linnet)
set(CPACK_PACKAGE_CONTACT "The Linnet developers <linnet@example.org>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY ${PROJECT_DESCRIPTION})
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_OUTPUT_FILE_PREFIX packages)

set(CPACK_COMPONENTS_ALL library development command)
foreach(component cuda mpi gloo)
  if(TARGET linnet_${component}_plugin)
    list(APPEND CPACK_COMPONENTS_ALL ${component})
  endif()
endforeach()
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/packaging/debian/finish.cmake)
set(CPACK_DEBIAN_PACKAGE_SECTION science)

set(linnet_library_package liblinnet${linnet_soversion})
set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME ${linnet_library_package})
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_COMPONENT_LIBRARY_DESCRIPTION "This package has the shared library.")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/packaging/debian/triggers)
# oneDNN is opened when a plan needs it: dpkg-shlibdeps does not see that.
get_property(linnet_onednn_soname GLOBAL PROPERTY LINNET_ONEDNN_SONAME)
if(linnet_onednn_soname MATCHES "\\.so\\.([0-9]+)$")
  set(CPACK_DEBIAN_LIBRARY_PACKAGE_DEPENDS libdnnl${CMAKE_MATCH_1})
  set(CPACK_DEBIAN_COMMAND_PACKAGE_DEPENDS libdnnl${CMAKE_MATCH_1})
endif()

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME liblinnet-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
    "${linnet_library_package} (= ${PROJECT_VERSION})")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION
    "This package has the headers, a CMake package and pkg-config files.")

set(CPACK_DEBIAN_COMMAND_PACKAGE_NAME linnet)
set(CPACK_DEBIAN_COMMAND_PACKAGE_RECOMMENDS dataset-fashion-mnist)
set(CPACK_COMPONENT_COMMAND_DESCRIPTION "This package has the command.")

# cuBLASLt and cuDNN come from NVIDIA's packages, whose names change with their versions.
set(CPACK_DEBIAN_CUDA_PACKAGE_NAME liblinnet-cuda${linnet_soversion})
set(CPACK_DEBIAN_CUDA_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_CUDA_PACKAGE_DEPENDS "${linnet_library_package} (= ${PROJECT_VERSION})")
set(CPACK_COMPONENT_CUDA_DESCRIPTION "This package has the plug-in for NVIDIA GPUs.")

set(CPACK_DEBIAN_MPI_PACKAGE_NAME liblinnet-mpi${linnet_soversion})
set(CPACK_COMPONENT_MPI_DESCRIPTION "This package has the plug-in for training by processes of MPI.")
set(CPACK_DEBIAN_GLOO_PACKAGE_NAME liblinnet-gloo${linnet_soversion})
set(CPACK_COMPONENT_GLOO_DESCRIPTION "This package has the plug-in for training by processes over TCP.")

include(CPack)
