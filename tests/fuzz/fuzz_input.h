// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/error.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

/// What a fuzz target is: libFuzzer calls it by this name with inputs of its own making. In
/// fuzz_corpus_test each has a name of its own (CMakeLists.txt).
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace linnet::fuzz {

/// The process's own temporary folder, for readers that take a path; removed when the process ends.
const std::filesystem::path& folder();

/// Writes a file of that folder and returns its path.
std::filesystem::path put(std::string_view name, std::span<const std::uint8_t> bytes);
std::filesystem::path put(std::string_view name, std::string_view text);

/// Returns whether `read` takes its input. Error is the right answer to a bad one; whatever else it
/// throws ends the process, which is a finding.
template <class Read>
bool accepts(Read&& read) {
  try {
    read();
    return true;
  } catch (const Error&) {
    return false;
  }
}

/// Ends the process with a sentence: a reader broke a promise of its header.
[[noreturn]] void broken(std::string_view promise);

inline void expect(bool kept, std::string_view promise) {
  if (!kept) broken(promise);
}

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

}  // namespace linnet::fuzz
