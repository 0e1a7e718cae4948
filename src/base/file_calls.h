// SPDX-License-Identifier: Apache-2.0
#pragma once

// Calls of the system on open files, by POSIX's rules: -1 and errno where one fails. No file stays
// open in a process that is started.
#ifdef _WIN32
#include "base/file_calls_windows.h"  // IWYU pragma: export
#else
#include "base/file_calls_posix.h"  // IWYU pragma: export
#endif
