// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <io.h>
#include <windows.h>
// After windows.h.
#include <shellapi.h>

#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "base/console.h"

namespace linnet {
namespace {

std::string utf8_of(const wchar_t* text) {
  const int size = ::WideCharToMultiByte(CP_UTF8, 0, text, -1, nullptr, 0, nullptr, nullptr);
  if (size <= 1) return {};
  std::string utf8(static_cast<std::size_t>(size), '\0');
  ::WideCharToMultiByte(CP_UTF8, 0, text, -1, utf8.data(), size, nullptr, nullptr);
  utf8.pop_back();  // the zero
  return utf8;
}

/// Lets a console show colours, which other consoles would show as letters; false where it cannot.
bool show_colours(DWORD stream) {
  const HANDLE console = ::GetStdHandle(stream);
  DWORD mode = 0;
  if (::GetConsoleMode(console, &mode) == 0) return false;
  return ::SetConsoleMode(console, mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING) != 0;
}

}  // namespace

void prepare_streams() {
  for (std::FILE* stream : {stdin, stdout, stderr}) {
    if (const int file = ::_fileno(stream); file >= 0) ::_setmode(file, _O_BINARY);
  }
  ::SetConsoleOutputCP(CP_UTF8);
  ::SetConsoleCP(CP_UTF8);
  show_colours(STD_OUTPUT_HANDLE);
  show_colours(STD_ERROR_HANDLE);
}

char** utf8_arguments(int count, char** arguments) {
  static std::vector<std::string> texts;
  static std::vector<char*> pointers;
  int found = 0;
  wchar_t** const wide = ::CommandLineToArgvW(::GetCommandLineW(), &found);
  if (wide == nullptr || found != count) return arguments;
  for (int i = 0; i < found; ++i) texts.push_back(utf8_of(wide[i]));
  ::LocalFree(wide);
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers.data();
}

const char* environment(const char* name) {
  static std::map<std::string, std::string, std::less<>> found;
  const std::wstring wide(name, name + std::char_traits<char>::length(name));
  const wchar_t* value = ::_wgetenv(wide.c_str());
  if (value == nullptr) return nullptr;
  return (found[name] = utf8_of(value)).c_str();
}

bool error_is_terminal() {
  return ::_isatty(_fileno(stderr)) != 0 && show_colours(STD_ERROR_HANDLE);
}

int terminal_columns() {
  CONSOLE_SCREEN_BUFFER_INFO info{};
  if (::GetConsoleScreenBufferInfo(::GetStdHandle(STD_ERROR_HANDLE), &info) == 0) return 0;
  return info.srWindow.Right - info.srWindow.Left + 1;
}

bool terminal_shows_utf8() { return true; }  // prepare_streams() says so

}  // namespace linnet
