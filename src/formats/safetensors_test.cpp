// SPDX-License-Identifier: Apache-2.0
#include "formats/safetensors.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "message_of.h"
#include "safetensors_file.h"
#include "temporary_folder.h"

namespace linnet {
namespace {

using testing::message_of;
using testing::safetensors_bytes;
using testing::TemporaryFolder;

template <class T>
TensorView view(std::string name, DType dtype, Shape shape, const T& values) {
  return {std::move(name), dtype, std::move(shape), std::as_bytes(std::span(values))};
}

std::vector<float> floats_of(const TensorView& view) {
  const Tensor tensor = to_tensor(view).to(DType::f32);
  EXPECT_EQ(tensor.shape(), view.shape);
  return {tensor.as<float>().begin(), tensor.as<float>().end()};
}

std::vector<std::string> names(const SafetensorsFile& file) {
  std::vector<std::string> all;
  for (const TensorView& tensor : file.tensors()) all.push_back(tensor.name);
  return all;
}

const std::array<float, 6> kWeights{1, -2, 3.5F, 0, 1e-30F, 1e30F};
const std::array<std::uint8_t, 3> kPixels{0, 127, 255};
const std::array<double, 1> kScalar{0.5};
const std::array<std::int32_t, 2> kIndices{-7, 2'000'000'000};
const std::array<std::uint16_t, 2> kHalves{0x3F80, 0xC040};  // 1 and -3 in bf16

TEST(Safetensors, ReadsBackWhatItWrote) {
  const TemporaryFolder folder;
  const std::vector<TensorView> tensors{view("z.weight", DType::f32, {2, 3}, kWeights),
                                        view("pixels", DType::u8, {3, 1}, kPixels),
                                        view("a \"quoted\" näme\n", DType::f64, {}, kScalar),
                                        {"empty", DType::f32, {4, 0}, {}},
                                        view("indices", DType::i32, {2}, kIndices),
                                        view("halves", DType::bf16, {2}, kHalves)};
  const std::map<std::string, std::string> metadata{{"linnet.network", "{\"a\": [1, 2]}"},
                                                    {"emoji 🐦", "line\nline"}};
  write_safetensors(folder / "file", tensors, metadata);
  const SafetensorsFile file = read_safetensors(folder / "file");
  EXPECT_EQ(file.metadata(), metadata);
  EXPECT_EQ(file.tensors().size(), tensors.size());
  for (const TensorView& expected : tensors) {
    const TensorView& tensor = file.at(expected.name);
    EXPECT_EQ(tensor.dtype, expected.dtype);
    EXPECT_EQ(tensor.shape, expected.shape);
    EXPECT_TRUE(std::equal(tensor.data.begin(), tensor.data.end(), expected.data.begin(),
                           expected.data.end()))
        << expected.name;
  }
  EXPECT_EQ(file.find("weight"), nullptr);
  EXPECT_EQ(message_of([&] { file.at("weight"); }),
            "'" + (folder / "file").string() + "' holds no tensor 'weight'");
}

TEST(Safetensors, KeepsHalvesWholeNumbersAndBools) {
  const TemporaryFolder folder;
  const std::array<std::int64_t, 2> whole{-1, 1LL << 40};
  const std::array<std::uint8_t, 2> bools{0, 1};
  const std::vector<TensorView> tensors{view("f16", DType::f16, {2}, kHalves),
                                        view("i64", DType::i64, {2}, whole),
                                        view("bool", DType::boolean, {2}, bools)};
  write_safetensors(folder / "file", tensors);
  const SafetensorsFile file = read_safetensors(folder / "file");
  for (const TensorView& expected : tensors) {
    const TensorView& tensor = file.at(expected.name);
    EXPECT_EQ(tensor.dtype, expected.dtype);
    EXPECT_TRUE(std::ranges::equal(tensor.data, expected.data)) << expected.name;
  }
}

TEST(Safetensors, WidensTheIntegersThatTensorsLack) {
  const TemporaryFolder folder;
  struct Case {
    std::string type;
    std::string bytes;
    DType dtype;
    double value;
  };
  const std::vector<Case> cases{{"I8", "\xFE", DType::i32, -2},
                                {"I16", "\xFE\xFF", DType::i32, -2},
                                {"U16", "\xFE\xFF", DType::i32, 65534},
                                {"U32", "\xFE\xFF\xFF\xFF", DType::i64, 4294967294.0},
                                {"U64", std::string("\2\0\0\0\0\0\0\0", 8), DType::i64, 2}};
  for (const Case& one : cases) {
    const std::string header = R"({"a":{"dtype":")" + one.type +
                               R"(","shape":[1],"data_offsets":[0,)" +
                               std::to_string(one.bytes.size()) + "]}}";
    write_file_atomically(folder / "file", safetensors_bytes(header) + one.bytes);
    const SafetensorsFile file = read_safetensors(folder / "file");
    EXPECT_EQ(file.at("a").dtype, one.dtype) << one.type;
    EXPECT_EQ(to_tensor(file.at("a")).to(DType::f64).item<double>(), one.value) << one.type;
  }
}

TEST(Safetensors, WritesTheFormatAsItIsDescribed) {
  const TemporaryFolder folder;
  const std::array<std::uint8_t, 2> b{'B', 'C'};
  const std::array<std::uint8_t, 1> a{'A'};
  write_safetensors(folder / "file",
                    std::vector{view("b", DType::u8, {2}, b), view("a", DType::u8, {1}, a)},
                    {{"k", "v"}});
  std::string header =
      R"({"__metadata__":{"k":"v"},"b":{"data_offsets":[0,2],"dtype":"U8","shape":[2]},)"
      R"("a":{"data_offsets":[2,3],"dtype":"U8","shape":[1]}})";
  header.resize((header.size() + 7) / 8 * 8, ' ');
  EXPECT_EQ(read_file(folder / "file"), safetensors_bytes(header) + "BCA");
  EXPECT_EQ(names(read_safetensors(folder / "file")), (std::vector<std::string>{"b", "a"}));
}

TEST(Safetensors, KeepsNothingAtAll) {
  const TemporaryFolder folder;
  write_safetensors(folder / "file", {});
  EXPECT_EQ(read_file(folder / "file"), safetensors_bytes("{}      "));
  EXPECT_TRUE(read_safetensors(folder / "file").tensors().empty());
}

TEST(Safetensors, KeepsItsViewsWhenMoved) {
  const TemporaryFolder folder;
  write_file_atomically(folder / "file", safetensors_bytes("{}"));  // short enough to be inline
  write_safetensors(folder / "file", std::vector{view("x", DType::u8, {3}, kPixels)});
  SafetensorsFile file = read_safetensors(folder / "file");
  const std::byte* address = file.at("x").data.data();
  const SafetensorsFile moved = std::move(file);
  EXPECT_EQ(moved.at("x").data.data(), address);
  EXPECT_EQ(std::to_integer<int>(moved.at("x").data[2]), 255);
}

TEST(Safetensors, ReadsWhatOthersWrite) {
  const TemporaryFolder folder;
  // No padding, so that the floats stand at an odd address; the header is not in order.
  write_file_atomically(folder / "file",
                        safetensors_bytes(
                            R"({"f":{"dtype":"F32","shape":[1],"data_offsets":[1,5]},)"
                            R"("b":{"shape":[],"data_offsets":[0,1],"dtype":"U8"}})") +
                            std::string("\x05\x00\x00\x80\x3f", 5));
  const SafetensorsFile file = read_safetensors(folder / "file");
  EXPECT_EQ(names(file), (std::vector<std::string>{"b", "f"}));
  EXPECT_EQ(floats_of(file.at("f")), std::vector<float>{1});
  EXPECT_EQ(floats_of(file.at("b")), std::vector<float>{5});
}

TEST(Safetensors, ConvertsToFloats) {
  EXPECT_EQ(floats_of(view("", DType::f32, {6}, kWeights)),
            std::vector<float>(kWeights.begin(), kWeights.end()));
  EXPECT_EQ(floats_of(view("", DType::u8, {3}, kPixels)), (std::vector<float>{0, 127, 255}));
  EXPECT_EQ(floats_of(view("", DType::f64, {}, kScalar)), std::vector<float>{0.5F});
  EXPECT_EQ(floats_of(view("", DType::i32, {2}, kIndices)), (std::vector<float>{-7, 2e9F}));
  EXPECT_EQ(floats_of(view("", DType::bf16, {2}, kHalves)), (std::vector<float>{1, -3}));
}

TEST(Safetensors, RefusesNamesThatNoFileCanHold) {
  const TemporaryFolder folder;
  const std::string path = (folder / "file").string();
  write_file_atomically(path, "old");
  const auto error = [&](const std::vector<std::string>& all,
                         const std::map<std::string, std::string>& metadata = {}) {
    std::vector<TensorView> tensors;
    for (const std::string& name : all) tensors.push_back(view(name, DType::u8, {3}, kPixels));
    return message_of([&] { write_safetensors(path, tensors, metadata); });
  };
  EXPECT_EQ(error({"x", "y", "x"}),
            "cannot write '" + path + "': the tensor name 'x' is empty, reserved or repeated");
  EXPECT_NE(error({"__metadata__"}), "");
  EXPECT_NE(error({""}), "");
  const std::string no_utf8 =
      "cannot write '" + path + "': a name or its metadata is not valid UTF-8";
  EXPECT_EQ(error({"\xff"}), no_utf8);
  EXPECT_EQ(error({"x"}, {{"\xff", "v"}}), no_utf8);
  EXPECT_EQ(error({"x"}, {{"k", "\xc3"}}), no_utf8);
  EXPECT_THROW(write_safetensors(path, std::vector{view("x", DType::f32, {1}, kPixels)}),
               InternalError);
  EXPECT_EQ(read_file(path), "old");
  EXPECT_EQ(message_of([&] { write_safetensors("/dev/full", {}); }),
            "cannot write '/dev/full': No space left on device");
}

}  // namespace
}  // namespace linnet
