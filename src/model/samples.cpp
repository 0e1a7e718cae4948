// SPDX-License-Identifier: Apache-2.0
// What a model takes of pictures, by what it remembers of its training.
#include <linnet/model.h>

#include "base/check.h"
#include "data/fit_pictures.h"
#include "data/image_source.h"
#include "model/model_state.h"

namespace linnet {

Shape Model::sample_shape() const {
  const Shape& trained = state_->record.sample_shape;
  return trained.rank() > 0 ? trained : network().input_shape();
}

Dataset fit_samples(Dataset data, const Model& model) {
  if (data.sample_shape != model.sample_shape()) return data;
  return fit_pictures(std::move(data), model.network().input_shape());
}

Dataset load_images(const std::vector<std::filesystem::path>& files, const Model& model,
                    int threads) {
  const Shape sample = model.sample_shape();
  require(sample.rank() == 3 && (sample[2] == 1 || sample[2] == 3),
          "the model takes samples of {}; images are (height, width, 1 or 3)", to_string(sample));
  Dataset data;
  data.name = "images";
  data.sample_shape = sample;
  const auto bytes = static_cast<std::size_t>(sample.elements());
  data.bytes.resize(files.size() * bytes);
  const auto bad = read_records(ImageSource(files, sample, true), bytes,
                                std::as_writable_bytes(std::span(data.bytes)), threads);
  if (!bad.empty()) throw Error(bad[0].second);
  return fit_samples(std::move(data), model);
}

}  // namespace linnet
