# SPDX-License-Identifier: Apache-2.0
# Compiles for WebAssembly with the Emscripten on the PATH. Preset web.
execute_process(COMMAND em-config EMSCRIPTEN_ROOT OUTPUT_VARIABLE linnet_emscripten
                OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
include(${linnet_emscripten}/cmake/Modules/Platform/Emscripten.cmake)
