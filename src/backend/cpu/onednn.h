// SPDX-License-Identifier: Apache-2.0
#pragma once

// oneDNN, which is opened when its first function is called: its library has 39 MB, and most plans
// of small networks need none of it. Files include this header instead of <dnnl.h> and <dnnl.hpp>,
// whose functions it redirects to a table (cmake/LinnetOneDnn.cmake).
#include "onednn_functions.h"
// The C++ interface calls the C one: after the redirection.
#include <dnnl.hpp>

#include "backend/cpu/onednn_library.h"
