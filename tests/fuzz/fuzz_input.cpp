// SPDX-License-Identifier: Apache-2.0
#include "fuzz/fuzz_input.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstdio>
#include <stdexcept>
#include <string>
#include <system_error>

namespace linnet::fuzz {
namespace {

namespace fs = std::filesystem;

class TemporaryFolder {
 public:
  TemporaryFolder() : path_((fs::temp_directory_path() / "linnet-fuzz-XXXXXX").string()) {
    if (::mkdtemp(path_.data()) == nullptr) throw std::runtime_error("cannot make " + path_);
    folder_ = path_;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  const fs::path& path() const { return folder_; }

 private:
  std::string path_;
  fs::path folder_;
};

}  // namespace

const fs::path& folder() {
  static const TemporaryFolder temporary;
  return temporary.path();
}

// Streams cost more than most readers do, so the file is written by the system's calls.
fs::path put(std::string_view name, std::span<const std::uint8_t> bytes) {
  fs::path path = folder() / name;
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  bool written = descriptor >= 0;
  while (written && !bytes.empty()) {
    const ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
    written = count >= 0;
    if (written) bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  if (descriptor >= 0) ::close(descriptor);
  if (!written) throw std::runtime_error("cannot write " + path.string());
  return path;
}

fs::path put(std::string_view name, std::string_view text) {
  return put(name, std::span(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()));
}

void broken(std::string_view promise) {
  std::fprintf(stderr, "not kept: %.*s\n", static_cast<int>(promise.size()), promise.data());
  std::abort();
}

}  // namespace linnet::fuzz
