// SPDX-License-Identifier: Apache-2.0
#include "datasets/image_folder.h"

#include <linnet/dataset.h>

#include "data/contents.h"
#include "data/image_files.h"
#include "data/image_transform.h"
#include "datasets/survey.h"

namespace linnet::test {
namespace {

const std::string kAdvice =
    "; --on-bad-image skip (in Python on_bad_image=\"skip\") leaves such files out";

std::string grey_png() { return encode_png(drawn_image(2, 3, 1)); }
std::string colour_png() { return encode_png(drawn_image(2, 3, 3)); }

TEST(ImageFolder, OneTreeIsAllTrainingPart) {
  const TemporaryFolder folder;
  folder.write("dog/b.png", grey_png());
  folder.write("dog/a.PNG", grey_png());
  folder.write("cat/x.jpeg", jpeg(50, 2, 3, 1));
  folder.write("cat/notes.txt", "passed over");
  folder.write("README.md", "passed over");
  folder.write(".hidden/x.png", "passed over");
  EXPECT_TRUE(holds_image_folders(folder.path()));
  const Splits pair = load_dataset(folder.path());
  EXPECT_EQ(pair.train.info().name, "linnet-ImageFolder-OneTreeIsAllTrainingPart");
  EXPECT_EQ(pair.train.classes(), (std::vector<std::string>{"cat", "dog"}));
  EXPECT_EQ(sample_shape(pair.train), (Shape{2, 3, 1}));
  EXPECT_EQ(labels(pair.train), (std::vector<std::int32_t>{0, 1, 1}));
  EXPECT_NEAR(bytes(pair.train)[0], 50, 2);
  EXPECT_EQ(bytes(pair.train, 6, 6), drawn_image(2, 3, 1).pixels);
  EXPECT_EQ(pair.test.size(), 0);
  EXPECT_EQ(sample_shape(pair.test), sample_shape(pair.train));
}

TEST(ImageFolder, TrainBesideTestOrVal) {
  for (const std::string other : {"test/", "val/"}) {
    const TemporaryFolder folder;
    folder.write("train/b/1.png", grey_png());
    folder.write("train/a/1.png", grey_png());
    folder.write(other + "b/1.png", grey_png());
    EXPECT_TRUE(holds_image_folders(folder.path()));
    const Splits pair = load_dataset(folder.path());
    EXPECT_EQ(pair.train.size(), 2);
    EXPECT_EQ(labels(pair.test), (std::vector<std::int32_t>{1})) << other;
    EXPECT_EQ(pair.test.classes(), pair.train.classes());
  }
}

TEST(ImageFolder, ValidationTreeBesideTest) {
  for (const std::string name : {"val", "valid", "validation"}) {
    const TemporaryFolder folder;
    for (const char* path : {"train/a/1.png", "train/b/1.png", "test/a/1.png", "test/b/1.png"}) {
      folder.write(path, grey_png());
    }
    folder.write(name + "/b/1.png", grey_png());
    const Splits splits = load_dataset(folder.path());
    EXPECT_EQ(splits.train.size(), 2) << name;
    EXPECT_EQ(labels(splits.validation), (std::vector<std::int32_t>{1})) << name;
    EXPECT_EQ(labels(splits.test), (std::vector<std::int32_t>{0, 1})) << name;
    folder.write(name + "/c/1.png", grey_png());
    EXPECT_EQ(error_of([&] { load_dataset(folder.path()); }),
              "the class 'c' of " + quoted(folder / name) + " is not one of those of " +
                  quoted(folder / "train"));
  }
}

TEST(ImageFolder, AValidationTreeWithoutClassesIsNoted) {
  const TemporaryFolder folder;
  for (const char* path : {"train/a/1.png", "train/b/1.png", "test/a/1.png", "val/1.png"}) {
    folder.write(path, grey_png());
  }
  const Splits splits = load_dataset(folder.path());
  EXPECT_EQ(splits.validation.size(), 0);
  EXPECT_EQ(splits.test.size(), 1);
  EXPECT_EQ(splits.train.info().notes,
            std::vector<std::string>{quoted(folder / "val") +
                                     " is left out: it holds no class folders with images"});
}

TEST(ImageFolder, NotesImagesThatAreLeftOut) {
  const TemporaryFolder folder;
  folder.write("a/1.png", grey_png());
  folder.write("b/1.png", grey_png());
  folder.write("b/notes.txt", "no image");
  folder.write("b/empty/notes.txt", "no image");
  EXPECT_TRUE(load_dataset(folder.path()).train.info().notes.empty());
  folder.write("a/2.gif", "GIF89a");
  folder.write("b/2.HEIC", "ftyp");
  folder.write("b/3.heic", "ftyp");
  folder.write("b/inner/1.png", grey_png());
  const std::vector<std::string> notes{
      "3 images of " + quoted(folder.path()) +
          " are left out (.gif, .heic): only PNG, JPEG, BMP, WebP and TIFF are read",
      "the images in " + quoted(folder / "b/inner") +
          " are left out: only those straight in a class folder are read"};
  EXPECT_EQ(load_dataset(folder.path()).train.info().notes, notes);
  EXPECT_EQ(survey_dataset(folder.path()).notes, notes);
}

TEST(ImageFolder, NamesOfClassesAreUtf8) {
  const TemporaryFolder folder;
  folder.write("caf\xC3\xA9/1.png", grey_png());
  EXPECT_EQ(load_dataset(folder.path()).train.classes(), (std::vector<std::string>{"caf\xC3\xA9"}));
  folder.write("caf\xE9/1.png", grey_png());
  EXPECT_EQ(error_of([&] { load_dataset(folder.path()); }),
            "the name of the class folder '" + (folder / "caf\\xE9").string() +
                "' is not UTF-8, which a model file needs; rename it");
}

TEST(ImageFolder, ClassesTxtNamesEachClassOnceInUtf8) {
  const TemporaryFolder folder;
  folder.write("cat/1.png", grey_png());
  const auto list = folder.write("classes.txt", "cat\n\nemu\n cat \n");
  EXPECT_EQ(error_of([&] { load_dataset(folder.path()); }),
            quoted(list) + " names the class 'cat' twice, in lines 1 and 4");
  folder.write("classes.txt", "cat\n\ncaf\xE9\n");
  EXPECT_EQ(error_of([&] { load_dataset(folder.path()); }),
            "line 3 of " + quoted(list) +
                " names the class 'caf\\xE9', which is not UTF-8; convert the file to UTF-8");
}

TEST(ImageFolder, ClassesTxtSaysTheirOrder) {
  const TemporaryFolder folder;
  folder.write("train/cat/1.png", grey_png());
  folder.write("train/dog/1.png", grey_png());
  folder.write("test/cat/1.png", grey_png());
  const auto list = folder.write("classes.txt", "emu\ndog\ncat\n");
  const Splits pair = load_dataset(folder.path());
  EXPECT_EQ(pair.train.classes(), (std::vector<std::string>{"emu", "dog", "cat"}));
  EXPECT_EQ(labels(pair.train), (std::vector<std::int32_t>{1, 2}));
  EXPECT_EQ(labels(pair.test), (std::vector<std::int32_t>{2}));
  folder.write("classes.txt", "cat\n");
  EXPECT_EQ(error_of([&] { load_dataset(folder.path()); }),
            quoted(list) + " does not name the class folder 'dog'");
}

TEST(ImageFolder, ResizesPicturesOfAnySize) {
  const TemporaryFolder folder;
  folder.write("a/1.png", encode_png(drawn_image(2, 3, 1)));
  folder.write("a/2.png", encode_png(drawn_image(5, 4, 3)));
  const Splits pair = load_dataset(folder.path(), {.size = {4, 4}});
  EXPECT_EQ(sample_shape(pair.train), (Shape{4, 4, 3}));
  EXPECT_EQ(pair.train.size(), 2);
}

TEST(ImageFolder, AClassMayBeCalledTrain) {
  const TemporaryFolder folder;
  folder.write("train/1.png", grey_png());
  folder.write("ship/1.png", grey_png());
  EXPECT_EQ(load_dataset(folder.path()).train.classes(),
            (std::vector<std::string>{"ship", "train"}));
}

TEST(ImageFolder, AllAreInColourIfAnyIs) {
  const std::vector<std::uint8_t> grey = drawn_image(2, 3, 1).pixels;
  const std::vector<std::uint8_t> colour = drawn_image(2, 3, 3).pixels;
  for (const char* place : {"train/a/1.png", "train/b/1.png", "test/a/1.png"}) {
    for (const bool streamed : {false, true}) {
      const TemporaryFolder folder;
      for (const char* name : {"train/a/1.png", "train/b/1.png", "test/a/1.png"}) {
        folder.write(name, std::string_view(name) == place ? colour_png() : grey_png());
      }
      const Splits pair = load_dataset(folder.path(), {.streamed = streamed});
      EXPECT_EQ(sample_shape(pair.train), (Shape{2, 3, 3})) << place;
      EXPECT_EQ(sample_shape(pair.test), sample_shape(pair.train));
      EXPECT_EQ(pair.train.info().notes,
                std::vector<std::string>{
                    "2 of the 3 images of '" + pair.train.info().name +
                    "' are grey, the others in colour; all are read in colour, with 3 channels "
                    "(--channels 1, in Python channels=1, reads all as grey)"});
      if (streamed) continue;
      const bool first = std::string_view(place) == "train/a/1.png";
      EXPECT_EQ(bytes(pair.train, 0, 18),
                first ? colour : with_channels(drawn_image(2, 3, 1), 3).pixels);
      const Splits asked = load_dataset(folder.path(), {.channels = 1});
      EXPECT_EQ(sample_shape(asked.train), (Shape{2, 3, 1}));
      EXPECT_TRUE(asked.train.info().notes.empty());
      EXPECT_EQ(bytes(asked.train, 0, 6),
                first ? with_channels(drawn_image(2, 3, 3), 1).pixels : grey);
    }
  }
}

TEST(ImageFolder, ImagesOfOneKindStayAndNothingIsSaid) {
  for (const bool colour : {false, true}) {
    const TemporaryFolder folder;
    folder.write("a/1.png", colour ? colour_png() : grey_png());
    folder.write("b/1.jpg", jpeg(50, 2, 3, colour ? 3 : 1));
    const Splits pair = load_dataset(folder.path());
    EXPECT_EQ(sample_shape(pair.train), (Shape{2, 3, colour ? 3 : 1}));
    EXPECT_TRUE(pair.train.info().notes.empty());
    EXPECT_EQ(sample_shape(load_dataset(folder.path(), {.channels = 3}).train), (Shape{2, 3, 3}));
  }
}

TEST(ImageFolder, AnImageThatIsLeftOutDoesNotDecide) {
  const TemporaryFolder folder;
  folder.write("a/1.png", grey_png());
  folder.write("a/2.png", colour_png().substr(0, 50));
  const Splits pair = load_dataset(folder.path(), {.on_bad_image = OnBadImage::skip});
  EXPECT_EQ(sample_shape(pair.train), (Shape{2, 3, 1}));
  EXPECT_TRUE(pair.train.info().notes.empty());
}

TEST(ImageFolder, ChannelsAreOneOrThreeOfImages) {
  const TemporaryFolder folder;
  folder.write("a/1.png", grey_png());
  EXPECT_EQ(error_of([&] { load_dataset(folder.path(), {.channels = 2}); }),
            "expected 1 channel (grey) or 3 (colour) for images; got 2");
  write_mnist(folder, "mnist/");
  EXPECT_EQ(error_of([&] { load_dataset(folder / "mnist", {.channels = 1}); }),
            "the channels can only be chosen for image files; " + quoted(folder / "mnist") +
                " holds idx data");
}

TEST(ImageFolder, NamesTheFirstOfAnotherSize) {
  const TemporaryFolder folder;
  folder.write("a/1.png", grey_png());
  folder.write("a/2.png", grey_png());
  const auto other = folder.write("b/1.png", encode_png(drawn_image(4, 5, 1)));
  EXPECT_EQ(error_of([&] { load_dataset(folder.path()); }),
            quoted(other) +
                " is 4 x 5; expected 2 x 3 (height x width); set a size to resize images to" +
                kAdvice);
}

TEST(ImageFolder, ComparesSizesAcrossBothParts) {
  const TemporaryFolder folder;
  folder.write("train/a/1.png", grey_png());
  const auto other = folder.write("test/a/1.png", encode_png(drawn_image(4, 5, 1)));
  EXPECT_NE(error_of([&] { load_dataset(folder.path()); }).find(other.string()), std::string::npos);
}

TEST(ImageFolder, RefusesAnEmptyClass) {
  const TemporaryFolder folder;
  folder.write("a/1.png", grey_png());
  const auto empty = folder.write("b/notes.txt", "").parent_path();
  EXPECT_EQ(error_of([&] { load_dataset(folder.path()); }),
            std::string("the class folder ") + quoted(empty) +
                " holds no images (*.png, *.jpg, *.bmp, *.webp, *.tif)");
}

TEST(ImageFolder, RefusesATestClassThatTrainingLacks) {
  const TemporaryFolder folder;
  folder.write("train/a/1.png", grey_png());
  folder.write("test/b/1.png", grey_png());
  EXPECT_EQ(error_of([&] { load_dataset(folder.path()); }),
            std::string("the class 'b' of ") + quoted(folder / "test") +
                " is not one of those of " + quoted(folder / "train"));
}

TEST(ImageFolder, LeavesOutATestSetWithoutClasses) {
  const TemporaryFolder folder;
  for (const char* path : {"train/a/1.png", "train/b/1.png", "val/a/1.png", "test/1.png"}) {
    folder.write(path, grey_png());
  }
  const std::vector<std::string> note{quoted(folder / "test") +
                                      " is left out: it holds no class folders with images"};
  Splits splits = load_dataset(folder.path());
  EXPECT_EQ(splits.test.size(), 1);  // val/, as where there is no test/
  EXPECT_EQ(splits.train.info().notes, note);
  std::filesystem::remove(folder / "test" / "1.png");
  EXPECT_EQ(load_dataset(folder.path()).train.info().notes, note);
  folder.write("test/a/1.png", grey_png());
  std::filesystem::create_directory(folder / "test" / "b");
  std::filesystem::create_directory(folder / "test" / "thumbnails");
  splits = load_dataset(folder.path());
  EXPECT_EQ(splits.test.size(), 1);
  EXPECT_EQ(splits.validation.size(), 1);
}

TEST(ImageFolder, NamesAFileThatIsDamagedOrUnreadable) {
  const TemporaryFolder folder;
  folder.write("a/1.png", grey_png());
  const auto bad = folder.write("a/2.jpg", grey_png().substr(0, 50));
  EXPECT_NE(error_of([&] {
              load_dataset(folder.path());
            }).find(quoted(bad) + " is a damaged PNG: "),
            std::string::npos);
  std::filesystem::remove(bad);
  std::filesystem::create_symlink("nowhere", bad);
  EXPECT_EQ(error_of([&] { load_dataset(folder.path()); }),
            std::string("cannot read ") + quoted(bad) +
                ": it is a link to 'nowhere', which does not exist" + kAdvice);
}

}  // namespace
}  // namespace linnet::test
