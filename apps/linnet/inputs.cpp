// SPDX-License-Identifier: Apache-2.0
#include "inputs.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <new>

#include "base/check.h"
#include "base/files.h"
#include "data/folder.h"
#include "data/idx.h"
#include "data/image.h"
#include "io/npy.h"

namespace linnet::command {
namespace {

namespace fs = std::filesystem;

enum class Kind : std::uint8_t { picture, idx, npy };

Kind kind_of(const fs::path& path) {
  std::string start(6, '\0');
  InputFile(path).read(start);
  if (start == "\x93NUMPY") return Kind::npy;
  const bool gzip = start.compare(0, 2, "\x1f\x8b") == 0;
  const bool idx = start.compare(0, 3, std::string("\0\0\x08", 3)) == 0;
  return gzip || idx ? Kind::idx : Kind::picture;
}

bool is_picture_name(const fs::path& path) {
  std::string extension = path.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return extension == ".png" || extension == ".jpg" || extension == ".jpeg" || extension == ".bmp";
}

/// Collects samples; bytes stay bytes until the first file of floats comes.
class Collector {
 public:
  explicit Collector(const Shape& sample) { inputs_.data.sample_shape = sample; }

  void add(const fs::path& path) {
    if (is_folder(path)) return add_folder(path);
    switch (kind_of(path)) {
      case Kind::npy: return add_npy(path);
      case Kind::idx: return add_idx(path);
      case Kind::picture: return add_picture(path);
    }
  }

  Inputs finish() && {
    inputs_.data.name = "inputs";
    return std::move(inputs_);
  }

 private:
  const Shape& sample() const { return inputs_.data.sample_shape; }

  void add_folder(const fs::path& folder) {
    std::vector<fs::path> files;
    for (const fs::path& file : files_below(folder)) {
      if (is_picture_name(file)) files.push_back(file);
    }
    require(!files.empty(), "the folder '{}' holds no pictures (png, jpg, jpeg, bmp)",
            folder.string());
    for (const fs::path& file : files) add_picture(file);
  }

  void add_picture(const fs::path& path) {
    Image image = decode_image(read_file(path), path);
    const std::int64_t wanted = sample().rank() == 3 ? sample()[2] : 0;
    if (wanted == 3 && image.channels == 1) image = coloured(image);
    if (wanted == 1 && image.channels == 3) image = grey(image);
    check(path, Shape{image.height, image.width, image.channels});
    add_bytes(image.pixels);
    inputs_.names.push_back(path.string());
  }

  static Image coloured(const Image& grey) {
    Image image{.height = grey.height, .width = grey.width, .channels = 3, .pixels = {}};
    for (const std::uint8_t value : grey.pixels) image.pixels.insert(image.pixels.end(), 3, value);
    return image;
  }

  static Image grey(const Image& colour) {
    Image image{.height = colour.height, .width = colour.width, .channels = 1, .pixels = {}};
    for (std::size_t i = 0; i + 2 < colour.pixels.size(); i += 3) {
      const double value =
          0.299 * colour.pixels[i] + 0.587 * colour.pixels[i + 1] + 0.114 * colour.pixels[i + 2];
      image.pixels.push_back(static_cast<std::uint8_t>(value + 0.5));
    }
    return image;
  }

  void add_idx(const fs::path& path) {
    const bool grey = sample().rank() == 3 && sample()[2] == 1;  // such files leave the 1 out
    const int rank = static_cast<int>(sample().rank()) + (grey ? 0 : 1);
    IdxArray array = read_idx(path, rank);
    if (grey) array.extents.push_back(1);
    const Shape shape(array.extents);
    check(path, shape.sample());
    add_bytes(array.bytes);
    name_all(path, shape[0]);
  }

  void add_npy(const fs::path& path) {
    const NpyArray array = read_npy(path);
    const bool single = array.shape == sample();
    check(path, single ? array.shape : array.shape.rank() > 0 ? array.shape.sample() : Shape{});
    if (array.dtype == DType::u8) {
      const auto* first = reinterpret_cast<const std::uint8_t*>(array.bytes.data());
      add_bytes(std::span(first, array.bytes.size()));
    } else if (array.dtype == DType::f32) {
      add_floats<float>(array);
    } else if (array.dtype == DType::f64) {
      add_floats<double>(array);
    } else {
      add_floats<std::int32_t>(array);
    }
    if (single) {
      inputs_.names.push_back(path.string());
    } else {
      name_all(path, array.shape[0]);
    }
  }

  void check(const fs::path& path, const Shape& found) const {
    require(found == sample(), "'{}' holds samples of {}, but the model takes {}", path.string(),
            to_string(found), to_string(sample()));
  }

  void name_all(const fs::path& path, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
      inputs_.names.push_back(fmt::format("{}[{}]", path.string(), i));
    }
  }

  void add_bytes(std::span<const std::uint8_t> bytes) {
    Dataset& data = inputs_.data;
    if (data.sample_dtype == DType::u8) {
      data.bytes.insert(data.bytes.end(), bytes.begin(), bytes.end());
    } else {
      data.floats.insert(data.floats.end(), bytes.begin(), bytes.end());
    }
  }

  template <class T>
  void add_floats(const NpyArray& array) {
    Dataset& data = inputs_.data;
    data.floats.insert(data.floats.end(), data.bytes.begin(), data.bytes.end());
    data.bytes.clear();
    data.sample_dtype = DType::f32;
    for (std::size_t at = 0; at + sizeof(T) <= array.bytes.size(); at += sizeof(T)) {
      T value;
      std::memcpy(&value, array.bytes.data() + at, sizeof value);
      data.floats.push_back(static_cast<float>(value));
    }
  }

  Inputs inputs_;
};

}  // namespace

Inputs read_inputs(const std::vector<std::string>& paths, const Shape& sample) {
  Collector collector(sample);
  read_paths(paths, [&](const fs::path& path) { collector.add(path); });
  return std::move(collector).finish();
}

void read_paths(const std::vector<std::string>& paths,
                const std::function<void(const fs::path&)>& read) {
  for (const std::string& path : paths) {
    try {
      read(path);
    } catch (const std::bad_alloc&) {
      fail("out of memory while reading '{}': predict fewer files at a time", path);
    }
  }
}

}  // namespace linnet::command
