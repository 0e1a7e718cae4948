// SPDX-License-Identifier: Apache-2.0
#include <linnet/dataset.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "data/data_files.h"
#include "data/targets.h"
#include "data_sets.h"

namespace linnet::test {
namespace {

using testing::records;
using testing::vector_of;

Tensor floats(std::int64_t count, const Shape& record = {}) {
  std::vector<float> values(static_cast<std::size_t>(count * record.elements()));
  std::iota(values.begin(), values.end(), 0.0F);
  return Tensor(std::move(values), record.batched(count));
}

Dataset small() {
  return Dataset({{"x", records<std::uint8_t>({1, 2, 3, 4, 5, 6}, {2})}},
                 {{"label", Tensor(std::vector<std::int32_t>{0, 2, 1})}});
}

/// Rows of f32 that hold their number.
class Numbers final : public RecordSource {
 public:
  explicit Numbers(std::int64_t size, DType dtype = DType::f32, Shape record = {2})
      : size_(size), dtype_(dtype), record_(record) {}
  std::int64_t size() const override { return size_; }
  DType dtype() const override { return dtype_; }
  Shape record() const override { return record_; }
  void read(std::int64_t index, std::span<std::byte> to) const override {
    const std::array<float, 2> row{static_cast<float>(index), 0.5F};
    std::ranges::copy(std::as_bytes(std::span(row)), to.begin());
  }

