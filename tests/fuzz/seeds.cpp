// SPDX-License-Identifier: Apache-2.0
#include "fuzz/seeds.h"

#include <fmt/format.h>
#include <linnet/convert.h>
#include <linnet/model.h>
#include <linnet/onnx.h>
#include <linnet/table_transform.h>
#include <linnet/tensor.h>
#include <linnet/zoo.h>

#include <array>
#include <span>

#include "base/files.h"
#include "data/data_files.h"
#include "data/image_files.h"
#include "data/tar_file.h"
#include "data/webp_tiff_files.h"
#include "data/xz_file.h"
#include "formats/safetensors.h"
#include "series/series_record.h"
#include "workbook.h"

namespace linnet::fuzz {
namespace {

namespace fs = std::filesystem;

/// Writes the seeds of one target.
class Seeds {
 public:
  Seeds(const fs::path& folder, const char* target) : folder_(folder / target) {
    fs::create_directories(folder_);
  }
  fs::path path(const std::string& name) const { return folder_ / name; }
  void add(const std::string& name, std::string_view bytes) const {
    write_file_atomically(path(name), bytes);
  }

 private:
  fs::path folder_;
};

void write_models(const fs::path& folder) {
  const Seeds models(folder, "model");
  const Seeds files(folder, "safetensors");
  const Seeds networks(folder, "network_json");
  const Seeds onnx(folder, "onnx");
  for (const auto& [name, network] : seed_networks()) {
    Model model(network, {.device = "cpu", .threads = 1});
    if (name == "dense") model.set_class_names({"a", "b", "c"});
    model.save(models.path(name));
    try {
      export_onnx(model, onnx.path(name));
    } catch (const Error&) {  // noise and custom operators have no form in ONNX
    }
    networks.add(name, network.to_json());
  }
  const std::array<double, 3> numbers{1, -2, 0.5};
  const std::array<std::uint16_t, 2> halves{0x3F80, 0x4000};
  const std::array<std::int32_t, 4> whole{1, 2, 3, 4};
  const std::vector<TensorView> tensors{
      {"f64", DType::f64, {3}, std::as_bytes(std::span(numbers))},
      {"bf16", DType::bf16, {1, 2}, std::as_bytes(std::span(halves))},
      {"i32", DType::i32, {2, 2}, std::as_bytes(std::span(whole))},
      {"u8", DType::u8, {0}, {}},
      {"f32", DType::f32, {}, std::as_bytes(std::span(whole).first(1))}};
  write_safetensors(files.path("types"), tensors, {{"key", "value"}});
}

void write_named_arrays(const fs::path& folder) {
  const Seeds npz(folder, "npz");
  const Tensor numbers(std::vector<float>{1, 2, 3, 4, 5, 6}, {2, 3});
  // A seed has no extension, by which the format is chosen.
  const fs::path written = npz.path("x.npz");
  write_weights(written, State({{"w", numbers}, {"layer/b", numbers.to(DType::f16)}}));
  fs::rename(written, npz.path("two"));
  const Seeds weights(folder, "weights");
  zoo::TextOptions options{.steps = 3, .vocabulary = 4, .features = 2, .units = 2, .classes = 2};
  for (const WeightNames names : {WeightNames::torchvision, WeightNames::keras}) {
    const bool keras = names == WeightNames::keras;
    for (const bool gru : {true, false}) {
      const Model model(gru ? zoo::gru_text(options) : zoo::lstm_text(options),
                        {.device = "cpu", .threads = 1});
      const fs::path file = weights.path("x.safetensors");
      write_weights(file, export_weights(model, names));
      fs::rename(file,
                 weights.path(std::string(gru ? "gru_" : "lstm_") + (keras ? "keras" : "torch")));
    }
  }
}

void write_arrays(const fs::path& folder) {
  const Seeds npy(folder, "npy");
  const Tensor numbers(std::vector<float>{1, 2, 3, 4, 5, 6}, {2, 3});
  write_npy(npy.path("f4"), numbers);
  write_npy(npy.path("f8"), numbers.rows(0, 1).to(DType::f64));
  write_npy(npy.path("f2"), numbers.to(DType::f16));
  write_npy(npy.path("u1"), numbers.to(DType::u8).reshaped({2, 1, 3, 1}));
  write_npy(npy.path("i4"), numbers.to(DType::i32).reshaped({6, 1}));
  write_npy(npy.path("b1"), numbers.to(DType::boolean));
  const std::string header = "{'descr': '<i8', 'fortran_order': False, 'shape': (2,), }\n";
  npy.add("i8", "\x93NUMPY\x01" + std::string(1, '\0') +
                    test::number(static_cast<std::uint32_t>(header.size()), 2, false) + header +
                    std::string(16, '\0'));
  const Seeds idx(folder, "idx");
  idx.add("images", std::string("\2") + test::idx({2, 3, 4}));
  idx.add("labels", std::string(1, '\0') + test::idx({6}, 10));
  idx.add("gzip", std::string("\2") + test::gzip(test::idx({3, 5, 5})));
}

void write_packed(const fs::path& folder) {
  const Seeds packed(folder, "packed");
  std::string text;
  for (int i = 0; i < 300; ++i) text += std::to_string(i * 7919 % 1007) + ' ';
  packed.add("gzip", test::gzip(text));
  packed.add("members", test::gzip("one") + test::gzip("two"));
  packed.add("xz", test::xz(text));
  packed.add("streams", test::xz("one") + test::xz("two"));
  packed.add("nested", test::gzip(test::xz(text)));
  const Seeds tar(folder, "tar");
  const std::string files = test::tar_entry("a/1.txt", "one") + test::tar_entry("a/2.txt", text);
  tar.add("files", files + test::kTarEnd);
  tar.add("gzip", test::gzip(files + test::kTarEnd));
  tar.add("gnu", test::tar_entry("././@LongLink", "long/name.txt", 'L') + files + test::kTarEnd);
  tar.add("pax", test::tar_entry("x", "16 path=a/b.txt\n", 'x') + files);
}

void write_images(const fs::path& folder) {
  const Seeds png(folder, "png");
  const Seeds bmp(folder, "bmp");
  const Seeds jpeg(folder, "jpeg");
  const Seeds webp(folder, "webp");
  const Seeds tiff(folder, "tiff");
  for (const std::int64_t channels : {1, 3}) {
    const std::string name = channels == 1 ? "grey" : "colour";
    const Image image = test::drawn_image(4, 5, channels);
    png.add(name, encode_png(image));
    bmp.add(name, encode_bmp(image));
    jpeg.add(name, test::jpeg(90, 9, 17, static_cast<int>(channels)));
    webp.add(name, test::webp(test::drawn_image(4, 5, 3)));
    const std::string samples(image.pixels.begin(), image.pixels.end());
    for (const std::uint16_t compression :
         {COMPRESSION_NONE, COMPRESSION_LZW, COMPRESSION_ADOBE_DEFLATE}) {
      const std::string form = name + std::to_string(compression);
      test::tiff(tiff.path(form), 4, 5, channels, samples,
                 {.compression = compression,
                  .photometric = static_cast<std::uint16_t>(channels == 1 ? PHOTOMETRIC_MINISBLACK
                                                                          : PHOTOMETRIC_RGB)});
    }
  }
  test::tiff(tiff.path("wide"), 2, 2, 1, "abcdefgh", {.bits = 16, .orientation = 6});
  test::tiff(tiff.path("tiles"), 2, 2, 1, "abcd", {.tile = 16});
  png.add("wide", test::wide_png({0, 4095, 65535}));
  png.add("turned", test::with_exif(encode_png(test::drawn_image(2, 3, 1)), 6));
  jpeg.add("turned", test::with_exif(test::jpeg(90, 9, 17, 3), 8, false));
  bmp.add("upside_down", test::bmp_header(1, -2, 24) + "\x01\x02\x03_\x04\x05\x06_");
  bmp.add("bgra", test::bmp_header(1, 1, 32) + "\x01\x02\x03_");
  jpeg.add("cmyk", test::jpeg_of({90, 90, 90, 90}, 8, 8, 95));
}

void write_tables(const fs::path& folder) {
  const Seeds tsv(folder, "tsv");
  tsv.add("reviews", "1\ta film that I liked\n0\tid\tIt's a BAD film, a bad one\n");
  tsv.add("packed", test::gzip("1\tgood\n0\tbad\n"));
  const Seeds csv(folder, "csv");
  csv.add("labels", "file,patient,split,Mass,Nodule\na.png,1,train,0,1\n\"b.png\",2,test,1,0\n");
  csv.add("patients", "file,patient,Mass\na.png,1,0\nb.png,2,1\nc.png,3,\"1\"\n");
  csv.add("entries",
          "Image Index,Finding Labels,Patient ID\na.png,Mass|Nodule,1\nb.png,No Finding,2\n");
  const Seeds table(folder, "table");
  table.add("header",
            "age,sex,born,member,kind\n1,m,2020-01-31,yes,a\n2.5,f,2021-02-03 04:05,no,b\n"
            "NA,f,,no,a\n");
  table.add("decimal_comma", "1,5;x;31/12/2020\n2,5;\"y;\"\"\";01/02/2021\n3;x;02/03/2022\n");
  table.add("months", "\xFF\xFE" + std::string("a\0;\0b\0\n\0001\0;\0002\0\n\0", 16));
  table.add("blanks", "# x y\n 1  2\n2 3.5\n 3 Mar-24\n4 5 \n");
  table.add("forms",
            "d,q,t,w,\n31-Mar-24,2024Q1,1/2/2024 3:05 PM,2024-W05,\n1-Apr-24,2024Q2,"
            "5/7/2024 1:00 AM,2024-W06,\n");
  const Seeds sheets(folder, "xlsx");
  linnet::testing::write_workbook(
      sheets.path("cells"),
      linnet::testing::workbook(
          R"(<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="inlineStr"><is><t>x</t></is></c>)"
          R"(</row><row r="2"><c r="A2" s="1"><v>45382</v></c><c r="B2"><v>1.5</v></c></row>)"
          R"(<row r="4"><c r="A4" s="2"><v>45383.25</v></c><c r="B4" t="b"><v>1</v></c></row>)"));
  const Seeds transform(folder, "table_transform");
  transform.add("two", TableTransform::fit(parse_table("a,b,c,d,y\n1,u,yes,2020-01-31,1.5\n2,v,no,"
                                                       "2021-02-03,2.5\n4,u,yes,2021-03-03,3.5\n,v,"
                                                       "yes,2021-03-04,4.5\n"),
                                           "y")
                           .to_json());
  const Table values = parse_table(
      "a,b,d,y,z\n1,u,yes,1.5,7.5\n2,v,no,2.5,6\n4,u,yes,3.5,5\n,v,yes,4.5,8\n4,,no,5.5,3\n");
  transform.add("quantiles", TableTransform::fit(values, {"y", "z"},
                                                 {.missing = MissingValues::interpolate,
                                                  .scaling = Scaling::quantile})
                                 .to_json());
  transform.add("frequent", TableTransform::fit(values, "y",
                                                {.missing = MissingValues::most_frequent,
                                                 .column_scaling = {{"a", Scaling::log1p}}})
                                .to_json());
  const Seeds series(folder, "series_transform");
  series.add("days",
             json_of(SeriesRecord{.learned = {.header = true, .missing = {"NA"}},
                                  .columns = {"d", "s", "x", "y"},
                                  .time = "d",
                                  .time_kind = TimeKind::date,
                                  .form = "%Y-%m-%d",
                                  .step = 86400,
                                  .open = {{0, 345600}},
                                  .entity = "s",
                                  .entities = {"a", "b"},
                                  .past = 2,
                                  .future = 1,
                                  .season = 7,
                                  .targets = {{.change = 2, .naive_error = 1}},
                                  .inputs = {{.column = "y", .mean = 2},
                                             {.column = "x", .indicator = true, .known = true}}}));
  const Seeds vocabulary(folder, "vocabulary");
  vocabulary.add("words", "the\nfilm\nit's\n\xC3\xA9t\xC3\xA9\n");
}

void write_cifar(const fs::path& folder) {
  const Seeds cifar(folder, "cifar");
  constexpr std::size_t kPixels = 3072;
  std::string record(1 + kPixels, '\x50');
  record[0] = '\3';
  // Not sums of strings, of which GCC 12 warns wrongly here.
  cifar.add("ten", fmt::format("{}{}{}", '\0', record, record));
  cifar.add("hundred", fmt::format("\1\5{}", record));
  cifar.add("coarse", fmt::format("\x13\5{}", record));
}

void write_settings(const fs::path& folder) {
  const Seeds summary(folder, "summary_json");
  summary.add(
      "run",
      R"({"seed": 7, "sample_shape": [28, 28, 1], "engine_choices": {"conv2d_1": "direct"}})");
  const Seeds toml(folder, "toml");
  toml.add("image", R"([data]
path = "images"
validation = 0.1
image_size = [32, 32]
[network]
input = [8, 8, 3]
layers = [
  { type = "normalize", mean = [0.5], std = [0.2] },
  { type = "conv2d", filters = 4, kernel = [3, 3], padding = "same", name = "c" },
  { type = "batch_norm" }, { type = "relu" }, { type = "max_pool2d", size = 2 },
  { type = "flatten" }, { type = "dropout", rate = 0.25 }, { type = "dense", units = 3 }]
[optimizer]
kind = "sgd"
momentum = 0.9
[schedule]
kind = "step"
gamma = 0.5
[loss]
class_weights = [1.0, 2.0, 3.0]
ignore_index = -1
[augment]
padding = 2
flip = 0.5
[training]
epochs = 3
device = "cpu"
graph = 4
)");
  toml.add("texts", R"([network]
input = [9]
layers = [{ type = "embedding", vocabulary = 20, features = 4 },
  { type = "gru", units = 3, reset_after = false }, { type = "dense", units = 2 }]
[training]
loss = "focal"
patience = 2
)");
  const Seeds search(folder, "search");
  search.add("ranges", R"([network]
input = [9]
layers = [{ type = "dense", units = { search = [16, 64] } }, { type = "dense", units = 2 }]
[optimizer]
kind = "adamw"
learning_rate = { search = { from = 1e-4, to = 1e-1, log = true } }
[search]
method = "grid"
points = 3
metric = "validation_accuracy"
)");
  search.add("growing", R"([training]
batch = { search = { from = 8, to = 1024 } }
[search]
method = "grow"
)");
  search.add("columns", R"([data]
file = "rows.csv"
target = "y"
ignore = ["a", 3]
[search]
method = "select"
runs = 5
)");
  const Seeds constraint(folder, "constraint");
  constraint.add("sum", "x1 + 2*x2 <= 3");
  constraint.add("share", "-(\"body mass\" - y)/4 >= 1e-3 x1");
  constraint.add("category", "island != Biscoe");
}

}  // namespace

void write_seeds(const fs::path& folder) {
  write_models(folder);
  write_arrays(folder);
  write_named_arrays(folder);
  write_packed(folder);
  write_images(folder);
  write_tables(folder);
  write_cifar(folder);
  write_settings(folder);
}

}  // namespace linnet::fuzz
