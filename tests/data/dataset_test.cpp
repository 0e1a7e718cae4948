// SPDX-License-Identifier: Apache-2.0
#include <linnet/dataset.h>

#include "data/data_files.h"

namespace linnet::test {
namespace {

Dataset small() {
  return make_dataset({2}, std::vector<std::uint8_t>{1, 2, 3, 4, 5, 6},
                      std::vector<std::int32_t>{0, 2, 1});
}

TEST(Dataset, LabelsAreKeptAndClassesNumbered) {
  const Dataset data = small();
  EXPECT_EQ(data.size(), 3);
  EXPECT_EQ(data.classes(), 3);
  EXPECT_EQ(data.class_names, (std::vector<std::string>{"0", "1", "2"}));
  EXPECT_EQ(data.sample_dtype, DType::u8);
  EXPECT_EQ(data.bytes, (std::vector<std::uint8_t>{1, 2, 3, 4, 5, 6}));
}

TEST(Dataset, FloatsWithLabels) {
  const Dataset data =
      make_dataset({1, 2}, std::vector<float>{1, 2, 3, 4}, std::vector<std::int32_t>{1, 0});
  EXPECT_EQ(data.size(), 2);
  EXPECT_EQ(data.sample_dtype, DType::f32);
  EXPECT_EQ(data.floats.size(), 4U);
  EXPECT_TRUE(data.bytes.empty());
}

TEST(Dataset, RegressionKeepsValues) {
  const Dataset data = make_dataset({2}, std::vector<float>{1, 2, 3, 4}, Shape{3},
                                    std::vector<float>{1, 2, 3, 4, 5, 6});
  EXPECT_EQ(data.size(), 2);
  EXPECT_EQ(data.value_shape, Shape{3});
  EXPECT_EQ(data.classes(), 0);
  EXPECT_EQ(data.values.size(), 6U);
}

TEST(Dataset, AnEmptyOneIsValid) {
  Dataset data;
  EXPECT_NO_THROW(data.validate());
  EXPECT_EQ(data.size(), 0);
}

TEST(Dataset, NamesTheLabelThatIsOutside) {
  Dataset data = small();
  data.name = "name";
  data.class_names.resize(2);
  EXPECT_EQ(error_of([&] { data.validate(); }), "label 2 of sample 1 in 'name' is outside [0, 2)");
  data.labels[0] = -1;
  EXPECT_EQ(error_of([&] { data.validate(); }), "label -1 of sample 0 in 'name' is outside [0, 2)");
}

TEST(Dataset, TheIgnoredLabelMayBeOutside) {
  const std::vector<float> samples{1, 2, 3};
  const std::vector<std::int32_t> labels{1, -100, 0};
  const Dataset data = make_dataset({1}, samples, labels, -100);
  EXPECT_EQ(data.labels, labels);
  EXPECT_EQ(data.classes(), 2);
  EXPECT_NO_THROW(data.validate(-100));
  EXPECT_EQ(error_of([&] { data.validate(-1); }),
            "label -100 of sample 1 in 'array' is outside [0, 2)");
  EXPECT_EQ(error_of([&] { make_dataset({1}, samples, labels); }),
            "label -100 of sample 1 in 'array' is negative");
}

TEST(Dataset, RefusesSizesThatDisagree) {
  Dataset data = small();
  data.labels.pop_back();
  EXPECT_EQ(error_of([&] { data.validate(); }),
            "'array' holds 3 samples and 2 labels; expected one label a sample");
  data.bytes.pop_back();
  EXPECT_EQ(error_of([&] { data.validate(); }),
            "'array' holds 5 sample elements, which is no multiple of the 2 of a sample (2)");
  EXPECT_EQ(error_of([] {
              make_dataset({1}, std::vector<float>{1, 2}, Shape{2}, std::vector<float>{1, 2, 3});
            }),
            "'array' holds 2 samples and 3 values; expected 2 of shape (2) for each");
}

TEST(Dataset, RefusesTargetsOfBothKindsAndOfNone) {
  Dataset data = small();
  data.values = {1, 2, 3};
  EXPECT_EQ(error_of([&] { data.validate(); }),
            "'array' has both labels and values; expected one of them");
  data.values.clear();
  data.labels.clear();
  EXPECT_EQ(error_of([&] { data.validate(); }),
            "'array' holds 3 samples but neither labels nor values");
}

TEST(Dataset, RefusesSamplesOfTheWrongType) {
  Dataset data = small();
  data.floats = {1};
  EXPECT_EQ(error_of([&] { data.validate(); }),
            "the samples of 'array' are u8, but it also holds f32 samples");
  data.sample_dtype = DType::f64;
  EXPECT_EQ(error_of([&] { data.validate(); }),
            "the samples of 'array' must be u8, f32 or i32; got f64");
}

TEST(Dataset, RefusesShapesWithoutOrWithTooManyElements) {
  Dataset data = small();
  data.sample_shape = {2, 0};
  EXPECT_EQ(error_of([&] { data.validate(); }),
            "the sample shape of 'array' must have positive extents; got (2, 0)");
  data.sample_shape = {std::int64_t{1} << 40, std::int64_t{1} << 40};
  EXPECT_EQ(error_of([&] { data.validate(); }),
            "the sample shape (1099511627776, 1099511627776) of 'array' has more elements than "
            "memory can hold");
}

TEST(Dataset, RefusesLabelsThatAreNoClassIndices) {
  const std::vector<float> sample{1};
  EXPECT_EQ(error_of([&] { make_dataset({1}, sample, std::vector<std::int32_t>{-1}); }),
            "label -1 of sample 0 in 'array' is negative");
  EXPECT_EQ(error_of([&] { make_dataset({1}, sample, std::vector<std::int32_t>{1 << 30}); }),
            "label 1073741824 of sample 0 in 'array' is too large; labels are class indices below "
            "1048576");
}

}  // namespace
}  // namespace linnet::test
