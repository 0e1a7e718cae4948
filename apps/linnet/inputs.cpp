// SPDX-License-Identifier: Apache-2.0
#include "inputs.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <new>

#include "base/check.h"
#include "base/files.h"
#include "data/folder.h"
#include "data/idx.h"
#include "data/image_folder.h"
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

/// Collects samples; bytes stay bytes until the first file of floats comes.
class Collector {
 public:
  Collector(const Model& model, int threads) : model_(model), threads_(threads) {
    inputs_.data.sample_shape = model.network().input_shape();
  }

  void add(const fs::path& path) {
    if (is_folder(path)) return add_folder(path);
    switch (kind_of(path)) {
      case Kind::npy: return add_npy(path);
      case Kind::idx: return add_idx(path);
      case Kind::picture: return add_pictures({path}, 1);
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
      if (is_image_name(file)) files.push_back(file);
    }
    require(!files.empty(), "the folder '{}' holds no pictures (png, jpg, jpeg, bmp)",
            folder.string());
    add_pictures(files, threads_);
  }

  void add_pictures(const std::vector<fs::path>& files, int threads) {
    add_samples(files.front(), load_images(files, model_, threads));
    for (const fs::path& file : files) inputs_.names.push_back(file.string());
  }

  void add_idx(const fs::path& path) {
    const bool grey = sample().rank() == 3 && sample()[2] == 1;  // such files leave the 1 out
    const int rank = static_cast<int>(sample().rank()) + (grey ? 0 : 1);
    IdxArray array = read_idx(path, rank);
    if (grey) array.extents.push_back(1);
    const Shape shape(array.extents);
    Dataset data;
    data.sample_shape = shape.sample();
    data.bytes = std::move(array.bytes);
    add_samples(path, std::move(data));
    name_all(path, shape[0]);
  }

  void add_npy(const fs::path& path) {
    const NpyArray array = read_npy(path);
    const bool single = array.shape == sample() || array.shape == model_.sample_shape();
    Dataset data;
    data.sample_shape = single                   ? array.shape
                        : array.shape.rank() > 0 ? array.shape.sample()
                                                 : Shape{};
    if (array.dtype == DType::u8) {
      const auto* first = reinterpret_cast<const std::uint8_t*>(array.bytes.data());
      data.bytes.assign(first, first + array.bytes.size());
    } else {
      data.sample_dtype = DType::f32;
      if (array.dtype == DType::f32) data.floats = floats_of<float>(array);
      if (array.dtype == DType::f64) data.floats = floats_of<double>(array);
      if (array.dtype == DType::i32) data.floats = floats_of<std::int32_t>(array);
    }
    add_samples(path, std::move(data));
    if (single) {
      inputs_.names.push_back(path.string());
    } else {
      name_all(path, array.shape[0]);
    }
  }

  void name_all(const fs::path& path, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
      inputs_.names.push_back(fmt::format("{}[{}]", path.string(), i));
    }
  }

  /// Appends the samples of one file as the model takes them.
  void add_samples(const fs::path& path, Dataset samples) {
    const Shape found = samples.sample_shape;
    samples = fit_samples(std::move(samples), model_);
    require(samples.sample_shape == sample(), "'{}' holds samples of {}, but the model takes {}",
            path.string(), to_string(found), to_string(sample()));
    Dataset& data = inputs_.data;
    if (samples.sample_dtype == DType::f32 && data.sample_dtype == DType::u8) {
      data.floats.assign(data.bytes.begin(), data.bytes.end());
      data.bytes.clear();
      data.sample_dtype = DType::f32;
    }
    if (data.sample_dtype == DType::u8) {
      data.bytes.insert(data.bytes.end(), samples.bytes.begin(), samples.bytes.end());
    } else {
      data.floats.insert(data.floats.end(), samples.bytes.begin(), samples.bytes.end());
      data.floats.insert(data.floats.end(), samples.floats.begin(), samples.floats.end());
    }
  }

  template <class T>
  static std::vector<float> floats_of(const NpyArray& array) {
    std::vector<float> floats;
    for (std::size_t at = 0; at + sizeof(T) <= array.bytes.size(); at += sizeof(T)) {
      T value;
      std::memcpy(&value, array.bytes.data() + at, sizeof value);
      floats.push_back(static_cast<float>(value));
    }
    return floats;
  }

  const Model& model_;
  int threads_;
  Inputs inputs_;
};

}  // namespace

Inputs read_inputs(const std::vector<std::string>& paths, const Model& model, int threads) {
  Collector collector(model, threads);
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
