# SPDX-License-Identifier: Apache-2.0
# Read by oneDNN's project() call (archives.py). Of the primitives that are off, oneDNN registers nothing but compiles
# everything; this leaves it out, where nothing else calls it. The x64 sources write machine code when a primitive is
# made: their size counts, not their speed.
function(linnet_trim)
  set(off "pool|batch_norm|bnorm|lrn|shuffle|softmax|resampling|prelu|layer_norm|group_norm|reduction")
  foreach(target dnnl_cpu dnnl_cpu_x64)
    get_target_property(sources ${target} SOURCES)
    set(kept ${sources})
    list(FILTER kept EXCLUDE REGEX "/(rnn|lrn|prelu|shuffle)/[a-z0-9_]*\\.cpp$|/[a-z0-9_]*(${off})[a-z0-9_]*\\.cpp$")
    if(ONEDNN_LIBRARY_TYPE STREQUAL "STATIC")
      list(FILTER kept EXCLUDE REGEX "_(deconv|deconvolution|inner_product|inner_product_int8)\\.cpp$")
    endif()
    list(FILTER sources INCLUDE REGEX "_list\\.cpp$|/injectors/")
    list(APPEND kept ${sources})
    list(REMOVE_DUPLICATES kept)
    set_property(TARGET ${target} PROPERTY SOURCES ${kept})
    target_compile_options(${target} PRIVATE -ffunction-sections)
  endforeach()
  target_compile_options(dnnl_cpu_x64 PRIVATE -Os)
  target_precompile_headers(dnnl_cpu PRIVATE [["cpu/cpu_primitive.hpp"]] [["cpu/cpu_engine.hpp"]])
  target_precompile_headers(dnnl_cpu_x64 PRIVATE [["cpu/cpu_primitive.hpp"]] [["cpu/x64/jit_generator.hpp"]]
                                                 [["cpu/x64/injectors/jit_uni_postops_injector.hpp"]])
endfunction()
cmake_language(DEFER CALL linnet_trim)
