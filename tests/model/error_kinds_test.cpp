// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <linnet/error.h>
#include <linnet/layers.h>
#include <linnet/model.h>
#include <linnet/trainer.h>

#include <fstream>
#include <limits>
#include <typeinfo>
#include <vector>

#include "temporary_folder.h"

namespace linnet::testing {
namespace {

Network dense() { return Network({2}, {Dense{.units = 3}}); }

TEST(ErrorKinds, ADamagedOrMissingModelIsADataError) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "model.safetensors") << "not a model";
  EXPECT_THROW(Model::load(folder.path() / "model.safetensors"), DataError);
  EXPECT_THROW(Model::load(folder.path() / "none.safetensors"), DataError);
}

TEST(ErrorKinds, DataThatDoNotFitTheNetworkAreADataError) {
  Model model(dense());
  const Dataset wide{{{"x", Tensor(DType::f32, {4, 5})}}, {{"y", Tensor(DType::i32, {4})}}};
  EXPECT_THROW(train(model, wide, {}), DataError);
  std::vector<float> numbers(8, 0.0F);
  numbers[3] = std::numeric_limits<float>::quiet_NaN();
  const Tensor values = Tensor::borrow(numbers, {4, 2});
  const Dataset ruined{{{"x", values}}, {{"y", Tensor(DType::i32, {4})}}};
  EXPECT_THROW(train(model, ruined, {}), DataError);
}

TEST(ErrorKinds, AWrongOptionIsAnErrorAndNoKindOfIt) {
  Model model(dense());
  const Dataset data{{{"x", Tensor(DType::f32, {4, 2})}}, {{"y", Tensor(DType::i32, {4})}}};
  try {
    train(model, data, {.epochs = 0});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(typeid(error), typeid(Error)) << error.what();
  }
}

TEST(ErrorKinds, ADeviceThatIsNotThereIsADeviceError) {
  EXPECT_THROW(Model(dense(), {.device = "cuda", .cuda = {.library = "/nowhere/plug-in.so"}}),
               DeviceError);
}

TEST(ErrorKinds, WhatDoesNotFitIsOutOfMemoryWithItsBytes) {
  try {
    Model(Network({1 << 20}, {Dense{.units = 1 << 20}}));  // 4 TiB of weights
    FAIL();
  } catch (const OutOfMemory& error) {
    EXPECT_GE(error.wanted, std::size_t{1} << 42) << error.what();
  }
}

}  // namespace
}  // namespace linnet::testing
