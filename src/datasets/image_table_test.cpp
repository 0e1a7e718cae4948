// SPDX-License-Identifier: Apache-2.0
#include "datasets/image_table.h"

#include <gtest/gtest.h>
#include <linnet/dataset.h>

#include "data/contents.h"
#include "data/image_files.h"
#include "data/targets.h"
#include "datasets/load_dataset.h"
#include "datasets/survey.h"

namespace linnet::test {
namespace {

void write_images(const TemporaryFolder& folder) {
  for (const char* name : {"images/a.png", "images/b.png", "images/deep/c.png"}) {
    folder.write(name, encode_png(drawn_image(2, 3, 1)));
  }
}

TEST(ImageTable, OneColumnOfWordsMakesClasses) {
  const TemporaryFolder folder;
  write_images(folder);
  for (const char* name : {"labels.csv", "metadata.csv", "train.csv", "other.csv"}) {
    const auto path = folder.write(name, "file_name,kind\nimages/a.png,dog\nb,cat\nc.png,dog\n");
    EXPECT_EQ(find_dataset(folder.path()).kind, DataKind::image_table) << name;
    const Splits data = load_dataset(folder.path());
    EXPECT_EQ(data.train.classes(), (std::vector<std::string>{"cat", "dog"}));
    EXPECT_EQ(labels(data.train), (std::vector<std::int32_t>{1, 0, 1}));
    EXPECT_EQ(sample_shape(data.train), (Shape{2, 3, 1}));
    EXPECT_EQ(survey_dataset(folder.path()).parts.at(0).samples_by_class,
              (std::vector<std::int64_t>{1, 2}));
    std::filesystem::remove(path);
  }
}

TEST(ImageTable, NumbersMakeValues) {
  const TemporaryFolder folder;
  write_images(folder);
  folder.write("labels.csv",
               ",image,age,split\n0,a.png,1.5,train\n1,b.png,,train\n2,c.png,3,val\n");
  const Splits data = load_dataset(folder.path());
  EXPECT_EQ(data.train.targets()[0].name, "value");
  EXPECT_EQ(values_of(data.train)[0], 1.5F);
  EXPECT_EQ(data.train.size(), 1);
  EXPECT_EQ(values_of(data.validation)[0], 3);
  EXPECT_EQ(data.train.info().notes,
            std::vector<std::string>{"1 row of " + quoted(folder / "labels.csv") +
                                     " is left out: a target is empty"});
}

TEST(ImageTable, SeveralColumnsAreLabelsOrValues) {
  const TemporaryFolder folder;
  write_images(folder);
  folder.write("labels.csv", "id,red,round\na,0,1\nb,1,1\nc,1,0\n");
  const Splits data = load_dataset(folder.path());
  EXPECT_TRUE(is_multi_label(data.train));
  EXPECT_EQ(data.train.classes(), (std::vector<std::string>{"red", "round"}));
  const Splits one = load_dataset(folder.path(), {.targets = {"round"}});
  EXPECT_EQ(one.train.classes(), (std::vector<std::string>{"0", "1"}));
  EXPECT_EQ(labels(one.train), (std::vector<std::int32_t>{1, 1, 0}));
  EXPECT_EQ(error_of([&] { load_dataset(folder.path(), {.targets = {"blue"}}); }),
            quoted(folder / "labels.csv") +
                " has no column 'blue'; its columns are id, red, round");
  folder.write("labels.csv", "id,red,kind\na,0,x\nb,1,y\nc,1,x\n");
  EXPECT_EQ(error_of([&] { load_dataset(folder.path()); }),
            "line 2 of " + quoted(folder / "labels.csv") +
                " has 'x' in the column 'kind'; of several columns to learn each has to hold "
                "numbers: name those to learn with --target");
}

TEST(ImageTable, NamesWhatIsMissing) {
  const TemporaryFolder folder;
  write_images(folder);
  const auto table = folder.write("labels.csv", "file,kind\na.png,x\n../../etc/passwd,y\nd,y\n");
  EXPECT_EQ(error_of([&] { load_dataset(folder.path()); }),
            "2 of the 3 images that " + quoted(table) +
                " names are missing in its folder: ../../etc/passwd, d");
  folder.write("images/deep/a.png", encode_png(drawn_image(2, 3, 1)));
  folder.write("labels.csv", "file,kind\na.png,x\nb,y\n");
  EXPECT_EQ(error_of([&] { load_dataset(folder.path()); }),
            quoted(table) +
                " names the image 'a.png', but several in its folder are called so: "
                "name them by their paths in it");
  folder.write("labels.csv", "file,kind\nimages/a.png,x\nb,y\n");
  EXPECT_EQ(load_dataset(folder.path()).train.size(), 2);
}

TEST(ImageTable, ReadsWhatSpreadsheetsWrite) {
  const TemporaryFolder folder;
  write_images(folder);
  folder.write("images/__MACOSX/._a.png", "resource fork");
  const auto table = folder.write("labels.csv", "File;kind\r\nimages\\a.png;x\r\nb;y\r\n");
  EXPECT_EQ(load_dataset(folder.path()).train.classes(), (std::vector<std::string>{"x", "y"}));
  folder.write("labels.csv", "photo,kind\na.png,x\n");
  EXPECT_EQ(error_of([&] { load_dataset(folder.path()); }),
            quoted(table) +
                " has no column of the images' names, such as 'file'; its columns are "
                "photo, kind");
}

TEST(ImageTable, SurveysMeasureValues) {
  const TemporaryFolder folder;
  write_images(folder);
  folder.write("labels.csv", "file,age\na,1.5\nb,4\nc,9.5\n");
  const Survey survey = survey_dataset(folder.path());
  EXPECT_TRUE(survey.class_names.empty());
  EXPECT_EQ(survey.parts.at(0).values_range.mean, 5);
}

TEST(ImageTable, AFolderOfClassesKeepsItsOwnBesideATable) {
  const TemporaryFolder folder;
  for (const char* name : {"x/a.png", "y/b.png"}) {
    folder.write(name, encode_png(drawn_image(2, 3, 1)));
  }
  folder.write("notes.csv", "file,size\na.png,7\nb.png,9\n");
  EXPECT_EQ(find_dataset(folder.path()).kind, DataKind::images);
  folder.write("labels.csv", "kind,size\n1,7\n");  // names no files
  EXPECT_EQ(find_dataset(folder.path()).kind, DataKind::images);
}

}  // namespace
}  // namespace linnet::test
