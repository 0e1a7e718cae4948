// SPDX-License-Identifier: Apache-2.0
#pragma once

// What stands between these two is what programs link: liblinnet.so shows nothing else. Every
// public header puts its namespace between them, and what it only names (a class of the library's
// inside) before them.
#if defined(__GNUC__) || defined(__clang__)
#define LINNET_API_BEGIN _Pragma("GCC visibility push(default)")
#define LINNET_API_END _Pragma("GCC visibility pop")
#else
#define LINNET_API_BEGIN
#define LINNET_API_END
#endif
