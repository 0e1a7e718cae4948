// SPDX-License-Identifier: Apache-2.0
#include "datasets/survey.h"

#include <limits>

#include "data/contents.h"
#include "data/image_files.h"

namespace linnet::test {
namespace {

TEST(Survey, DescribesArrays) {
  const TemporaryFolder folder;
  write_mnist(folder);
  std::int64_t told = 0;
  const Survey survey = survey_dataset(folder.path(), [&](std::int64_t done, std::int64_t files) {
    EXPECT_EQ(files, 4);
    told = done;
  });
  EXPECT_EQ(told, 4);
  EXPECT_EQ(survey.format, "idx");
  EXPECT_TRUE(survey.bad_files.empty());
  ASSERT_EQ(survey.parts.size(), 2U);
  const PartSurvey& train = survey.parts[0];
  EXPECT_EQ(train.name, "train");
  EXPECT_EQ(train.samples, 6);
  EXPECT_EQ(train.bytes, 36U);
  EXPECT_EQ(train.shapes.at({2, 3, 1}), 6);
  EXPECT_EQ(train.samples_by_class, (std::vector<std::int64_t>{2, 2, 2, 0}));
  EXPECT_EQ(train.samples_range.least, 0);
  EXPECT_EQ(train.samples_range.most, 35);
  EXPECT_DOUBLE_EQ(train.samples_range.mean, 17.5);
  EXPECT_NEAR(train.samples_range.std_dev, 10.388, 1e-3);  // of 0 to 35
}

TEST(Survey, NamesEveryBadFile) {
  const TemporaryFolder folder;
  write_mnist(folder);
  const auto images = folder.write("train-images-idx3-ubyte", idx({6, 2, 3}).substr(0, 40));
  const auto labels = folder.write("t10k-labels-idx1-ubyte", "none");
  const Survey survey = survey_dataset(folder.path());
  EXPECT_TRUE(survey.parts.empty());
  ASSERT_EQ(survey.bad_files.size(), 2U);
  EXPECT_EQ(survey.bad_files[0].path, labels);
  EXPECT_EQ(survey.bad_files[1].path, images);
  EXPECT_TRUE(survey.bad_files[1].reason.starts_with(quoted(images) + " gives 6 x 2 x 3"));
}

TEST(Survey, CountsCifarBatchesThatAreCut) {
  const TemporaryFolder folder;
  folder.write("data_batch_1.bin", std::string(3073, '\1'));
  const auto cut = folder.write("data_batch_2.bin", std::string(5000, '\1'));
  const auto empty = folder.write("test_batch.bin", "");
  const Survey survey = survey_dataset(folder.path());
  ASSERT_EQ(survey.bad_files.size(), 2U);
  EXPECT_EQ(survey.bad_files[0].path, cut);
  EXPECT_EQ(survey.bad_files[0].reason,
            quoted(cut) +
                " has 5000 bytes; expected a multiple of 3073, the size of a CIFAR-10 "
                "record");
  EXPECT_EQ(survey.bad_files[1].path, empty);
}

TEST(Survey, FilesMayBeGoodAloneAndDisagree) {
  const TemporaryFolder folder;
  write_mnist(folder);
  folder.write("t10k-labels-idx1-ubyte", idx({5}, 4));
  const Survey survey = survey_dataset(folder.path());
  ASSERT_EQ(survey.bad_files.size(), 1U);
  EXPECT_EQ(survey.bad_files[0].path, folder.path());
  EXPECT_NE(survey.bad_files[0].reason.find("has 5 labels"), std::string::npos);
}

TEST(Survey, LooksAtEveryPicture) {
  const TemporaryFolder folder;
  folder.write("a/1.png", encode_png({1, 2, 1, {10, 30}}));
  folder.write("a/2.png", encode_png({1, 2, 1, {10, 50}}));
  folder.write("a/3.png", encode_png({2, 2, 1, {0, 0, 0, 0}}));
  const auto bad = folder.write("b/1.png", "no image");
  folder.write("b/2.bmp", encode_bmp({1, 2, 1, {100, 200}}));
  const Survey survey = survey_dataset(folder.path());
  EXPECT_EQ(survey.format, "images");
  ASSERT_EQ(survey.parts.size(), 1U);
  EXPECT_EQ(survey.parts[0].samples, 4);
  EXPECT_EQ(survey.parts[0].samples_by_class, (std::vector<std::int64_t>{3, 1}));
  EXPECT_EQ(survey.parts[0].shapes.at({1, 2, 1}), 3);
  EXPECT_EQ(survey.parts[0].shapes.at({2, 2, 1}), 1);
  EXPECT_EQ(survey.parts[0].samples_range.most, 200);
  EXPECT_EQ(survey.parts[0].samples_range.count, 10);
  ASSERT_EQ(survey.bad_files.size(), 1U);
  EXPECT_EQ(survey.bad_files[0].path, bad);
}

TEST(Survey, CountsTheLabelsOfXrays) {
  const TemporaryFolder folder;
  folder.write("labels.csv",
               "file,split,patient,A,B\na.png,train,1,0,1\nb.png,train,2,1,1\nc.png,val,3,1,0\n");
  for (const char* name : {"a.png", "b.png", "c.png"}) {
    folder.write(name, encode_png(drawn_image(2, 2, 1)));
  }
  const Survey survey = survey_dataset(folder.path());
  EXPECT_EQ(survey.format, "chest-xray");
  ASSERT_EQ(survey.parts.size(), 2U);
  EXPECT_EQ(survey.parts[0].samples_by_class, (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(survey.parts[1].name, "validation");
}

TEST(Survey, CountsWhatIsNotFinite) {
  const float none = std::numeric_limits<float>::quiet_NaN();
  Splits pair;
  pair.train = testing::data_of(testing::records<float>({-1, none, 2}, {1}),
                                testing::records<float>({0, 1, 2, 3, 4, 5}, {2}));
  const Survey survey = survey_dataset(pair);
  ASSERT_EQ(survey.parts.size(), 1U);
  const PartSurvey& part = survey.parts[0];
  EXPECT_EQ(part.samples_range.not_finite, 1);
  EXPECT_EQ(part.samples_range.least, -1);
  EXPECT_DOUBLE_EQ(part.samples_range.mean, 0.5);
  EXPECT_DOUBLE_EQ(part.samples_range.std_dev, 1.5);
  EXPECT_EQ(part.value_shape, (Shape{2}));
  EXPECT_DOUBLE_EQ(part.values_range.mean, 2.5);
  EXPECT_TRUE(part.samples_by_class.empty());
}

}  // namespace
}  // namespace linnet::test
