// SPDX-License-Identifier: Apache-2.0
#include "model/sample_list.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/check.h"

namespace linnet {

void SampleList::append(const std::string& source, Tensor samples) {
  const Shape found = samples.shape().rank() > 0 ? samples.shape().sample() : Shape{};
  require(samples.shape().rank() > 0 && found == sample_,
          "'{}' holds samples of {}, but the model takes {}", source, to_string(found),
          to_string(sample_));
  pieces_.push_back(std::move(samples));
}

void SampleList::add(Tensor sample, std::string name) {
  append(name, std::move(sample));
  names_.push_back(std::move(name));
}

void SampleList::add(const std::filesystem::path& file, Tensor samples) {
  append(file.string(), std::move(samples));
  for (std::int64_t i = 0; i < pieces_.back().shape()[0]; ++i) {
    names_.push_back(fmt::format("{}[{}]", file.string(), i));
  }
}

Samples SampleList::samples(const std::string& input) const {
  const bool same = !pieces_.empty() && std::ranges::all_of(pieces_, [&](const Tensor& piece) {
    return piece.dtype() == pieces_[0].dtype();
  });
  const DType dtype = same ? pieces_[0].dtype() : DType::f32;
  Tensor all(dtype, sample_.batched(std::ssize(names_)));
  std::byte* to = all.writable_bytes().data();
  for (const Tensor& piece : pieces_) {
    to = std::ranges::copy(piece.to(dtype).bytes(), to).out;
  }
  return {Dataset({{input, std::move(all)}}, {}, {.name = "inputs"}), names_};
}

}  // namespace linnet
