// SPDX-License-Identifier: Apache-2.0
// What a model takes of images, by what it remembers of its training.
#include <linnet/datasets.h>
#include <linnet/model.h>
#include <linnet/samples.h>

#include <string>
#include <utility>

#include "base/check.h"
#include "core/tensor_memory.h"
#include "data/fit_images.h"
#include "datasets/load_dataset.h"
#include "model/bind_columns.h"
#include "model/model_state.h"
#include "model/read_images.h"

namespace linnet {

Shape Model::sample_shape() const {
  const Shape& trained = state_->record.sample_shape;
  return trained.rank() > 0 ? trained : network().input_shape();
}

Dataset fit_samples(Dataset data, const Model& model) {
  if (data.inputs().empty()) return data;
  const Column* images = bind_inputs(model.network().definition(), data)[0];
  if (images->record() != model.sample_shape()) return data;
  const auto index = static_cast<std::size_t>(images - data.inputs().data());
  return fit_images(std::move(data), model.network().input_shape(), index);
}

DatasetOptions datasets::options_for(const Model& model, const std::string& name,
                                     const Places& places, DatasetOptions options) {
  const Shape sample = model.sample_shape();
  const std::optional<std::filesystem::path> folder = find(name, places);
  if (!folder || sample.rank() != 3 || !holds_image_files(*folder)) return options;
  if (options.size.rank() == 0) options.size = {sample[0], sample[1]};
  if (options.channels == 0 && (sample[2] == 1 || sample[2] == 3)) options.channels = sample[2];
  const ImageReading& reading = model.training_record().images;
  if (!options.exif) options.exif = reading.exif;
  if (!options.white) options.white = reading.white;
  return options;
}

namespace {

void require_images(const Shape& sample) {
  require(sample.rank() == 3 && (sample[2] == 1 || sample[2] == 3),
          "the model takes samples of {}; expected images (height, width, 1 or 3)",
          to_string(sample));
}

Dataset fitted(Tensor images, const Model& model) {
  const std::string& input = model.network().definition().inputs[0].name;
  return fit_samples({{{input, std::move(images)}}, {}, {.name = "images"}}, model);
}

}  // namespace

Tensor read_images(const std::vector<std::filesystem::path>& files, const Shape& sample,
                   const ImageFit& fit, int threads, BadFiles* bad) {
  require_images(sample);
  Tensor images = uninitialized_tensor(DType::u8, sample.batched(std::ssize(files)));
  BadFiles found = read_records(ImageSource(files, sample, fit), images.writable_bytes(), threads);
  if (bad == nullptr && !found.empty()) throw DataError(found[0].second);
  if (bad != nullptr) *bad = std::move(found);
  return images;
}

Dataset load_images(const std::vector<std::filesystem::path>& files, const Model& model,
                    int threads) {
  return fitted(read_images(files, model.sample_shape(),
                            {.reading = model.training_record().images, .resize = true}, threads),
                model);
}

Tensor load_image(const std::filesystem::path& file, const Model& model) {
  return load_images({file}, model, 1).inputs()[0].data;
}

Tensor decode_image(std::span<const std::byte> bytes, const Model& model) {
  const Shape sample = model.sample_shape();
  require_images(sample);
  Tensor image = uninitialized_tensor(DType::u8, sample.batched(1));
  const std::string_view file(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const ImageFit fit{.reading = model.training_record().images, .resize = true};
  put_image_sample(decode_image(file, "the image", fit.reading), "the image", sample, fit,
                   image.writable_bytes());
  return fitted(std::move(image), model).inputs()[0].data;
}

}  // namespace linnet
