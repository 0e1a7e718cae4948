# SPDX-License-Identifier: Apache-2.0
# include/onednn_functions.h of the build folder, by which src/backend/cpu/onednn.h calls oneDNN: with
# LINNET_LOAD_ONEDNN a table of all functions that its header declares, whatever its version, which are
# looked up when the first is called; else nothing, and the library is linked. Included by src/backend.
set(linnet_onednn_links DNNL::dnnl)
set(text "// Written by cmake/LinnetOneDnn.cmake: oneDNN is linked.\n#pragma once\n")
set(soname "")
foreach(config RELWITHDEBINFO RELEASE NONE DEBUG NOCONFIG)
  get_target_property(found DNNL::dnnl IMPORTED_SONAME_${config})
  if(found AND NOT soname)
    set(soname ${found})
  endif()
endforeach()
if(LINNET_LOAD_ONEDNN AND soname)  # packages of other systems may not name it: then it is linked
  get_target_property(folders DNNL::dnnl INTERFACE_INCLUDE_DIRECTORIES)
  find_file(LINNET_ONEDNN_HEADER oneapi/dnnl/dnnl.h PATHS ${folders} NO_DEFAULT_PATH NO_CACHE REQUIRED)
  # Some are declared only where oneDNN was built with an experiment: the compiler says which.
  list(TRANSFORM folders PREPEND -I OUTPUT_VARIABLE flags)
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -E -x c++ ${flags} ${LINNET_ONEDNN_HEADER}
                  OUTPUT_VARIABLE declared COMMAND_ERROR_IS_FATAL ANY)
  cmake_path(GET LINNET_ONEDNN_HEADER PARENT_PATH folder)
  set(names "")
  set(lines "")
  foreach(header dnnl.h dnnl_common.h)
    if(EXISTS ${folder}/${header})  # since 3.5 the first includes the second
      file(STRINGS ${folder}/${header} found REGEX "DNNL_API")
      list(APPEND lines ${found})
    endif()
  endforeach()
  foreach(line ${lines})
    if(line MATCHES "DNNL_API[ *]+(dnnl_[a-z0-9_]+)\\(")
      set(name ${CMAKE_MATCH_1})
      string(FIND "${declared}" "${name}(" at)
      if(NOT at EQUAL -1)
        list(APPEND names ${name})
      endif()
    endif()
  endforeach()
  list(REMOVE_DUPLICATES names)
  set(members "")
  set(lookups "")
  set(redirections "")
  foreach(name ${names})
    string(APPEND members "  decltype(&::${name}) ${name};\n")
    string(APPEND lookups " \\\n  X(${name})")
    string(APPEND redirections "#define ${name} (::linnet::cpu::onednn().${name})\n")
  endforeach()
  set(text "// Written by cmake/LinnetOneDnn.cmake: oneDNN is opened when its first function is called.
#pragma once
#include <dnnl.h>
#define LINNET_ONEDNN_FILE \"${soname}\"
namespace linnet::cpu {
struct OneDnn {
${members}};
const OneDnn& onednn();
}  // namespace linnet::cpu
#ifdef LINNET_ONEDNN_NAMES
#define LINNET_EACH_ONEDNN(X)${lookups}
#else
${redirections}#endif
")
  set(linnet_onednn_links ${CMAKE_DL_LIBS})
  set_property(GLOBAL PROPERTY LINNET_ONEDNN_SONAME ${soname})
endif()
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/include/onednn_functions.h CONTENT "${text}" @ONLY)
