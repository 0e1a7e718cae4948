// SPDX-License-Identifier: Apache-2.0
// C files of models, compiled and called.
#pragma once

#include <dlfcn.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <linnet/c_export.h>
#include <linnet/linnet.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "temporary_folder.h"
#include "weights.h"

namespace linnet::testing {

/// A number of [-1, 1) that follows from i alone.
inline float number(std::int64_t i) {
  const auto hash = static_cast<std::uint32_t>(i) * 2654435761U;
  return static_cast<float>(hash >> 8) / static_cast<float>(1U << 23) - 1;
}

inline std::vector<float> numbers(std::int64_t count, float scale = 1) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(scale * number(i + 1));
  return values;
}

/// Returns a model with statistics and biases other than the initial ones.
inline Model model_of(const Network& network) {
  Model model(network, {.device = "cpu", .threads = 1, .seed = 5});
  for (const std::string& name : model.parameter_names()) {
    if (model.parameter_shape(name).rank() != 1) continue;
    std::vector<float> values = numbers(model.parameter_shape(name).elements(), 0.5F);
    if (name.ends_with("running_var") || name.ends_with("weight")) {
      for (float& value : values) value += 1;
    }
    set_parameter(model, name, std::move(values));
  }
  return model;
}

/// The C program of a model, compiled without a warning and loaded.
class Compiled {
 public:
  /// `flags`: more of the compiler's.
  explicit Compiled(const Model& model, const CExportOptions& options = {},
                    const std::string& flags = "") {
    export_c(model, folder_.path(), options);
    const std::string command = fmt::format(
        "cd '{}' && '{}' -x c -std=c99 -Wall -Wextra -pedantic -Werror -O2 {} -fPIC -shared "
        "'{}.c' -include '{}.h' -o program.so -lm 2>&1",
        folder_.path().string(), LINNET_C_COMPILER, flags, options.name, options.name);
    EXPECT_EQ(std::system(command.c_str()), 0);
    library_ = ::dlopen((folder_ / "program.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    EXPECT_NE(library_, nullptr) << ::dlerror();
    function_ = ::dlsym(library_, (options.name + "_predict").c_str());
    EXPECT_NE(function_, nullptr) << ::dlerror();
    if (options.jacobian) jacobian_ = ::dlsym(library_, (options.name + "_jacobian").c_str());
    if (options.hessian) hessian_ = ::dlsym(library_, (options.name + "_hessian").c_str());
  }
  Compiled(const Compiled&) = delete;
  Compiled& operator=(const Compiled&) = delete;
  ~Compiled() { ::dlclose(library_); }

  template <class... Pointers>
  void operator()(Pointers... pointers) const {
    reinterpret_cast<void (*)(Pointers...)>(function_)(pointers...);
  }
  void jacobian(const float* input, float* output) const {
    ASSERT_NE(jacobian_, nullptr);
    reinterpret_cast<void (*)(const float*, float*)>(jacobian_)(input, output);
  }
  /// outputs: a pointer for each output of the network.
  template <class... Pointers>
  void hessian(const float* input, Pointers... outputs) const {
    ASSERT_NE(hessian_, nullptr);
    reinterpret_cast<void (*)(const float*, Pointers...)>(hessian_)(input, outputs...);
  }

 private:
  TemporaryFolder folder_;
  void* library_ = nullptr;
  void* function_ = nullptr;
  void* jacobian_ = nullptr;
  void* hessian_ = nullptr;
};

/// What a function writes of points on both sides of another.
struct BothSides {
  std::vector<float> above;
  std::vector<float> below;
};

/// f(input, output) writes `outputs` numbers of a point: returns them where element `k` of `at` is
/// larger and where it is smaller by `step`.
template <class F>
BothSides both_sides(std::vector<float> at, std::size_t k, float step, std::size_t outputs, F f) {
  BothSides sides{std::vector<float>(outputs), std::vector<float>(outputs)};
  const float middle = at[k];
  at[k] = middle + step;
  f(at.data(), sides.above.data());
  at[k] = middle - step;
  f(at.data(), sides.below.data());
  return sides;
}

/// The largest difference from the model's own outputs of two samples, by their largest element.
inline double difference(const Model& model, const Tensor& input,
                         const CExportOptions& options = {}, const std::string& name = "x") {
  const Compiled program(model, options);
  Model own = model;
  const Tensor wanted = own.predict(Dataset({{name, input}}));
  std::vector<float> found(static_cast<std::size_t>(wanted.shape().sample().elements()));
  double largest = 0;
  double scale = 0;
  for (std::int64_t n = 0; n < input.shape()[0]; ++n) {
    const std::byte* record = input.rows(n, n + 1).bytes().data();
    // The second call finds what the first one left in memory.
    for (int i = 0; i < 2; ++i) program(static_cast<const void*>(record), found.data());
    const Tensor row = wanted.rows(n, n + 1);
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_FALSE(std::isnan(found[i]));
      largest = std::max<double>(largest, std::abs(found[i] - row.as<float>()[i]));
      scale = std::max<double>(scale, std::abs(row.as<float>()[i]));
    }
  }
  return largest / scale;
}

inline double difference(const Network& network, const CExportOptions& options = {}) {
  const Shape samples = network.input_shape().batched(2);
  return difference(model_of(network), Tensor(numbers(samples.elements()), samples), options);
}

inline double difference_of_ids(const Network& network, const CExportOptions& options = {}) {
  const Shape samples = network.input_shape().batched(2);
  std::vector<std::int32_t> ids;
  for (std::int64_t i = 0; i < samples.elements(); ++i) {
    ids.push_back(static_cast<std::int32_t>(i * 7 % 20));
  }
  return difference(model_of(network), Tensor(std::move(ids), samples), options);
}

}  // namespace linnet::testing