 private:
  std::int64_t size_;
  DType dtype_;
  Shape record_;
};

float first_number(const RecordSource& source, std::int64_t index) {
  std::array<float, 2> row{};
  source.read(index, std::as_writable_bytes(std::span(row)));
  return row[0];
}

TEST(Dataset, HoldsColumnsAsTheyAre) {
  const Dataset data = small();
  EXPECT_EQ(data.size(), 3);
  ASSERT_EQ(data.inputs().size(), 1U);
  const Column& x = data.column("x");
  EXPECT_EQ(x.size(), 3);
  EXPECT_EQ(x.dtype(), DType::u8);
  EXPECT_EQ(x.record(), Shape{2});
  EXPECT_EQ(vector_of<std::int32_t>(data.column("label").data),
            (std::vector<std::int32_t>{0, 2, 1}));
  EXPECT_TRUE(data.classes().empty());
  EXPECT_EQ(data.info().name, "data");
  EXPECT_EQ(error_of([&] { data.column("y"); }),
            "the data set 'data' has no column 'y'; it has 'x', 'label'");
}

TEST(Dataset, IsEmptyAtFirst) {
  const Dataset data;
  EXPECT_EQ(data.size(), 0);
  EXPECT_TRUE(data.inputs().empty() && data.targets().empty() && data.classes().empty());
  EXPECT_NO_THROW(data.check_labels());
  EXPECT_EQ(error_of([&] { data.column("x"); }),
            "the data set 'data' has no column 'x'; it has none");
  EXPECT_EQ(data.rows(0, 0).size(), 0);
  EXPECT_EQ(data.take({}).size(), 0);
}

TEST(Dataset, ReadsBorrowedMemoryWhereItLies) {
  std::vector<float> samples(6);
  const std::vector<std::int32_t> labels{0, 1};
  const Dataset data({{"x", Tensor::borrow(samples, {2, 3})}},
                     {{"label", Tensor::borrow(labels, {2, 1})}});
  EXPECT_EQ(data.inputs()[0].data.as<float>().data(), samples.data());
  EXPECT_EQ(labels_of(data).data(), labels.data());
  EXPECT_EQ(data.targets()[0].record(), Shape{}) << "labels (N, 1) are (N)";
}

TEST(Dataset, ConvertsOtherTypes) {
  const Tensor ones(std::vector<float>{0, 1}, {2, 1});
  for (const auto& [given, input, target] : {std::tuple(DType::f64, DType::f32, DType::f32),
                                             {DType::f16, DType::f32, DType::f32},
                                             {DType::bf16, DType::f32, DType::f32},
                                             {DType::i64, DType::i32, DType::i32},
                                             {DType::boolean, DType::u8, DType::i32},
                                             {DType::u8, DType::u8, DType::i32},
                                             {DType::i32, DType::i32, DType::i32}}) {
    const Dataset data({{"x", ones.to(given)}}, {{"y", ones.to(given)}});
    EXPECT_EQ(data.column("x").dtype(), input) << to_string(given);
    EXPECT_EQ(data.column("y").dtype(), target) << to_string(given);
    EXPECT_TRUE(same_bits(data.column("x").data.to(DType::f32), ones));
  }
  EXPECT_EQ(error_of([] {
              Dataset({{"id", Tensor(std::vector<std::int64_t>{1, 1LL << 40})}});
            }),
            "the column 'id' is read as i32: element 1 is 1099511627776, which i32 cannot hold");
}

TEST(Dataset, RefusesColumnsThatDoNotGoTogether) {
  EXPECT_EQ(error_of([] {
              Dataset({{"x", floats(3, {2})}}, {{"y", floats(2)}});
            }),
            "the column 'y' has 2 records, but 'x' has 3; expected one record of each for every sample");
  EXPECT_EQ(error_of([] {
              Dataset({{"x", floats(3)}}, {{"x", floats(3)}});
            }),
            "two columns of a data set are called 'x'");
  EXPECT_EQ(error_of([] { Dataset({{"", floats(3)}}); }), "an input of a data set has no name");
  EXPECT_EQ(error_of([] {
              Dataset({{"x", floats(3)}}, {{"", floats(3)}});
            }),
            "a target of a data set has no name");
  EXPECT_EQ(error_of([] {
              Dataset({{"x", Tensor(DType::f32, {3, 2, 0})}});
            }),
            "the records of the column 'x' are (2, 0); expected dims of at least 1");
  EXPECT_EQ(error_of([] {
              Dataset({{"x", Tensor(DType::f32, {})}});
            }),
            "the column 'x' is a single number; expected records (N, ...)");
}

TEST(Dataset, RefusesSourcesItCannotRead) {
  const auto source = [](DType dtype, Shape record) {
    return std::make_shared<Numbers>(3, dtype, record);
  };
  EXPECT_EQ(error_of([&] { Dataset({{.name = "x", .source = source(DType::f64, {2})}}); }),
            "the source of the column 'x' gives f64; expected u8, f32 or i32");
  EXPECT_EQ(error_of([&] { Dataset({{.name = "x", .source = source(DType::f32, {0})}}); }),
            "the records of the column 'x' are (0); expected dims of at least 1");
  EXPECT_EQ(error_of([&] {
              Dataset({{"x", floats(3)}}, {{.name = "y", .source = source(DType::i32, {})}});
            }),
            "the source of the target 'y' gives i32; expected f32 values, or labels in memory");
  EXPECT_EQ(error_of([&] {
              Dataset({{"x", floats(3), source(DType::f32, {2})}});
            }),
            "the column 'x' has its records both in memory and in a source");
}

TEST(Dataset, ChangesOneHandleAlone) {
  Dataset data = small();
  const Dataset before = data;
  data.set_classes({"a", "b", "c"});
  EXPECT_EQ(data.classes().size(), 3U);
  EXPECT_TRUE(before.classes().empty());
  EXPECT_EQ(data.inputs()[0].data.bytes().data(), before.inputs()[0].data.bytes().data());
  data.set_info({.name = "other", .classes = {"d"}});
  EXPECT_EQ(data.info().name, "other");
}

TEST(Dataset, ClassNamesAreUtf8AndDiffer) {
  Dataset data = small();
  EXPECT_EQ(error_of([&] {
              data.set_classes({"a", "caf\xE9"});
            }),
            "the name 'caf\\xE9' of class 1 in 'data' is not UTF-8, which a model file needs");
  EXPECT_EQ(error_of([&] {
              data.set_classes({"a", "b", "a"});
            }),
            "two classes of 'data' are called 'a'");
  EXPECT_EQ(error_of([&] {
              data.set_info({.name = "n", .classes = {"a", "a"}});
            }),
            "two classes of 'n' are called 'a'");
}

TEST(Dataset, NamesTheLabelThatIsOutside) {
  Dataset data = small();
  EXPECT_NO_THROW(data.check_labels()) << "classes are not known";
  data.set_info({.name = "name", .classes = {"a", "b"}});
  EXPECT_EQ(error_of([&] { data.check_labels(); }),
            "label 2 of sample 1 in 'name' is outside [0, 2)");
  EXPECT_NO_THROW(data.check_labels(2)) << "ignored";
  const Dataset negative({{"x", floats(2)}}, {{"y", Tensor(std::vector<std::int32_t>{0, -1})}},
                         {.name = "name", .classes = {"a", "b"}});
  EXPECT_EQ(error_of([&] { negative.check_labels(2); }),
            "label -1 of sample 1 in 'name' is outside [0, 2)");
}

TEST(Dataset, RowsShareTheMemory) {
  Dataset data = small();
  data.set_info(
      {.name = "n", .classes = {"a", "b", "c"}, .samples_file = "x.npy", .targets_file = "y.npy"});
  const Dataset part = data.rows(1, 3);
  EXPECT_EQ(part.size(), 2);
  EXPECT_EQ(part.inputs()[0].data.bytes().data(), data.inputs()[0].data.bytes().data() + 2);
  EXPECT_EQ(vector_of<std::int32_t>(part.targets()[0].data), (std::vector<std::int32_t>{2, 1}));
  EXPECT_EQ(part.classes(), data.classes());
  // Row 0 is not the file's any more; errors must not name it.
  EXPECT_TRUE(part.info().samples_file.empty() && part.info().targets_file.empty());
  EXPECT_EQ(data.rows(0, 2).info().samples_file, "x.npy");
  EXPECT_EQ(data.rows(3, 3).size(), 0);
  EXPECT_EQ(error_of([&] { data.rows(2, 4); }),
            "the data set 'n' of 3 samples has no samples [2, 4)");
}

TEST(Dataset, TakeCopiesInTheOrderGiven) {
  std::vector<std::uint8_t> pixels{1, 2, 3, 4, 5, 6};
  const Dataset data({{"x", Tensor::borrow(pixels, {3, 2})}},
                     {{"y", Tensor(std::vector<std::int32_t>{0, 2, 1})}},
                     {.name = "n", .classes = {"a", "b", "c"}, .samples_file = "x.npy"});
  const Dataset taken = data.take(std::vector<std::int64_t>{2, 0, 2});
  pixels.assign(6, 9);
  EXPECT_EQ(vector_of<std::uint8_t>(taken.inputs()[0].data),
            (std::vector<std::uint8_t>{5, 6, 1, 2, 5, 6}));
  EXPECT_EQ(vector_of<std::int32_t>(taken.targets()[0].data), (std::vector<std::int32_t>{1, 0, 1}));
  EXPECT_EQ(taken.info().name, "n");
  EXPECT_TRUE(taken.info().samples_file.empty());
  EXPECT_EQ(error_of([&] {
              data.take(std::vector<std::int64_t>{0, 3});
            }),
            "the data set 'n' of 3 samples has no sample 3");
  EXPECT_EQ(error_of([&] { data.take(std::vector<std::int64_t>{-1}); }),
            "the data set 'n' of 3 samples has no sample -1");
}

TEST(Dataset, WeightsAndLengthsGoWithTheirSamples) {
  Dataset data({{.name = "x",
                 .data = floats(4, {3}),
                 .lengths = Tensor(std::vector<std::int64_t>{3, 1, 2, 3})}},
               {{.name = "y",
                 .data = floats(4, {3}),
                 .lengths = Tensor(std::vector<std::int32_t>{0, 1, 2, 3})}});
  Dataset weighted = data;
  weighted.set_weights(Tensor(std::vector<double>{0.5, 1, 0, 2}, {4, 1}));
  EXPECT_FALSE(weighted.same_as(data));
  EXPECT_EQ(data.weights().elements(), 0);
  const auto lengths = [](const Dataset& of, std::string_view name) {
    return vector_of<std::int32_t>(of.column(name).lengths);
  };
  const Dataset rows = weighted.rows(1, 3);
  EXPECT_EQ(vector_of(rows.weights()), (std::vector<float>{1, 0}));
  EXPECT_EQ(lengths(rows, "x"), (std::vector<std::int32_t>{1, 2}));
  const Dataset taken = weighted.take(std::vector<std::int64_t>{3, 0});
  EXPECT_EQ(vector_of(taken.weights()), (std::vector<float>{2, 0.5}));
  EXPECT_EQ(lengths(taken, "x"), (std::vector<std::int32_t>{3, 3}));
  EXPECT_EQ(lengths(taken, "y"), (std::vector<std::int32_t>{3, 0}));
  const auto [most, one] = weighted.split(0.25, {.seed = 3});
  EXPECT_EQ(most.weights().shape(), Shape{3});
  EXPECT_EQ(one.weights().shape(), Shape{1});
  EXPECT_EQ(with_first_target(weighted, floats(4, {3})).weights().elements(), 4);
  EXPECT_EQ(lengths(with_input(weighted, 0, weighted.column("x")), "x"), lengths(data, "x"));
  weighted.set_weights({});
  EXPECT_EQ(weighted.weights().elements(), 0);
  EXPECT_TRUE(weighted.same_as(data));
}

TEST(Dataset, RefusesWeightsAndLengthsThatSayNothing) {
  Dataset data = small();
  EXPECT_EQ(error_of([&] { data.set_weights(floats(2)); }),
            "the weights of 'data' are (2); expected (3), or (3, steps)");
  EXPECT_EQ(error_of([&] {
              data.set_weights(Tensor(std::vector<float>{1, -2, 3}));
            }),
            "the weight 1 of 'data' is -2; expected finite weights of at least 0");
  EXPECT_EQ(error_of([&] {
              data.set_weights(Tensor(std::vector<float>{1, 2, NAN}));
            }),
            "the weight 2 of 'data' is nan; expected finite weights of at least 0");
  const auto with = [](Tensor lengths) {
    return Dataset({{.name = "x", .data = floats(2, {3}), .lengths = std::move(lengths)}});
  };
  EXPECT_EQ(error_of([&] { with(floats(2)); }),
            "the lengths of the column 'x' are f32 (2); expected i32 or i64 (2)");
  EXPECT_EQ(error_of([&] {
              with(Tensor(std::vector<std::int32_t>{1, 2, 3}));
            }),
            "the lengths of the column 'x' are i32 (3); expected i32 or i64 (2)");
  EXPECT_EQ(error_of([&] {
              with(Tensor(std::vector<std::int32_t>{1, 4}));
            }),
            "the length of sample 1 in the column 'x' is 4; expected 1 to 3");
  EXPECT_EQ(error_of([&] {
              with(Tensor(std::vector<std::int32_t>{0, 3}));
            }),
            "the length of sample 0 in the column 'x' is 0; expected 1 to 3");
  EXPECT_EQ(error_of([&] {
              Dataset({{.name = "x", .data = floats(1), .lengths = Tensor(std::vector<int>{1})}});
            }),
            "the column 'x' has lengths, but its records are single numbers; expected (N, steps, "
            "...)");
}

TEST(Dataset, LengthsOfIdsEndBeforeThePadding) {
  const Tensor ids(std::vector<std::int32_t>{5, 0, 7, 0, 0, 0, 0, 0, 1, 1, 1, 1}, {3, 4});
  EXPECT_EQ(vector_of<std::int32_t>(lengths_of(ids)), (std::vector<std::int32_t>{3, 1, 4}));
  EXPECT_EQ(vector_of<std::int32_t>(lengths_of(ids, 1)), (std::vector<std::int32_t>{4, 4, 1}));
  EXPECT_EQ(error_of([] { lengths_of(floats(2, {3})); }),
            "expected ids i32 (N, steps); got f32 (2, 3)");
}

TEST(Dataset, LengthsOfAMaskEndWithItsOnes) {
  const Tensor mask(std::vector<float>{1, 0, 0, 1, 1, 1}, {2, 3});
  EXPECT_EQ(vector_of<std::int32_t>(lengths_of_mask(mask)), (std::vector<std::int32_t>{1, 3}));
  EXPECT_EQ(vector_of<std::int32_t>(lengths_of_mask(mask.to(DType::boolean))),
            (std::vector<std::int32_t>{1, 3}));
  const auto error = [](const std::vector<int>& numbers) {
    return error_of([&] { lengths_of_mask(Tensor(numbers, {1, 3})); });
  };
  for (const auto& bad : {std::vector{1, 0, 1}, {0, 0, 0}, {0, 1, 1}, {1, 2, 0}}) {
    EXPECT_EQ(error(bad), "row 0 of the mask must be ones and then zeros, at least one 1");
  }
  EXPECT_EQ(error_of([] { lengths_of_mask(floats(2)); }), "expected a mask (N, steps); got (2)");
}

TEST(Dataset, PartsOfASourceAreReadLater) {
  const Dataset data({{.name = "x", .source = std::make_shared<Numbers>(10)}}, {{"y", floats(10)}});
  EXPECT_EQ(data.column("x").record(), Shape{2});
  const Dataset part = data.rows(3, 8).take(std::vector<std::int64_t>{4, 0});
  const Column& x = part.column("x");
  EXPECT_EQ(x.size(), 2);
  EXPECT_EQ(x.dtype(), DType::f32);
  EXPECT_EQ(x.record(), Shape{2});
  EXPECT_EQ(first_number(*x.source, 0), 7);
  EXPECT_EQ(first_number(*x.source, 1), 3);
  EXPECT_EQ(vector_of(part.column("y").data), (std::vector<float>{7, 3}));
}

TEST(DatasetSplit, IsTheSameForASeedEverywhere) {
  const Dataset data({{"x", floats(20)}});
  const auto [others, share] = data.split(0.3, {.seed = 7});
  // Computed once: on any machine a seed gives these.
  EXPECT_EQ(vector_of(share.inputs()[0].data), (std::vector<float>{1, 6, 8, 11, 15, 16}));
  EXPECT_EQ(others.size(), 14);
  std::vector<float> all = vector_of(others.inputs()[0].data);
  EXPECT_TRUE(std::ranges::is_sorted(all));
  const std::vector<float> part = vector_of(share.inputs()[0].data);
  EXPECT_TRUE(std::ranges::is_sorted(part));
  all.insert(all.end(), part.begin(), part.end());
  std::ranges::sort(all);
  EXPECT_EQ(all, vector_of(data.inputs()[0].data)) << "each sample once";
  EXPECT_NE(vector_of(data.split(0.3, {.seed = 8}).second.inputs()[0].data), part);
}

TEST(DatasetSplit, TakesTheSameShareOfEveryClass) {
  std::vector<std::int32_t> labels;
  for (int i = 0; i < 1000; ++i) labels.push_back(i % 100 == 0 ? 2 : i % 3 == 0 ? 0 : 1);
  const Dataset data({{"x", floats(1000)}}, {{"y", Tensor(labels)}});
  for (const double share : {0.1, 0.25, 0.333, 0.5, 0.97}) {
    for (const std::uint64_t seed : {0, 1, 2}) {
      const auto [others, part] = data.split(share, {.seed = seed, .stratify = true});
      EXPECT_EQ(part.size(), std::llround(1000 * share));
      EXPECT_EQ(others.size(), 1000 - part.size());
      for (const std::int32_t label : {0, 1, 2}) {
        const auto wanted = share * static_cast<double>(std::ranges::count(labels, label));
        const auto got = static_cast<double>(std::ranges::count(labels_of(part), label));
        EXPECT_LT(std::abs(got - wanted), 1) << share << " of class " << label;
      }
    }
  }
  EXPECT_NE(vector_of(data.split(0.1, {.seed = 1, .stratify = true}).second.inputs()[0].data),
            vector_of(data.split(0.1, {.seed = 2, .stratify = true}).second.inputs()[0].data));
}

TEST(DatasetSplit, AnIgnoredLabelIsAClassOfItsOwn) {
  const Dataset data({{"x", floats(8)}},
                     {{"y", Tensor(std::vector<std::int32_t>{-1, 0, -1, 0, -1, 0, -1, 0})}});
  const auto [others, part] = data.split(0.5, {.stratify = true});
  EXPECT_EQ(std::ranges::count(labels_of(part), -1), 2);
  EXPECT_EQ(std::ranges::count(labels_of(others), -1), 2);
}

TEST(DatasetSplit, RefusesSharesThatLeaveNothing) {
  const Dataset data({{"x", floats(10)}});
  EXPECT_EQ(error_of([&] { data.split(1); }), "the share of a split must lie in [0, 1); got 1");
  EXPECT_EQ(error_of([&] { data.split(-0.1); }),
            "the share of a split must lie in [0, 1); got -0.1");
  EXPECT_EQ(error_of([&] { data.split(std::nan("")); }),
            "the share of a split must lie in [0, 1); got nan");
  EXPECT_EQ(error_of([&] { data.split(0.96); }),
            "a share of 0.96 of the 10 samples of 'data' leaves one set empty");
  EXPECT_EQ(error_of([&] { data.split(0.5, {.stratify = true}); }),
            "the data set 'data' has no labels; a stratified split needs labels");
  const auto [all, none] = data.split(0);
  EXPECT_EQ(all.size(), 10);
  EXPECT_EQ(none.size(), 0);
  EXPECT_EQ(none.column("x").record(), Shape{});
}

TEST(Targets, AreLabelsOrValues) {
  EXPECT_EQ(labels_of(small()).size(), 3U);
  EXPECT_TRUE(values_of(small()).empty());
  EXPECT_EQ(value_shape_of(small()), Shape{});
  const Dataset values({{"x", floats(2)}}, {{"y", floats(2, {3})}});
  EXPECT_TRUE(labels_of(values).empty());
  EXPECT_EQ(values_of(values).size(), 6U);
  EXPECT_EQ(value_shape_of(values), Shape{3});
  EXPECT_EQ(value_shape_of(Dataset({}, {{"y", floats(2)}})), Shape{1}) << "single numbers";
  EXPECT_EQ(value_shape_of(Dataset()), Shape{});
  const std::vector<std::int32_t> labels{1, -100, 0};
  EXPECT_EQ(classes_of(labels), 2);
  EXPECT_EQ(classes_of(labels, 1), 1);
}

}  // namespace
}  // namespace linnet::test
