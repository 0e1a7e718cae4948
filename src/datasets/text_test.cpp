// SPDX-License-Identifier: Apache-2.0
// Texts: .xz files, words as ids, and the reviews of IMDB.
#include <linnet/dataset.h>

#include "data/contents.h"
#include "data/data_files.h"
#include "data/vocabulary.h"
#include "data/xz_file.h"
#include "datasets/texts.h"
#include "formats/packed.h"
#include "formats/xz.h"

namespace linnet::test {
namespace {

std::string long_text() {
  std::string text;
  for (int i = 0; i < 50000; ++i) text += std::to_string(i * 7919 % 10007) + ' ';
  return text;
}

std::vector<std::int32_t> encoded(const Vocabulary& words, std::string_view text, std::size_t n) {
  std::vector<std::int32_t> ids(n, -1);
  words.encode(text, ids);
  return ids;
}

using Ids = std::vector<std::int32_t>;
using Words = std::vector<std::string>;

TEST(Xz, UnpacksAlsoSeveralStreams) {
  const std::string text = long_text();
  EXPECT_TRUE(is_xz(xz("")));
  EXPECT_FALSE(is_xz("7zXZ"));
  EXPECT_EQ(unxz(xz(text), "x.xz", text.size() + 1), text);
  EXPECT_EQ(unxz(xz("one ") + xz("two"), "x.xz", 100), "one two");
  EXPECT_EQ(unxz(xz(text), "x.xz", 10), text.substr(0, 10));
}

TEST(Xz, TellsWhatIsCutAndWhatIsDamaged) {
  const std::string packed = xz(long_text());
  EXPECT_EQ(error_of([&] { unxz(packed.substr(0, 20), "x.xz", 1 << 20); }),
            "'x.xz' is cut short: its xz data ends after 0 unpacked bytes");
  EXPECT_TRUE(error_of([&] {
                unxz(packed.substr(0, packed.size() - 1), "x.xz", 1 << 20);
              }).starts_with("'x.xz' is cut short"));
  std::string damaged = packed;
  damaged[packed.size() / 2] = static_cast<char>(damaged[packed.size() / 2] ^ 1);
  EXPECT_EQ(error_of([&] { unxz(damaged, "x.xz", 1 << 20); }), "'x.xz' is damaged: bad xz data");
  EXPECT_EQ(error_of([&] { unxz(packed + "more", "x.xz", 1 << 20); }).substr(0, 9), "'x.xz' is");
}

TEST(Xz, PackedFilesAreToldByContent) {
  const TemporaryFolder folder;
  EXPECT_EQ(read_unpacked(folder.write("a", xz("text")), 4), "text");
  EXPECT_EQ(read_unpacked(folder.write("b", gzip("text")), 4), "text");
  const auto plain = folder.write("c", "text");
  EXPECT_EQ(read_unpacked(plain, 4), "text");
  EXPECT_EQ(error_of([&] { read_unpacked(plain, 3); }),
            quoted(plain) + " unpacks to more than 3 bytes");
  EXPECT_EQ(error_of([&] { read_unpacked(folder / "a", 3); }),
            quoted(folder / "a") + " unpacks to more than 3 bytes");
}

TEST(Vocabulary, RanksByFrequencyThenFirstAppearance) {
  const Words texts{"zebra apple zebra", "pear apple fig"};
  const Vocabulary words = Vocabulary::from_texts(texts, 100);
  EXPECT_EQ(words.words(), (Words{"zebra", "apple", "pear", "fig"}));
  EXPECT_EQ(words.size(), 7);
  EXPECT_EQ(words.id("zebra"), 3);
  EXPECT_EQ(words.id("fig"), 6);
  EXPECT_EQ(words.id("plum"), 2);
  // The three ids that are no words count.
  EXPECT_EQ(Vocabulary::from_texts(texts, 5).words(), (Words{"zebra", "apple"}));
  EXPECT_EQ(error_of([&] { Vocabulary::from_texts(texts, 2); }),
            "a vocabulary needs at least 3 ids; got 2");
}

TEST(Vocabulary, PartsTextsAsKerasDoes) {
  const Words texts{"It's GREAT!<br />Caf\xC3\x89-noir,\ttwice\n(a_b) 3.5 \xC3\x97\xC3\xA0"};
  EXPECT_EQ(Vocabulary::from_texts(texts, 100).words(),
            (Words{"it's", "great", "br", "caf\xC3\xA9", "noir", "twice", "a", "b", "3", "5",
                   "\xC3\xA0"}));
}

std::vector<std::string> words_of(const std::string& text, WordRule rule = WordRule::unicode) {
  Words words;
  for_each_word(text, rule, [&](std::string_view word) { words.emplace_back(word); });
  return words;
}

TEST(Words, LettersOfAllScriptsBecomeSmall) {
  EXPECT_EQ(words_of("\u0425\u041E\u0420\u041E\u0428\u041E \u039F\u0394\u039F\u03A3 \u00C9T\u00C9"),
            words_of(
                "\u0445\u043E\u0440\u043E\u0448\u043E \u03BF\u03B4\u03BF\u03C2 e\u0301te\u0301"));
  EXPECT_EQ(words_of("\uFB01ne \uFF21\uFF22 m\u00B2"), (Words{"fine", "ab", "m2"}));
}

TEST(Words, EndAtQuotesEllipsesAndNoBreakSpaces) {
  EXPECT_EQ(
      words_of(
          "\u201Cpoor\u201D\u2026film\u00A0plot\u3000x\u2014y \u2018it\u2019s\u2019 don\u2019t"),
      (Words{"poor", "film", "plot", "x", "y", "it's", "don't"}));
  EXPECT_EQ(words_of("great\U0001F600\U0001F600!"), (Words{"great", "\U0001F600", "\U0001F600"}));
}

TEST(Words, OfScriptsWithoutSpacesAreLettersAndPairs) {
  EXPECT_EQ(words_of("\u8FD9\u662F\u3002\u597D 2\u5E74"),
            (Words{"\u8FD9", "\u8FD9\u662F", "\u662F", "\u597D", "2", "\u5E74"}));
  // A vowel sign belongs to its letter.
  EXPECT_EQ(words_of("\u0E14\u0E35\u0E21"),
            (Words{"\u0E14\u0E35", "\u0E14\u0E35\u0E21", "\u0E21"}));
  EXPECT_EQ(words_of("\uD55C\uAD6D\uC5B4 \uC601\uD654").size(), 2U);
  EXPECT_TRUE(is_spaceless("\u5E74x"));
  EXPECT_FALSE(is_spaceless("x\u5E74"));
}

TEST(Words, OfAsciiAndOfWhatIsNotUtf8AreTheSameByBothRules) {
  const std::string text = "It's a_b (3.5)\v<br />\tX\x01Y `q` ~z";
  EXPECT_EQ(words_of(text), words_of(text, WordRule::latin));
  EXPECT_EQ(words_of("caf\xE9 BAD"), (Words{"caf\xE9", "bad"}));
  EXPECT_TRUE(words_of("").empty());
  EXPECT_TRUE(words_of("\u00A0 \u2026").empty());
}

TEST(Words, OfAVeryLongRunAreWhole) {
  std::string text;
  for (int i = 0; i < 70000; ++i) text += "\u5E74";
  EXPECT_EQ(words_of(text).front(), "\u5E74");
  for (const std::string& word : words_of(text)) {
    EXPECT_TRUE(word.size() == 3 || word.size() == 6);
  }
}

TEST(Words, OfScriptsWithoutSpacesMakeAFileOneOfTexts) {
  const TemporaryFolder folder;
  EXPECT_TRUE(holds_text_lines(folder.write("zh.tsv", "a\t\u8FD9\u662F\u597D\nb\t\u8FD9\u662F\n")));
  EXPECT_FALSE(holds_text_lines(folder.write("dates.tsv", "a\t2020-01-31\nb\t2020-02-29\n")));
}

TEST(Vocabulary, RemembersItsRule) {
  const Vocabulary old({"\u0425\u041E", "\u201Cpoor\u201D"});
  EXPECT_EQ(old.entries(), old.words());
  EXPECT_EQ(encoded(old, "\u0425\u041E \u0445\u043E \u201Cpoor\u201D", 4), (Ids{1, 3, 2, 4}));
  const Words texts{"\u0425\u041E \u0445\u043E"};
  const Vocabulary today = Vocabulary::from_texts(texts, 10);
  EXPECT_EQ(today.words(), Words{"\u0445\u043E"});
  EXPECT_EQ(today.entries(), (Words{"\u0445\u043E", "<unicode>"}));
  EXPECT_EQ(today.size(), 4);
  EXPECT_EQ(encoded(Vocabulary(today.entries()), "\u0425\u041E <unicode>", 3), (Ids{1, 3, 2}));
}

TEST(Vocabulary, PadsAndCutsInFront) {
  const Vocabulary words({"a", "b", "c"});
  EXPECT_EQ(encoded(words, "B, a x", 6), (Ids{0, 0, 1, 4, 3, 2}));
  EXPECT_EQ(encoded(words, "b a x", 4), (Ids{1, 4, 3, 2}));
  EXPECT_EQ(encoded(words, "b a x", 2), (Ids{3, 2}));
  EXPECT_EQ(encoded(words, "", 2), (Ids{0, 1}));
}

TEST(Vocabulary, IsKeptInAFile) {
  const TemporaryFolder folder;
  const Vocabulary words({"the", "it's", "caf\xC3\xA9"});
  write_vocabulary(folder / "words.txt", words);
  EXPECT_EQ(read_vocabulary(folder / "words.txt").words(), words.words());
  const auto twice = folder.write("twice.txt", "a\nb\na\n");
  EXPECT_EQ(error_of([&] { read_vocabulary(twice); }),
            "cannot read " + quoted(twice) + ": a vocabulary has the word 'a' twice");
  const auto empty = folder.write("empty.txt", "\n");
  EXPECT_EQ(error_of([&] { read_vocabulary(empty); }), quoted(empty) + " holds no words");
}

TEST(Imdb, ReadsTablesPackedOrNot) {
  const TemporaryFolder folder;
  folder.write("train.tsv.xz", xz("1\t9\t0\tgood good film\n0\t2\t1\tbad film\n"));
  folder.write("test.tsv.gz", gzip("0\tbad Film, really\n"));
  EXPECT_TRUE(holds_labelled_texts(folder.path()));
  const Splits imdb = load_texts(folder.path(), {.ids = 100, .length = 5});
  const Dataset& train = imdb.train;
  EXPECT_EQ(imdb.train.info().vocabulary, (Words{"good", "film", "bad", "<unicode>"}));
  EXPECT_EQ(sample_shape(train), (Shape{5}));
  EXPECT_EQ(train.inputs()[0].dtype(), DType::i32);
  EXPECT_EQ(ids(train), (Ids{0, 1, 3, 3, 4, 0, 0, 1, 5, 4}));
  EXPECT_EQ(labels(train), (Ids{1, 0}));
  EXPECT_EQ(ids(imdb.test), (Ids{0, 1, 5, 4, 2}));  // the test set adds no words
  EXPECT_EQ(train.classes(), (Words{"negative", "positive"}));
  EXPECT_NO_THROW(train.check_labels());
  EXPECT_EQ(sample_shape(load_dataset(folder.path()).train), (Shape{150}));
  const Splits known = load_texts(folder.path(), {.length = 5, .words = {"really", "film"}});
  EXPECT_EQ(ids(known.test), (Ids{0, 1, 2, 4, 3}));
  EXPECT_EQ(known.test.info().vocabulary, (Words{"really", "film"}));
  EXPECT_EQ(error_of([&] {
              load_texts(folder.path(), {.ids = 4, .words = {"a", "b"}});
            }),
            "expected at most 1 words; got 2");
}

TEST(Imdb, ReadsTheOriginalFolders) {
  const TemporaryFolder folder;
  folder.write("aclImdb/train/pos/0_9.txt", "fine");
  folder.write("aclImdb/train/neg/0_3.txt", "poor");
  folder.write("aclImdb/train/neg/1_1.txt", "poor poor");
  folder.write("aclImdb/train/unsup/0_0.txt", "neither");
  folder.write("aclImdb/test/pos/0_10.txt", "fine");
  folder.write("aclImdb/test/neg/0_1.txt", "worse");
  const Splits imdb = load_texts(folder / "aclImdb", {.length = 3});
  EXPECT_EQ(imdb.train.info().vocabulary, (Words{"poor", "fine", "<unicode>"}));
  EXPECT_EQ(ids(imdb.train), (Ids{0, 1, 3, 1, 3, 3, 0, 1, 4}));
  EXPECT_EQ(labels(imdb.train), (Ids{0, 0, 1}));
  EXPECT_EQ(ids(imdb.test), (Ids{0, 1, 2, 0, 1, 4}));
  EXPECT_EQ(load_dataset(folder.path()).train.size(), 3);
}

TEST(Texts, HaveAnyNumberOfClasses) {
  const TemporaryFolder folder;
  const auto sorted = folder.write("news.tsv", "sport\ta b\nart\tx\tb c\nsport\tc a\n");
  const LabelledTexts texts = read_text_lines(sorted);
  EXPECT_EQ(texts.texts, (Words{"a b", "b c", "c a"}));
  EXPECT_EQ(label_names(texts), (Words{"art", "sport"}));
  EXPECT_EQ(label_names({.texts = {}, .labels = {"10", "9", "2"}}), (Words{"2", "9", "10"}));
  EXPECT_EQ(label_names({.texts = {}, .labels = {"1"}}), (Words{"0", "1"}));
  EXPECT_EQ(text_classes({"0", "1"}), (Words{"negative", "positive"}));
  EXPECT_EQ(text_classes({"0", "1", "2"}), (Words{"0", "1", "2"}));
}

TEST(Texts, LieInFoldersByClassWithoutATestSet) {
  const TemporaryFolder folder;
  for (const char* name : {"art/1.txt", "sport/1.txt", "war/1.txt"}) folder.write(name, "a text");
  EXPECT_TRUE(holds_labelled_texts(folder.path()));
  const Splits splits = load_texts(folder.path(), {.length = 3});
  EXPECT_EQ(splits.train.classes(), (Words{"art", "sport", "war"}));
  EXPECT_EQ(labels(splits.train), (Ids{0, 1, 2}));
  EXPECT_EQ(splits.test.size(), 0);
  folder.write("sport/photo.png", "");  // a folder of images, with a note beside them
  folder.write("war/photo.png", "");
  EXPECT_FALSE(holds_labelled_texts(folder.path()));
}

TEST(Texts, ValidationSetBesideTest) {
  for (const std::string name : {"val", "valid", "validation"}) {
    const TemporaryFolder folder;
    folder.write("train/a/1.txt", "one");
    folder.write("train/b/1.txt", "two");
    folder.write(name + "/readme.txt", "no class");
    EXPECT_TRUE(read_text_folder(folder.path()).test.texts.empty());
    folder.write(name + "/b/1.txt", "three");
    EXPECT_EQ(read_text_folder(folder.path()).test.texts, std::vector<std::string>{"three"});
    folder.write("test.tsv", "a\tfour\nb\tfive\n");
    const TextParts parts = read_text_folder(folder.path());
    EXPECT_EQ(parts.validation.texts, std::vector<std::string>{"three"}) << name;
    EXPECT_EQ(parts.test.texts.size(), 2U);
    const Splits splits = load_dataset(folder.path());
    EXPECT_EQ(labels(splits.validation), (std::vector<std::int32_t>{1}));
    EXPECT_EQ(labels(splits.test), (std::vector<std::int32_t>{0, 1}));
  }
}

TEST(Texts, AreToldFromNumbersByTheirWords) {
  const TemporaryFolder folder;
  EXPECT_TRUE(holds_text_lines(folder.write("a.tsv", "x\tone two three\ny\tfour five six\n")));
  const std::string empty = folder.write("e.tsv", "x\tone two three\r\n\r\ny\tfour five six\n\n");
  EXPECT_TRUE(holds_text_lines(empty));
  EXPECT_EQ(read_text_lines(empty).labels, (std::vector<std::string>{"x", "y"}));
  EXPECT_FALSE(holds_text_lines(folder.write("b.tsv", "1.5\t2.5\n3\t4\n")));
  EXPECT_FALSE(holds_text_lines(folder.write("c.csv", "x,one two three\n")));
  EXPECT_FALSE(holds_text_lines(folder / "missing"));
}

TEST(Texts, AFirstLineThatNamesTheColumnsIsNoClass) {
  const TemporaryFolder folder;
  const auto read = [&](const std::string& text) {
    const std::string path = folder.write("a.tsv", text);
    EXPECT_TRUE(holds_text_lines(path) && holds_labels(path)) << text;
    return read_text_lines(path);
  };
  const Words labels{"pos", "neg"};
  const Words texts{"a fine long film", "a dull long film"};
  LabelledTexts made = read("label\ttext\npos\ta fine long film\nneg\ta dull long film\n");
  EXPECT_EQ(made.labels, labels);
  EXPECT_EQ(made.texts, texts);
  EXPECT_EQ(made.note, "line 1 of " + quoted(folder / "a.tsv") +
                           " names the columns of labels and texts: 'label', 'text'");
  made = read(
      "\xEF\xBB\xBFid\tSentence\t\"Sentiment\"\r\n1\ta fine long film\tpos\r\n2\ta dull long "
      "film\tneg\n");
  EXPECT_EQ(made.labels, labels);
  EXPECT_EQ(made.texts, texts);
  made = read("text\ta fine long film\nneg\ta dull long film\n");  // a class called text
  EXPECT_EQ(made.labels, (Words{"text", "neg"}));
  EXPECT_TRUE(made.note.empty());
  const auto comma = folder.write("c.txt", "label,text\npos,a fine film\n");
  EXPECT_EQ(error_of([&] { read_text_lines(comma); }),
            quoted(comma) +
                " is a table with ',' between its fields: name its columns, --text text "
                "--target label");
  const auto short_line = folder.write("d.tsv", "id\tlabel\ttext\n1\tpos\ta film\n2\tneg\n");
  EXPECT_EQ(error_of([&] { read_text_lines(short_line); }),
            "line 3 of " + quoted(short_line) +
                " has 2 fields between tabs; its first line names more");
}

TEST(Texts, LinesAsOtherProgramsWriteThem) {
  const TemporaryFolder folder;
  const auto path =
      folder.write("a.tsv", "\"pos\"\tsch\xF6n und gut\npos \t\"a \"\"b\"\" c\"\nneg\t\x81 x\n");
  const LabelledTexts texts = read_text_lines(path);
  EXPECT_EQ(texts.labels, (Words{"pos", "pos", "neg"}));
  EXPECT_EQ(texts.texts[0], "sch\u00F6n und gut");
  EXPECT_EQ(texts.texts[2], "\x81 x") << "no encoding has it";
  EXPECT_EQ(texts.note, quoted(path) + " is not UTF-8 and is read as Windows-1252");
  const auto nul = folder.write("b.tsv", std::string("a\tx\nb\ty\0z\n", 10));
  EXPECT_EQ(error_of([&] { read_text_lines(nul); }),
            "line 2 of " + quoted(nul) + " holds a NUL byte; expected UTF-8 text");
}

TEST(Texts, ATestSetWithoutLabelsIsLeftOut) {
  for (const char* test : {"a fine film\na dull film\n", "id\ttext\n1\ta fine film\n"}) {
    const TemporaryFolder folder;
    folder.write("train.tsv", "1\tgood\n0\tbad\n");
    const auto path = folder.write("test.tsv", test);
    EXPECT_FALSE(holds_labels(path));
    const Splits splits = load_texts(folder.path());
    EXPECT_EQ(splits.train.size(), 2);
    EXPECT_EQ(splits.test.size(), 0);
    EXPECT_EQ(splits.train.info().notes,
              Words{quoted(path) + " is left out: its texts have no labels"});
  }
}

TEST(Imdb, NamesTheLineThatIsWrong) {
  const TemporaryFolder folder;
  const auto train = folder.write("train.tsv", "1\tgood\nno tab\n");
  EXPECT_EQ(error_of([&] { load_texts(folder.path()); }),
            "line 2 of " + quoted(train) + " has no tab; expected a label and a text after tabs");
  std::string turned;  // the text first
  for (int i = 0; i < 150; ++i) turned += fmt::format("text {}\t{}\n", i, i % 2);
  folder.write("train.tsv", turned);
  EXPECT_EQ(error_of([&] { load_texts(folder.path()); }),
            quoted(train) +
                " has 150 different labels in 150 lines; expected the label first and "
                "the text last in each line, separated by tabs");
  folder.write("train.tsv", "1\tgood\n0\tbad\n");
  folder.write("test.tsv", "7\tgood\n");
  EXPECT_EQ(error_of([&] { load_texts(folder.path()); }),
            "text 1 of '" + folder.path().filename().string() +
                "' has the label '7', which no text of the training set has");
  std::filesystem::rename(train, folder / "other.tsv");
  EXPECT_EQ(error_of([&] { load_texts(folder.path()); }),
            quoted(folder.path()) +
                " has neither train.tsv (or .gz, .xz) nor a folder train beside its test set");
  std::filesystem::rename(folder / "other.tsv", train);
  std::filesystem::remove(folder / "test.tsv");
  const std::string packed = xz(long_text());
  const auto test = folder.write("test.tsv.xz", packed.substr(0, packed.size() / 2));
  EXPECT_TRUE(error_of([&] {
                load_texts(folder.path());
              }).starts_with(quoted(test) + " is cut short: its xz data ends after "));
}

}  // namespace
}  // namespace linnet::test
