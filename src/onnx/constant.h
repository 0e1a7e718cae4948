// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "onnx/schema.h"

namespace linnet::onnx {

/// The most elements that a constant may have which is computed, not read: a few nodes of a hostile
/// file could otherwise ask for any memory.
inline constexpr std::int64_t kMostComputed = std::int64_t{1} << 24;

/// The most elements that all of them may have together, beside as many as the file's initializers
/// have: half a GiB.
inline constexpr std::int64_t kMostComputedInAll = std::int64_t{1} << 26;

/// Holds a tensor that is known when a file is read: an initializer, or what is computed from some.
class Constant {
 public:
  /// Makes a constant of a tensor, which must outlive it.
  explicit Constant(const TensorProto& tensor);
  /// Makes a constant of computed numbers, rounded to the type. Throws DataError above `most`
  /// elements.
  Constant(Type type, Dims dims, std::vector<double> values, std::int64_t most = kMostComputed);
  /// Makes a constant of the same elements with other dims.
  Constant(const Constant& other, Dims dims);

  Type type() const { return type_; }
  const Dims& dims() const { return dims_; }
  std::int64_t elements() const { return elements_of(dims_); }

  /// Returns where its computed numbers lie, which constants of other dims share; null: it was
  /// read.
  const void* computed() const { return values_.get(); }

  /// Returns all numbers; those of a tensor are converted in each call.
  std::vector<double> values() const;
  std::vector<float> floats() const;
  /// Returns the numbers as whole ones, cut to 64 bits.
  std::vector<std::int64_t> integers() const;

  std::string name;     ///< the initializer's, or of the value that was computed
  bool trains = false;  ///< whether it is an initializer of floats, be it under other dims
  /// Whether numbers of it are multiples of kTemplateBatch, which stands for the batch's size.
  bool batch = false;
  /// Which of its axes stands for the batch, with 1 as its dim here: the constant is the same for
  /// every sample, but for what `growth` adds. -1: none does.
  int batch_axis = -1;
  /// What each of its numbers grows by from one sample to the next, as the numbers of samples
  /// themselves do, NaN where that is not known; null: nothing.
  std::shared_ptr<const std::vector<double>> growth;
  /// An initializer with its axes in another order: of which one, and the order.
  std::shared_ptr<const Constant> base;
  std::vector<int> turned;

 private:
  Type type_;
  Dims dims_;
  const TensorProto* tensor_ = nullptr;
  std::shared_ptr<const std::vector<double>> values_;
};

using ConstantPtr = std::shared_ptr<const Constant>;

/// Returns elements under other dims, or in another order (axis i of the result is axis
/// permutation[i]): it stays the same weight.
ConstantPtr reshaped(const Constant& constant, Dims dims);
ConstantPtr transposed(const Constant& constant, const std::vector<int>& permutation);

/// Returns the elements of an array in another order of its axes.
template <class T>
std::vector<T> permuted(const std::vector<T>& values, const Dims& dims,
                        const std::vector<int>& permutation) {
  std::vector<std::int64_t> strides(dims.size(), 1);
  for (std::size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * dims[i];
  Dims to;
  std::vector<std::int64_t> step;
  for (const int axis : permutation) {
    to.push_back(dims[static_cast<std::size_t>(axis)]);
    step.push_back(strides[static_cast<std::size_t>(axis)]);
  }
  std::vector<T> out(values.size());
  Dims at(to.size(), 0);
  std::int64_t from = 0;
  for (T& value : out) {
    value = values[static_cast<std::size_t>(from)];
    for (std::size_t i = to.size(); i-- > 0;) {
      from += step[i];
      if (++at[i] < to[i]) break;
      from -= step[i] * to[i];
      at[i] = 0;
    }
  }
  return out;
}

}  // namespace linnet::onnx
