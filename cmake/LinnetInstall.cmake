# SPDX-License-Identifier: Apache-2.0
# `cmake --install` in components: library (liblinnet.so.0.1), development (headers, find_package,
# pkg-config), command (with its man page and shell completions), cuda, mpi and gloo (plug-ins). Included after
# all targets.
if(NOT TARGET linnet)
  return()
endif()
include(CMakePackageConfigHelpers)
set(linnet_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/linnet)

install(TARGETS linnet EXPORT linnetTargets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library
                NAMELINK_COMPONENT development)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/linnet DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        COMPONENT development FILES_MATCHING PATTERN "*.h")
install(FILES ${PROJECT_BINARY_DIR}/include/linnet/layers.h
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/linnet COMPONENT development)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/licenses/linnet
        COMPONENT library)

install(EXPORT linnetTargets NAMESPACE linnet:: DESTINATION ${linnet_package_dir}
        COMPONENT development)
configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/cmake/linnetConfig.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/linnetConfig.cmake
  INSTALL_DESTINATION ${linnet_package_dir} NO_SET_AND_CHECK_MACRO)
# Before 1.0 a new minor version may change the interface.
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/linnetConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/linnetConfig.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/linnetConfigVersion.cmake
        DESTINATION ${linnet_package_dir} COMPONENT development)

# The way from the .pc file's folder to the prefix, so that an installed tree can be moved.
file(RELATIVE_PATH linnet_prefix_of_pc /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
# linnet-c is for C, whose compilers refuse C++'s flags.
foreach(linnet_pc_name linnet linnet-c)
  set(linnet_pc_flags "")
  if(linnet_pc_name STREQUAL "linnet")
    set(linnet_pc_flags " -std=c++20")
  endif()
  set(file ${CMAKE_CURRENT_BINARY_DIR}/${linnet_pc_name}.pc)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/linnet.pc.in ${file} @ONLY)
  install(FILES ${file} DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
endforeach()

# The words that start the command, quoted for a script of the installation.
set(linnet_started "${CMAKE_CROSSCOMPILING_EMULATOR};$<TARGET_FILE:linnet_command>")
list(TRANSFORM linnet_started REPLACE "(.+)" "\"\\1\"")
list(JOIN linnet_started " " linnet_started)

# linnet_install_completion(shell directory file): what `linnet completion <shell>` prints.
function(linnet_install_completion shell directory file)
  set(written ${CMAKE_CURRENT_BINARY_DIR}/completions/${file})
  install(CODE "
    execute_process(COMMAND ${linnet_started} completion ${shell}
                    OUTPUT_VARIABLE text RESULT_VARIABLE result ERROR_QUIET)
    if(result EQUAL 0)
      file(WRITE \"${written}\" \"\${text}\")
      file(INSTALL \"${written}\"
           DESTINATION \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}/${directory}\")
    endif()" COMPONENT command)
endfunction()

# linnet_install_man_page(): linnet(1), of the command's help. Without Python there is none.
function(linnet_install_man_page)
  find_package(Python3 COMPONENTS Interpreter QUIET)
  if(NOT Python3_FOUND)
    return()
  endif()
  set(written ${CMAKE_CURRENT_BINARY_DIR}/man/linnet.1)
  install(CODE "
    execute_process(COMMAND \"${Python3_EXECUTABLE}\" -B \"${PROJECT_SOURCE_DIR}/tools/manual_site/man_page.py\"
                            \"${written}\" ${linnet_started}
                    RESULT_VARIABLE result ERROR_QUIET)
    if(result EQUAL 0)
      file(INSTALL \"${written}\" DESTINATION \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_MANDIR}/man1\")
    endif()" COMPONENT command)
endfunction()

if(TARGET linnet_command)
  set_target_properties(linnet_command PROPERTIES
    INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}" INSTALL_RPATH_USE_LINK_PATH ON)
  install(TARGETS linnet_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT command)
  install(FILES ${PROJECT_SOURCE_DIR}/packaging/serve/linnet.service ${PROJECT_SOURCE_DIR}/packaging/serve/nginx.conf
          DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/linnet/examples COMPONENT command)
  linnet_install_man_page()
  linnet_install_completion(bash bash-completion/completions linnet)
  linnet_install_completion(zsh zsh/site-functions _linnet)
  linnet_install_completion(fish fish/vendor_completions.d linnet.fish)
endif()
