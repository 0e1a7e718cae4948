// SPDX-License-Identifier: Apache-2.0
// packaging/static's for Windows, whose wchar_t holds half of some characters and which has no
// locale_t.
#pragma once
#include <locale.h>
#include <stddef.h>
#include <wchar.h>

typedef void* locale_t;
#define wchar_t int
#include "../../static/iconv/locale_impl.h"
