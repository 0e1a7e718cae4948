// SPDX-License-Identifier: Apache-2.0
#pragma once

// LINNET_API_BEGIN and LINNET_API_END enclose what programs link: liblinnet.so exports nothing
// else. Every public header puts its namespace between them. A class that a header only names, and
// that belongs to the library's inside, is declared before them.
#if defined(__GNUC__) || defined(__clang__)
#define LINNET_API_BEGIN _Pragma("GCC visibility push(default)")
#define LINNET_API_END _Pragma("GCC visibility pop")
#else
#define LINNET_API_BEGIN
#define LINNET_API_END
#endif
