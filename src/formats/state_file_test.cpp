// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <linnet/error.h>
#include <linnet/state.h>

#include <limits>
#include <string>
#include <vector>

#include "base/files.h"
#include "formats/safetensors.h"
#include "message_of.h"
#include "temporary_folder.h"

namespace linnet {
namespace {

using testing::message_of;
using testing::TemporaryFolder;
using testing::write_quickly;

State some_state() {
  State state;
  state.set("model/a", Tensor(std::vector<float>{1, -0.0F, 3e-40F}));
  state.set("b", Tensor(std::vector<double>{std::numeric_limits<double>::quiet_NaN(), 1.0 / 3},
                        Shape{2, 1}));
  state.set("count", Tensor(std::vector<std::int64_t>{std::int64_t{1} << 62}, Shape{}));
  state.set("none", Tensor(std::vector<float>{}));
  state.set("half", Tensor(std::vector<float>{1, 65504, -0.0F}).to(DType::f16));
  state.set("text", Tensor(std::vector<std::uint8_t>{'x', 0, 255}));
  return state;
}

TEST(StateFile, ReadsTheBitsThatWereWritten) {
  const TemporaryFolder folder;
  write_state(folder / "state", some_state());
  EXPECT_TRUE(same_bits(read_state(folder / "state"), some_state()));
  write_state(folder / "state", {});
  EXPECT_EQ(read_state(folder / "state").size(), 0U);
}

TEST(StateFile, IsASafetensorsFileWithATensorMore) {
  const TemporaryFolder folder;
  write_state(folder / "state", some_state());
  const SafetensorsFile file = read_safetensors(folder / "state");
  ASSERT_EQ(file.tensors().size(), some_state().size() + 1);
  EXPECT_EQ(file.tensors().back().name, "crc32");
}

TEST(StateFile, ADamageOfAnyByteIsFound) {
  const TemporaryFolder folder;
  write_state(folder / "state", some_state());
  const std::string good = read_file(folder / "state");
  const std::string sentence = "cannot read '" + (folder / "bad").string() +
                               "': it is damaged: its bytes do not match its checksum";
  for (std::size_t i = 0; i < good.size(); ++i) {
    for (const char flip : {'\1', '\x80', '\xFF'}) {
      std::string bad = good;
      bad[i] = static_cast<char>(bad[i] ^ flip);
      write_quickly(folder / "bad", bad);
      EXPECT_EQ(message_of([&] { read_state(folder / "bad"); }), sentence) << i;
    }
    write_quickly(folder / "bad", good.substr(0, i));
    EXPECT_EQ(message_of([&] { read_state(folder / "bad"); }), sentence) << i;
  }
  write_quickly(folder / "bad", good + '\0');
  EXPECT_EQ(message_of([&] { read_state(folder / "bad"); }), sentence);
}

TEST(StateFile, TheNameOfTheChecksumIsRefused) {
  const TemporaryFolder folder;
  const std::string path = (folder / "state").string();
  State state;
  state.set("crc32", Tensor(DType::f32, {1}));
  EXPECT_NE(message_of([&] { write_state(path, state); }), "");
  EXPECT_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace linnet
