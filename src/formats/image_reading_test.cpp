// SPDX-License-Identifier: Apache-2.0
// Orientation and range: how the samples of image files follow from what the files store.
#include <gtest/gtest.h>

#include "data/contents.h"
#include "data/image_files.h"
#include "datasets/survey.h"
#include "formats/exif.h"
#include "formats/image_header.h"

namespace linnet::test {
namespace {

using std::string_literals::operator""s;
using std::string_view_literals::operator""sv;

using Pixels = std::vector<std::uint8_t>;

constexpr ImageReading kUpright{.exif = Exif::apply, .white = 65535};

Image small_image() { return {2, 3, 1, {1, 2, 3, 4, 5, 6}}; }

TEST(Exif, TurnsAndMirrorsAsViewersDo) {
  const std::vector<Pixels> wanted{{1, 2, 3, 4, 5, 6}, {3, 2, 1, 6, 5, 4}, {6, 5, 4, 3, 2, 1},
                                   {4, 5, 6, 1, 2, 3}, {1, 4, 2, 5, 3, 6}, {4, 1, 5, 2, 6, 3},
                                   {6, 3, 5, 2, 4, 1}, {3, 6, 2, 5, 1, 4}};
  for (std::uint32_t orientation = 1; orientation <= 8; ++orientation) {
    for (const bool big : {true, false}) {
      const std::string file = with_exif(encode_png(small_image()), orientation, big);
      const Image image = decode_image(file, "x", kUpright);
      EXPECT_EQ(image.pixels, wanted[orientation - 1]) << orientation;
      EXPECT_EQ(image.height, orientation < 5 ? 2 : 3) << orientation;
      const ImageHeader header = image_header(file, Exif::apply);
      EXPECT_EQ(header.height, image.height) << orientation;
      EXPECT_EQ(header.width, image.width) << orientation;
      EXPECT_EQ(decode_image(file, "x").pixels, small_image().pixels);
    }
  }
  const std::string photo = with_exif(jpeg(77, 8, 16, 3), 6);
  EXPECT_EQ(decode_image(photo, "x", kUpright).height, 16);
  EXPECT_EQ(decode_image(photo, "x").height, 8);
  EXPECT_EQ(image_header(photo, Exif::apply).height, 16);
}

// Cameras leave bytes between segments, and libjpeg skips them.
TEST(Exif, IsFoundAfterStrayBytes) {
  for (const std::string_view stray : {"\xff\xff\xff"sv, "ab"sv, "\xff\0x"sv, "\xff\x01"sv}) {
    std::string photo = with_exif(jpeg(77, 8, 16, 3), 6);
    photo.insert(2, "\xff\xfe\0\2"s.append(stray));  // after an empty comment
    EXPECT_EQ(decode_image(photo, "x", kUpright).height, 16) << stray;
    EXPECT_EQ(image_header(photo, Exif::apply).height, 16) << stray;
  }
}

TEST(Exif, DamagedDataTurnNothing) {
  const std::string png = encode_png(small_image());
  for (const std::uint32_t orientation : {0U, 9U, 65535U}) {
    EXPECT_EQ(exif_orientation(with_exif(png, orientation)), 1) << orientation;
  }
  const std::string whole = with_exif(jpeg(77, 8, 16, 3), 6);
  // Every prefix says 6, 1, or that it is too short to say.
  for (std::size_t size = 0; size < 38; ++size) {
    EXPECT_NE(exif_orientation(whole.substr(0, size)), 6) << size;
  }
  EXPECT_EQ(exif_orientation(whole.substr(0, 60)), 6);
  for (std::size_t at = 0; at < 46; ++at) {
    std::string damaged = whole;
    damaged[at] = '\xff';
    const int orientation = exif_orientation(damaged);
    EXPECT_TRUE(orientation >= 0 && orientation <= 8) << at;
  }
}

TEST(Exif, DataSetsAreUprightUnlessToldOtherwise) {
  const TemporaryFolder folder;
  for (const char* name : {"a/1.png", "b/1.png"}) {
    folder.write(name, with_exif(encode_png(small_image()), 6));
  }
  for (const bool streamed : {false, true}) {
    const Dataset data = load_dataset(folder.path(), {.streamed = streamed}).train;
    EXPECT_EQ(data.inputs()[0].record(), (Shape{3, 2, 1}));
    EXPECT_EQ(data.info().images, kUpright);
  }
  EXPECT_EQ(bytes(load_dataset(folder.path()).train, 0, 6), (Pixels{4, 1, 5, 2, 6, 3}));
  const Dataset stored = load_dataset(folder.path(), {.exif = Exif::ignore}).train;
  EXPECT_EQ(bytes(stored, 0, 6), small_image().pixels);
  EXPECT_EQ(stored.info().images.exif, Exif::ignore);
}

TEST(SixteenBits, TheRangeOfTheTrainingSetBecomesBytes) {
  const TemporaryFolder folder;
  folder.write("train/a/1.png", wide_png({0, 200, 3000}));
  folder.write("train/b/1.png", wide_png({2048, 4095, 7}));
  folder.write("test/a/1.png", wide_png({4095, 9000, 16}));
  for (const bool streamed : {false, true}) {
    const Splits data = load_dataset(folder.path(), {.streamed = streamed});
    EXPECT_EQ(data.train.info().images.white, 4095);
    EXPECT_EQ(data.train.info().notes,
              std::vector<std::string>{
                  "2 training images of '" + data.train.info().name +
                  "' have 16 bits a sample, at most 4095: 0 to 4095 becomes 0 to 255 (set white "
                  "to choose the sample that becomes 255)"});
  }
  const Splits data = load_dataset(folder.path());
  EXPECT_EQ(bytes(data.train), (Pixels{0, 12, 187, 128, 255, 0}));
  EXPECT_EQ(bytes(data.test), (Pixels{255, 255, 1}));
  EXPECT_EQ(bytes(load_dataset(folder.path(), {.white = 65535}).train),
            (Pixels{0, 1, 12, 8, 16, 0}));
  // As version 0.1 read them.
  EXPECT_EQ(bytes(load_dataset(folder.path(), {.white = 0}).train), (Pixels{0, 0, 11, 8, 15, 0}));
  EXPECT_EQ(error_of([&] { load_dataset(folder.path(), {.white = 70000}); }),
            "expected a sample of 16-bit images that becomes white, from 1 to 65535, or 0; got "
            "70000");
}

TEST(SixteenBits, SmallValuesAreNotBlack) {
  const TemporaryFolder folder;
  folder.write("a/1.png", wide_png({0, 1, 200}));
  folder.write("b/1.png", wide_png({3, 99, 255}));
  EXPECT_EQ(bytes(load_dataset(folder.path()).train), (Pixels{0, 1, 200, 3, 99, 255}));
  EXPECT_EQ(white_for(255), 255);
  EXPECT_EQ(white_for(256), 511);
  EXPECT_EQ(white_for(65535), 65535);
  EXPECT_EQ(white_for(0), 255);
}

TEST(SixteenBits, SurveysSayTheRange) {
  const TemporaryFolder folder;
  folder.write("a/1.png", wide_png({0, 1, 1000}));
  folder.write("b/1.png", encode_png(small_image()));
  const Survey survey = survey_dataset(folder.path());
  EXPECT_EQ(survey.notes, std::vector<std::string>{
                              "1 image has 16 bits a sample, at most 1000; a training makes 0 to "
                              "1023 bytes (--white chooses another range)"});
}

}  // namespace
}  // namespace linnet::test
