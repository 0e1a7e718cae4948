// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <linnet/onnx.h>

#include <fstream>
#include <limits>

#include "base/files.h"
#include "formats/protobuf.h"
#include "message_of.h"
#include "onnx/onnx_bytes.h"
#include "onnx/schema.h"
#include "temporary_folder.h"

namespace linnet::onnx {
namespace {

using namespace protobuf;

using testing::message_of;
using testing::OnnxBytes;

TEST(Wire, reads_what_it_writes) {
  std::string message;
  put_integer(message, 1, -5);
  put_integer(message, 2, std::numeric_limits<std::int64_t>::max());
  put_float(message, 3, 1.5F);
  put_bytes(message, 200, "text");
  WireReader reader(message);
  Field f;
  ASSERT_TRUE(reader.next(f));
  EXPECT_EQ(integer_of(f), -5);
  ASSERT_TRUE(reader.next(f));
  EXPECT_EQ(integer_of(f), std::numeric_limits<std::int64_t>::max());
  ASSERT_TRUE(reader.next(f));
  EXPECT_EQ(f.wire, Wire::fixed32);
  EXPECT_EQ(f.value, 0x3FC00000U);
  ASSERT_TRUE(reader.next(f));
  EXPECT_EQ(f.number, 200U);
  EXPECT_EQ(bytes_of(f), "text");
  EXPECT_FALSE(reader.next(f));
}

std::string wire_error(std::string_view message) {
  return message_of([&] {
    WireReader reader(message);
    for (Field f; reader.next(f);) {
    }
  });
}

TEST(Wire, refuses_messages_that_are_cut_or_lie) {
  EXPECT_NE(wire_error("\x08"), "");                                         // no number
  EXPECT_NE(wire_error("\x08\x80"), "");                                     // half a number
  EXPECT_NE(wire_error(std::string("\x08") + std::string(11, '\xFF')), "");  // too long a number
  EXPECT_NE(wire_error("\x0A\x05"
                       "ab"),
            "");  // 5 bytes, 2 are there
  EXPECT_NE(wire_error("\x0A\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01"), "");  // 2^64 - 1 bytes
  EXPECT_NE(wire_error("\x0B"), "");                                          // a group
  EXPECT_NE(wire_error(std::string_view("\x00\x01", 2)), "");                 // field 0
  EXPECT_NE(wire_error("\x0D\x01\x02"), "");  // 4 bytes, 2 are there
}

std::string parsed(const OnnxBytes& model) {
  return message_of([&] { parse_model(std::make_shared<const std::string>(model.bytes())); });
}

TEST(Schema, refuses_tensors_whose_data_do_not_fit) {
  OnnxBytes model;
  const auto says = [&](const std::string& tensor, const char* what) {
    model.initializers = {tensor};
    EXPECT_NE(parsed(model).find(what), std::string::npos) << parsed(model);
  };
  says(OnnxBytes::tensor("t", {1 << 30, 1 << 30}, 1, "1234"), "too large");
  says(OnnxBytes::tensor("t", {1 << 20, 1 << 19}, 1, "1234"), "needs 2199023255552 bytes; got 4");
  says(OnnxBytes::tensor("t", {-1}, 1, "1234"), "has the dims (-1)");
  says(OnnxBytes::tensor("t", {2}, 1, "1234"), "needs 8 bytes; got 4");
  says(OnnxBytes::tensor("t", std::vector<std::int64_t>(65, 1), 1, "1234"), "more than 64 axes");
  model.initializers = {OnnxBytes::tensor("t", {1}, 1, "1234")};
  EXPECT_EQ(parsed(model), "");
}

// A nest of messages where no message is expected is bytes that nobody follows.
TEST(Schema, does_not_follow_nested_graphs) {
  std::string nest;
  for (int i = 0; i < 10000; ++i) {
    std::string outer;
    put_bytes(outer, 6, nest);
    nest = std::move(outer);
    if (nest.size() > 100000) break;
  }
  OnnxBytes model;
  std::string attribute;
  put_bytes(attribute, 1, "body");
  put_bytes(attribute, 6, nest);
  model.nodes = {OnnxBytes::node("Loop", {"x"}, {"y"}, "n", {attribute})};
  EXPECT_EQ(parsed(model), "");
}

TEST(Import, refuses_constants_that_would_fill_memory) {
  const testing::TemporaryFolder folder;
  const auto ask = [&](const OnnxBytes& model) {
    testing::write_quickly(folder / "m.onnx", model.bytes());
    return message_of([&] { import_onnx(folder / "m.onnx", {}, {.device = "cpu", .threads = 1}); });
  };
  const auto i64 = [](const std::string& name, std::vector<std::int64_t> values) {
    return OnnxBytes::tensor(name, {static_cast<std::int64_t>(values.size())}, 7,
                             {reinterpret_cast<const char*>(values.data()), values.size() * 8});
  };
  OnnxBytes model;
  model.initializers = {i64("s", {1 << 20, 1 << 19})};
  model.nodes = {OnnxBytes::node("ConstantOfShape", {"s"}, {"c"}, "n"),
                 OnnxBytes::node("Add", {"x", "c"}, {"y"}, "m")};
  EXPECT_NE(ask(model).find("[ConstantOfShape 'n']"), std::string::npos) << ask(model);
  model.initializers = {i64("a", {1}), i64("r", {std::int64_t{1} << 60})};
  model.nodes = {OnnxBytes::node("Tile", {"a", "r"}, {"c"}, "n"),
                 OnnxBytes::node("Add", {"x", "c"}, {"y"}, "m")};
  EXPECT_NE(ask(model).find("[Tile 'n']"), std::string::npos) << ask(model);
  // Each may have 2^24 elements, all together 2^26.
  model.initializers = {i64("s", {1 << 12, 1 << 12})};
  model.nodes.clear();
  for (const char* name : {"a", "b", "c", "d", "e", "f", "g", "h"}) {
    model.nodes.push_back(OnnxBytes::node("ConstantOfShape", {"s"}, {name}, name));
  }
  model.nodes.push_back(OnnxBytes::node("Identity", {"x"}, {"y"}, "m"));
  EXPECT_NE(ask(model).find("constants that nodes compute have more than"), std::string::npos)
      << ask(model);
}

// Each byte of a good file damaged, and the file cut at each: an Error, or a network.
TEST(Import, survives_damage) {
  const testing::TemporaryFolder folder;
  const std::string good = read_file(std::filesystem::path(LINNET_ONNX_FIXTURES) / "tied.onnx");
  int accepted = 0;
  const auto take = [&](const std::string& bytes) {
    testing::write_quickly(folder / "m.onnx", bytes);
    if (message_of([&] {
          import_onnx(folder / "m.onnx", {}, {.device = "cpu", .threads = 1});
        }).empty()) {
      ++accepted;
    }
  };
  for (std::size_t i = 0; i < good.size(); i += 3) {
    std::string bytes = good;
    bytes[i] = static_cast<char>(bytes[i] ^ (1 << (i % 8)));
    take(bytes);
    take(good.substr(0, i));
  }
  EXPECT_GT(accepted, 0);  // names and weights may be others
}

}  // namespace
}  // namespace linnet::onnx
