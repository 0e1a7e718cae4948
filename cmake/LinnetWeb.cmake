# SPDX-License-Identifier: Apache-2.0
# WebAssembly by Emscripten (preset web): the library and its C interface for node and browsers, on one thread. Their
# third-party parts come from packaging/web/libraries.py. What a browser cannot have is left out: threads, plug-ins,
# sockets, downloads, and the readers of images, .xz and .xlsx, which say so in a sentence. Included by
# LinnetDependencies.
foreach(name fmt hwy)
  set(${name}_DIR ${LINNET_WEB_LIBRARIES}/lib/cmake/${name})
  find_package(${name} REQUIRED)
endforeach()
add_library(nlohmann_json::nlohmann_json INTERFACE IMPORTED)
target_include_directories(nlohmann_json::nlohmann_json INTERFACE ${LINNET_WEB_LIBRARIES}/include)
foreach(name ZLIB::ZLIB=z utf8proc::utf8proc=utf8proc)
  string(REGEX MATCH "(.+)=(.+)" matched ${name})
  add_library(${CMAKE_MATCH_1} STATIC IMPORTED)
  set_target_properties(${CMAKE_MATCH_1} PROPERTIES
    IMPORTED_LOCATION ${LINNET_WEB_LIBRARIES}/lib/lib${CMAKE_MATCH_2}.a
    INTERFACE_INCLUDE_DIRECTORIES ${LINNET_WEB_LIBRARIES}/include)
endforeach()
foreach(name Threads::Threads LibLZMA::LibLZMA EXPAT::EXPAT Iconv::Iconv PNG::PNG JPEG::JPEG TIFF::TIFF WebP::webp
             OpenSSL::Crypto CURL::libcurl)
  add_library(${name} INTERFACE IMPORTED)  # the system's own, or nothing
endforeach()
add_compile_options(-msimd128 -fwasm-exceptions)
add_link_options(-fwasm-exceptions)
