// SPDX-License-Identifier: Apache-2.0
#include "datasets/chest_xray.h"

#include <linnet/dataset.h>

#include <set>

#include "data/contents.h"
#include "data/image_files.h"
#include "formats/csv.h"

namespace linnet::test {
namespace {

const std::string kHeader =
    "Image Index,Finding Labels,Follow-up #,Patient ID,Patient Age,Patient Gender\n";

/// Three images of each of `patients` patients, and their table.
void write_xrays(const TemporaryFolder& folder, int patients) {
  std::string csv = kHeader;
  for (int p = 1; p <= patients; ++p) {
    for (int i = 0; i < 3; ++i) {
      const std::string name = fmt::format("{:08}_{:03}.png", p, i);
      const char* labels = i == 0 ? "No Finding" : i == 1 ? "Hernia" : "Mass|Atelectasis";
      csv += fmt::format("{},{},{},{},58,M\n", name, labels, i, p);
      folder.write(fmt::format("images_{:03}/images/{}", p % 2, name),
                   encode_png(drawn_image(4, 4, 1)));
    }
  }
  folder.write("Data_Entry_2017.csv", csv);
}

std::set<std::string> patients_of(const std::vector<XrayImage>& images) {
  std::set<std::string> patients;
  for (const XrayImage& image : images) patients.insert(image.patient);
  return patients;
}

std::string error_of_index(const TemporaryFolder& folder) {
  return error_of([&] { index_chest_xray(folder.path()); });
}

TEST(Csv, ReadsQuotesAndCarriageReturns) {
  const TemporaryFolder folder;
  const auto path = folder.write("t.csv",
                                 "\xEF\xBB\xBF"
                                 "a,b\r\n1,\"x, \"\"y\"\"\n z\"\r\n\n,2");
  const CsvTable table = read_csv(path);
  EXPECT_EQ(table.columns, (std::vector<std::string>{"a", "b"}));
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_EQ(table.rows[0], (std::vector<std::string>{"1", "x, \"y\"\n z"}));
  EXPECT_EQ(table.rows[1], (std::vector<std::string>{"", "2"}));
  EXPECT_EQ(table.lines, (std::vector<std::size_t>{2, 5}));
  EXPECT_EQ(table.find("b"), 1U);
  EXPECT_FALSE(table.find("c").has_value());
}

TEST(Csv, NamesTheLineThatIsWrong) {
  const TemporaryFolder folder;
  const auto path = folder.write("t.csv", "a,b\n1,2\n1,2,3\n");
  EXPECT_EQ(error_of([&] { read_csv(path); }),
            "line 3 of " + quoted(path) +
                " has 3 fields; expected 2, one for each column of the first row");
  folder.write("t.csv", "a,b\n1,\"2\n");
  EXPECT_EQ(error_of([&] { read_csv(path); }),
            "line 2 of " + quoted(path) + " has a quote that does not end");
  folder.write("t.csv", "a,b\n1,\"2\"3\n");
  EXPECT_EQ(error_of([&] { read_csv(path); }),
            "line 2 of " + quoted(path) + " has text after a closing quote");
  folder.write("t.csv", "");
  EXPECT_EQ(error_of([&] { read_csv(path); }),
            quoted(path) + " is empty; expected a row of column names");
}

TEST(ChestXray, SplitsByPatient) {
  const TemporaryFolder folder;
  write_xrays(folder, 20);
  const XrayIndex index = index_chest_xray(folder.path());
  EXPECT_EQ(index.labels.size(), 14U);
  EXPECT_EQ(index.train.size(), 42U);
  EXPECT_EQ(index.validation.size(), 6U);
  EXPECT_EQ(index.test.size(), 12U);
  std::set<std::string> all = patients_of(index.train);
  all.merge(patients_of(index.validation));
  all.merge(patients_of(index.test));
  EXPECT_EQ(all.size(), 20U);
  EXPECT_EQ(patients_of(index.train).size() + patients_of(index.test).size(), 18U);
  EXPECT_EQ(patients_of(index_chest_xray(folder.path()).test), patients_of(index.test));
  EXPECT_NE(patients_of(index_chest_xray(folder.path(), {.seed = 1}).test),
            patients_of(index.test));
  const XrayIndex ordered = index_chest_xray(folder.path(), {.order = PatientOrder::by_name});
  EXPECT_EQ(patients_of(ordered.test), (std::set<std::string>{"17", "18", "19", "20"}));
}

TEST(ChestXray, LoadsLabelsAsValues) {
  const TemporaryFolder folder;
  write_xrays(folder, 10);
  const Splits parts = load_dataset(folder.path());
  const XrayIndex index = index_chest_xray(folder.path());
  EXPECT_EQ(parts.validation.size(), static_cast<std::int64_t>(index.validation.size()));
  EXPECT_EQ(parts.test.size(), static_cast<std::int64_t>(index.test.size()));
  EXPECT_EQ(sample_shape(parts.train), (Shape{4, 4, 3}));
  EXPECT_EQ(value_shape(parts.train), (Shape{14}));
  EXPECT_EQ(parts.train.size(), 21);
  const std::vector<float> found = values(parts.train);
  EXPECT_EQ(std::vector<float>(found.begin(), found.begin() + 14), std::vector<float>(14, 0));
  EXPECT_EQ(found[14 + 7], 1) << "Hernia";
  EXPECT_EQ(found[28 + 0] + found[28 + 9], 2) << "Atelectasis and Mass";
  EXPECT_EQ(found[28 + 7], 0);
  EXPECT_EQ(parts.train.classes()[7], "Hernia");
  for (const Dataset* part : {&parts.train, &parts.validation, &parts.test}) part->check_labels();
  const std::vector<std::uint8_t> grey = drawn_image(4, 4, 1).pixels;
  EXPECT_EQ(bytes(parts.train)[3], grey[1]);
  EXPECT_EQ(bytes(parts.train)[5], grey[1]);
  const Splits small = load_dataset(folder.path(), {.streamed = true, .size = {2, 2}});
  EXPECT_EQ(sample_shape(small.validation), (Shape{2, 2, 3}));
  EXPECT_EQ(values(small.validation), values(parts.validation));
}

TEST(ChestXray, TakesTheOfficialLists) {
  const TemporaryFolder folder;
  write_xrays(folder, 10);
  std::string train;
  std::string test;
  for (int p = 1; p <= 10; ++p) {
    for (int i = 0; i < 3; ++i) (p <= 2 ? test : train) += fmt::format("{:08}_{:03}.png\n", p, i);
  }
  const auto train_list = folder.write("train_val_list.txt", train);
  const auto test_list = folder.write("test_list.txt", test);
  const XrayIndex index = index_chest_xray(folder.path());
  EXPECT_EQ(patients_of(index.test), (std::set<std::string>{"1", "2"}));
  EXPECT_EQ(index.validation.size(), 3U);
  EXPECT_EQ(index.train.size(), 21U);
  folder.write("test_list.txt", test + "00000003_000.png\n");
  EXPECT_EQ(error_of_index(folder), "the image '00000003_000.png' is in both of " +
                                        quoted(train_list) + " and " + quoted(test_list));
}

TEST(ChestXray, ReadsATableOfColumns) {
  const TemporaryFolder folder;
  const auto csv = folder.write("nih/labels.csv",
                                "file,split,patient,age,A,B\na.png,train,1,50,0,1\n"
                                "b.png,valid,2,60,1,1\nc.png,test,3,70,0,0\n");
  for (const char* name : {"nih/a.png", "nih/b.png", "nih/c.png"}) {
    folder.write(name, encode_png(drawn_image(2, 3, 1)));
  }
  const Splits parts = load_dataset(folder / "nih");
  EXPECT_EQ(values(parts.train), (std::vector<float>{0, 1}));
  EXPECT_EQ(values(parts.validation), (std::vector<float>{1, 1}));
  EXPECT_EQ(parts.test.size(), 1);
  EXPECT_EQ(parts.test.classes(), (std::vector<std::string>{"A", "B"}));
  EXPECT_EQ(load_dataset(folder.path()).train.size(), 1);
  folder.write("nih/labels.csv", "file,split,patient,A\na.png,train,1,yes\n");
  EXPECT_EQ(error_of([&] { load_dataset(folder / "nih"); }),
            "line 2 of " + quoted(csv) + " has 'yes' for A; expected 0 or 1");
  folder.write("nih/labels.csv", "file,split,patient,A\na.png,dev,1,1\n");
  EXPECT_EQ(error_of([&] { load_dataset(folder / "nih"); }),
            "line 2 of " + quoted(csv) + " has the split 'dev'; expected train, valid or test");
}

TEST(ChestXray, ColumnsAreNamedOnceInUtf8) {
  const TemporaryFolder folder;
  folder.write("a.png", encode_png(drawn_image(4, 4, 1)));
  const auto csv = folder.write("labels.csv", "file,patient,A,caf\xE9\na.png,1,1,0\n");
  EXPECT_EQ(error_of_index(folder),
            "column 4 of " + quoted(csv) +
                " is called 'caf\\xE9', which is not UTF-8; convert the file to UTF-8");
  folder.write("labels.csv", "file,patient,A,B,A\na.png,1,1,0,0\n");
  EXPECT_EQ(error_of_index(folder), quoted(csv) + " has two columns 'A'");
}

TEST(ChestXray, NamesWhatIsWrongOrMissing) {
  const TemporaryFolder folder;
  const auto csv = folder.write("Data_Entry_2017.csv", kHeader + "a.png,Mass|Cold,0,1,58,M\n");
  EXPECT_TRUE(error_of_index(folder).starts_with("line 2 of " + quoted(csv) +
                                                 " has the unknown label 'Cold'; expected "));
  folder.write("Data_Entry_2017.csv", "Image Index,Finding Labels\na.png,Mass\n");
  EXPECT_EQ(error_of_index(folder), quoted(csv) +
                                        " has no column 'Patient ID'; its columns are "
                                        "Image Index, Finding Labels");
  std::string rows = kHeader;
  for (const char* name : {"a", "b", "c", "d", "e"})
    rows += fmt::format("{}.png,Mass,0,1,58,M\n", name);
  folder.write("Data_Entry_2017.csv", rows);
  folder.write("images/b.png", encode_png(drawn_image(2, 2, 1)));
  EXPECT_EQ(error_of_index(folder),
            "4 of the 5 images that " + quoted(csv) +
                " names are missing in its folder: a.png, c.png, d.png, ...");
}

}  // namespace
}  // namespace linnet::test
