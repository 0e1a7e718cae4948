// SPDX-License-Identifier: Apache-2.0
#include "onnx/external.h"

#include <cerrno>
#include <cstring>
#include <memory>
#include <string>

#include "base/anchored_file.h"
#include "base/check.h"
#include "base/memory.h"

namespace linnet::onnx {
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
  const OpenFile file = open_below(folder, location, tensor.name);
  calls::Status info{};
  require<DataError>(calls::status(file.number(), info) == 0 && S_ISREG(info.st_mode),
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
    const calls::Count got = calls::read_at(file.number(), data->data() + done, data->size() - done,
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
