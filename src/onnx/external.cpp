// SPDX-License-Identifier: Apache-2.0
#include "onnx/external.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <iterator>
#include <memory>
#include <string>
#include <utility>

#include "base/check.h"
#include "base/memory.h"

namespace linnet::onnx {
namespace {

/// A file descriptor that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  int number() const { return number_; }

 private:
  int number_;
};

/// Opens a file below a folder, component by component: no link is followed, so nothing that
/// happens meanwhile leads out of the folder.
Descriptor open_below(const std::filesystem::path& folder, const std::filesystem::path& location,
                      std::string_view name) {
  const std::filesystem::path start = folder.empty() ? "." : folder;
  Descriptor at(::open(start.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  require<DataError>(at.number() >= 0, "the folder '{}' of the model cannot be opened: {}",
                     start.string(), std::strerror(errno));
  for (auto part = location.begin(); part != location.end(); ++part) {
    const bool last = std::next(part) == location.end();
    const int flags = O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | (last ? 0 : O_DIRECTORY);
    Descriptor next(::openat(at.number(), part->c_str(), flags));
    const int error = errno;
    require<DataError>(
        next.number() >= 0 || (error != ELOOP && error != ENOTDIR),
        "the tensor '{}' is in '{}', whose path has a symbolic link or a missing folder", name,
        location.string());
    require<DataError>(next.number() >= 0, "the tensor '{}' is in '{}', which cannot be opened: {}",
                       name, location.string(), std::strerror(error));
    at = std::move(next);
  }
  return at;
}

}  // namespace

void load_external(TensorProto& tensor, const std::filesystem::path& folder) {
  const std::filesystem::path location = tensor.location;
  bool inside = !location.empty() && location.is_relative() &&
                tensor.location.find('\0') == std::string::npos;
  for (const auto& part : location) inside = inside && part != ".." && !part.empty();
  require<DataError>(inside, "the tensor '{}' is in '{}'; expected a file in the model's folder",
                     tensor.name, tensor.location);
  const std::size_t each = bytes_of(tensor.type);
  require<DataError>(each > 0, "the tensor '{}' of {} cannot be in another file", tensor.name,
                     name_of(tensor.type));
  const std::int64_t bytes = elements_of(tensor.dims) * static_cast<std::int64_t>(each);
  require<DataError>(tensor.length < 0 || tensor.length == bytes,
                     "the tensor '{}' of {} {} needs {} bytes; the model gives it {}", tensor.name,
                     name_of(tensor.type), text_of(tensor.dims), bytes, tensor.length);
  const Descriptor file = open_below(folder, location, tensor.name);
  struct stat info {};
  require<DataError>(::fstat(file.number(), &info) == 0 && S_ISREG(info.st_mode),
                     "the tensor '{}' is in '{}', which is not a regular file", tensor.name,
                     tensor.location);
  require<DataError>(tensor.offset >= 0 && tensor.offset <= info.st_size &&
                         bytes <= info.st_size - tensor.offset,
                     "the tensor '{}' needs {} bytes, from {} on, of '{}', which has {}",
                     tensor.name, bytes, tensor.offset, tensor.location, info.st_size);
  const auto data = in_memory(fmt::format("the tensor '{}'", tensor.name), [&] {
    return std::make_shared<std::string>(static_cast<std::size_t>(bytes), '\0');
  });
  for (std::size_t done = 0; done < data->size();) {
    const ssize_t got = ::pread(file.number(), data->data() + done, data->size() - done,
                                tensor.offset + static_cast<std::int64_t>(done));
    if (got < 0 && errno == EINTR) continue;
    require<DataError>(got > 0, "the tensor '{}' cannot be read from '{}': {}", tensor.name,
                       tensor.location, got < 0 ? std::strerror(errno) : "it is cut");
    done += static_cast<std::size_t>(got);
  }
  tensor.raw = *data;
  tensor.owner = data;
  tensor.external = false;
}

}  // namespace linnet::onnx
