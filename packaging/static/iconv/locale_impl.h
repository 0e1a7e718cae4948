// SPDX-License-Identifier: Apache-2.0
// musl's src/locale/iconv.c without the rest of musl: it includes this for the header of that name,
// switches the thread to UTF-8 and reads and writes it by the C library. Here it reads and writes
// UTF-8 by itself.
#pragma once
#include <locale.h>
#include <stddef.h>
#include <wchar.h>

static _Thread_local locale_t unused_locale;
#define CURRENT_LOCALE unused_locale
#define UTF8_LOCALE ((locale_t)0)

#define mbrtowc code_of_utf8
#define wctomb utf8_of_code

// Returns the bytes of the first character, (size_t)-2 where bytes are missing, (size_t)-1 where
// it is not UTF-8.
static size_t code_of_utf8(wchar_t* code, const char* text, size_t count, mbstate_t* state) {
  (void)state;
  const unsigned char* bytes = (const unsigned char*)text;
  const size_t size = bytes[0] < 0x80   ? 1
                      : bytes[0] < 0xC2 ? 0
                      : bytes[0] < 0xE0 ? 2
                      : bytes[0] < 0xF0 ? 3
                      : bytes[0] < 0xF5 ? 4
                                        : 0;
  if (size == 0) return (size_t)-1;
  unsigned found = size == 1 ? bytes[0] : bytes[0] & (0x7Fu >> size);
  for (size_t i = 1; i < size; ++i) {
    if (i == count) return (size_t)-2;
    if ((bytes[i] & 0xC0) != 0x80) return (size_t)-1;
    found = found << 6 | (bytes[i] & 0x3Fu);
  }
  const int is_surrogate = found >= 0xD800 && found < 0xE000;
  const int is_too_long = (size == 3 && found < 0x800) || (size == 4 && found < 0x10000);
  if (is_surrogate || is_too_long || found > 0x10FFFF) return (size_t)-1;
  *code = (wchar_t)found;
  return size;
}

// Returns the number of bytes that it wrote, at most 4, or -1 for what is not a character.
static int utf8_of_code(char* text, wchar_t character) {
  const unsigned code = (unsigned)character;
  if ((code >= 0xD800 && code < 0xE000) || code > 0x10FFFF) return -1;
  if (code < 0x80) {
    text[0] = (char)code;
    return 1;
  }
  const int size = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  for (int i = size - 1; i > 0; --i) {
    text[i] = (char)(0x80 | (code >> (6 * (size - 1 - i)) & 0x3F));
  }
  text[0] = (char)((0xF00 >> size & 0xFF) | code >> (6 * (size - 1)));
  return size;
}
