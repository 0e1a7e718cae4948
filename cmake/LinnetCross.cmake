# SPDX-License-Identifier: Apache-2.0
# Builds for WebAssembly (preset web: the library and its C interface for node and browsers, on one thread) and for
# Windows (preset windows). Their third-party parts come from packaging/web/libraries.py. Left out are downloads and the
# readers of images, .xz and .xlsx, which say so in a sentence; for browsers also threads, plug-ins and sockets, for
# Windows plug-ins, the server and ranks. Included by LinnetDependencies.
foreach(name fmt hwy)
  set(${name}_DIR ${LINNET_CROSS_LIBRARIES}/lib/cmake/${name})
  find_package(${name} REQUIRED)
endforeach()
foreach(name nlohmann_json::nlohmann_json CLI11::CLI11 tomlplusplus::tomlplusplus)
  add_library(${name} INTERFACE IMPORTED GLOBAL)
  target_include_directories(${name} INTERFACE ${LINNET_CROSS_LIBRARIES}/include)
endforeach()
foreach(name ZLIB::ZLIB=z utf8proc::utf8proc=utf8proc)
  string(REGEX MATCH "(.+)=(.+)" matched ${name})
  add_library(${CMAKE_MATCH_1} STATIC IMPORTED)
  set_target_properties(${CMAKE_MATCH_1} PROPERTIES
    IMPORTED_LOCATION ${LINNET_CROSS_LIBRARIES}/lib/lib${CMAKE_MATCH_2}.a
    INTERFACE_INCLUDE_DIRECTORIES ${LINNET_CROSS_LIBRARIES}/include)
endforeach()
foreach(name LibLZMA::LibLZMA EXPAT::EXPAT PNG::PNG JPEG::JPEG TIFF::TIFF WebP::webp OpenSSL::Crypto CURL::libcurl)
  add_library(${name} INTERFACE IMPORTED)  # the system's own, or nothing
endforeach()
if(EMSCRIPTEN)
  foreach(name Threads::Threads Iconv::Iconv)
    add_library(${name} INTERFACE IMPORTED)
  endforeach()
  add_compile_options(-msimd128 -fwasm-exceptions)
  add_link_options(-fwasm-exceptions)
else()
  find_package(Threads REQUIRED)
  add_library(Iconv::Iconv STATIC IMPORTED)
  set_target_properties(Iconv::Iconv PROPERTIES IMPORTED_LOCATION ${LINNET_CROSS_LIBRARIES}/lib/libiconv.a
                                                INTERFACE_INCLUDE_DIRECTORIES ${LINNET_CROSS_LIBRARIES}/include)
  if(LINNET_BUILD_TESTS)
    set(GTest_DIR ${LINNET_CROSS_LIBRARIES}/lib/cmake/GTest)
    find_package(GTest REQUIRED)
    include(GoogleTest)
  endif()
  add_compile_definitions(WIN32_LEAN_AND_MEAN NOMINMAX _USE_MATH_DEFINES _POSIX_THREAD_SAFE_FUNCTIONS
                          _WIN32_WINNT=0x0A00 UTF8PROC_STATIC)
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=binmode.o OUTPUT_VARIABLE linnet_binary_files
                  OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  # base/utf8_paths_windows.cpp; files are bytes, whatever opens them; stacks are as large as on Linux.
  add_link_options(-static LINKER:--wrap=mbrtowc,--undefined=__wrap_mbrtowc LINKER:--stack,8388608
                   ${linnet_binary_files})
  link_libraries(psapi)
endif()
