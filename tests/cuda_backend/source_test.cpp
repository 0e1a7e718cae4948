// SPDX-License-Identifier: Apache-2.0
// Samples that are made on demand, through the ring of pinned batches.
#include <algorithm>
#include <cstdint>
#include <utility>

#include "../end_to_end/fixtures.h"
#include "cuda_model.h"
#include "small_trainings.h"

namespace linnet::testing {
namespace {

/// The rows of a Tensor, one by one.
class Copies final : public RecordSource {
 public:
  Copies(Tensor rows, std::int64_t bad) : rows_(std::move(rows)), bad_(bad) {}
  std::int64_t size() const override { return rows_.shape()[0]; }
  DType dtype() const override { return rows_.dtype(); }
  Shape record() const override { return rows_.shape().sample(); }
  void read(std::int64_t index, std::span<std::byte> to) const override {
    if (index == bad_) throw Error("record 5 is bad");
    std::ranges::copy(rows_.rows(index, index + 1).bytes(), to.begin());
  }

 private:
  Tensor rows_;
  std::int64_t bad_;
};

Dataset from_source(const Dataset& data, std::int64_t bad = -1) {
  return Dataset({{.name = "x", .source = std::make_shared<Copies>(first_input(data), bad)}},
                 data.targets());
}

class CudaSources : public OnDevice {
 protected:
  /// The losses of the last epoch's steps, then the weights.
  std::vector<float> learned(const Splits& data, const TrainingOptions& options) const {
    Model trained =
        model(Network({24, 26, 1}, {Rescale{}, Conv2d{.filters = 3}, ReLU{}, MaxPool2d{4},
                                    Flatten{}, Dropout{.rate = 0.3}, Dense{.units = 10}}),
              {}, 5);
    const History history = train(trained, data, options);
    std::vector<float> all(history.epochs.back().step_losses);
    const std::vector<float> values = all_weights(trained);
    all.insert(all.end(), values.begin(), values.end());
    return all;
  }
};
INSTANTIATE_TEST_SUITE_P(Engines, CudaSources, ::testing::ValuesIn(tested_engines()), engines_name);

TEST_P(CudaSources, GiveTheBitsOfResidentData) {
  const Dataset digits = datasets::digits(28, 0, 3).train;
  TrainingOptions options{.epochs = 2, .batch = 8, .optimizer = Adam{.learning_rate = 1e-2}};
  options.augment = {.crop = true, .flip = 0.5, .contrast = 0.4, .cutout = 5, .mixup = 0.3};
  const std::vector<float> resident = learned(with_validation(digits), options);
  const Splits source = with_validation(from_source(digits));
  for (std::int64_t prefetch : {1, 3}) {
    options.prefetch = prefetch;
    options.decoders = static_cast<int>(prefetch) + 1;
    EXPECT_EQ(learned(source, options), resident) << prefetch << " batches ahead";
  }
}

TEST_P(CudaSources, ABadRecordStopsTheTraining) {
  const Dataset digits = datasets::digits(28, 0, 3).train;
  const TrainingOptions options{.epochs = 2, .batch = 8, .augment = {.crop = true}};
  EXPECT_THROW(learned({.train = from_source(digits, 5)}, options), Error);
  EXPECT_NO_THROW(learned({.train = from_source(digits)}, options));
}

}  // namespace
}  // namespace linnet::testing
