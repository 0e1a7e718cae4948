// SPDX-License-Identifier: Apache-2.0
#include "tasks/read_arrays.h"

#include <cstdint>
#include <utility>

#include "base/check.h"
#include "base/files.h"
#include "base/folder.h"
#include "datasets/image_folder.h"
#include "formats/idx.h"
#include "model/read_images.h"
#include "model/sample_list.h"

namespace linnet {
namespace {

namespace fs = std::filesystem;

enum class Kind : std::uint8_t { image, idx, npy };

Kind kind_of(const fs::path& path) {
  std::string start(6, '\0');
  InputFile(path).read(start);
  if (start == "\x93NUMPY") return Kind::npy;
  const bool gzip = start.compare(0, 2, "\x1f\x8b") == 0;
  const bool idx = start.compare(0, 3, std::string("\0\0\x08", 3)) == 0;
  return gzip || idx ? Kind::idx : Kind::image;
}

class ArrayCollector {
 public:
  ArrayCollector(const Model& model, const ReadOptions& options)
      : model_(model),
        threads_(options.threads),
        shorter_side_(options.shorter_side),
        skips_(options.on_bad_image == OnBadImage::skip),
        list_(model.network().input_shape()) {}

  void add(const fs::path& path) {
    try {
      add_any(path);
    } catch (const Error& error) {
      if (!skips_) throw;
      bad_.emplace_back(error.what());
    }
  }

  Samples finish() const {
    Samples samples = list_.samples(model_.network().input_names()[0]);
    samples.bad_files = bad_;
    return samples;
  }

 private:
  void add_any(const fs::path& path) {
    if (is_folder(path)) return add_folder(path);
    switch (kind_of(path)) {
      case Kind::npy: return add_npy(path);
      case Kind::idx: return add_idx(path);
      case Kind::image: return add_images({path}, 1);
    }
  }

  void add_folder(const fs::path& folder) {
    std::vector<fs::path> files;
    for (const fs::path& file : files_below(folder)) {
      if (is_image_name(file)) files.push_back(file);
    }
    require(!files.empty(), "the folder '{}' holds no images (png, jpg, bmp, webp, tif)",
            folder.string());
    add_images(files, threads_);
  }

  void add_images(const std::vector<fs::path>& files, int threads) {
    const bool crops = shorter_side_ > 0;
    const ImageFit fit{.reading = model_.training_record().images,
                       .resize = !crops,
                       .shorter_side = shorter_side_};
    BadFiles bad;
    Tensor images = read_images(files, crops ? list_.sample() : model_.sample_shape(), fit, threads,
                                skips_ ? &bad : nullptr);
    if (!crops) images = fitted(std::move(images));
    auto next = bad.begin();
    for (std::int64_t row = 0; row < std::ssize(files); ++row) {
      if (next != bad.end() && next->first == row) {
        bad_.push_back((next++)->second);
      } else {
        list_.add(images.rows(row, row + 1), files[static_cast<std::size_t>(row)].string());
      }
    }
  }

  void add_idx(const fs::path& path) {
    const Shape& sample = list_.sample();
    const bool grey = sample.rank() == 3 && sample[2] == 1;  // such files leave the 1 out
    const int rank = static_cast<int>(sample.rank()) + (grey ? 0 : 1);
    IdxArray array = read_idx(path, rank);
    if (grey) array.dims.push_back(1);
    list_.add(path, fitted(Tensor(std::move(array.bytes), Shape(array.dims))));
  }

  void add_npy(const fs::path& path) {
    Tensor array = read_npy(path);
    if (array.dtype() != DType::u8) array = array.to(DType::f32);
    if (array.shape() == list_.sample() || array.shape() == model_.sample_shape()) {
      list_.add(fitted(array.reshaped(array.shape().batched(1))), path.string());
    } else {
      list_.add(path, fitted(std::move(array)));
    }
  }

  /// Samples of the training's shape become the network's, as evaluations have it.
  Tensor fitted(Tensor samples) const {
    if (samples.shape().rank() == 0 || samples.shape().sample() != model_.sample_shape()) {
      return samples;
    }
    return fit_samples(Dataset({{"image", std::move(samples)}}), model_).inputs()[0].data;
  }

  const Model& model_;
  int threads_;
  std::int64_t shorter_side_;
  bool skips_;
  std::vector<std::string> bad_;
  SampleList list_;
};

}  // namespace

Samples read_arrays(std::span<const fs::path> paths, const Model& model,
                    const ReadOptions& options) {
  ArrayCollector arrays(model, options);
  for (const fs::path& path : paths) in_memory_of(path, [&] { arrays.add(path); });
  return arrays.finish();
}

}  // namespace linnet
