// SPDX-License-Identifier: Apache-2.0
#include <dlpack/dlpack.h>
#include <gtest/gtest.h>
#include <linnet/error.h>
#include <linnet/tensor.h>

#include <array>

#include "message_of.h"

namespace linnet {
namespace {

using testing::message_of;

/// A tensor of another library's, which counts how often it is deleted.
struct Foreign {
  explicit Foreign(std::vector<std::int64_t> shape, DLDataType type = {kDLFloat, 32, 1})
      : dims(std::move(shape)) {
    managed.dl_tensor = {.data = memory.data(),
                         .device = {kDLCPU, 0},
                         .ndim = static_cast<int>(dims.size()),
                         .dtype = type,
                         .shape = dims.data(),
                         .strides = nullptr,
                         .byte_offset = 0};
    managed.manager_ctx = this;
    managed.deleter = [](DLManagedTensor* self) {
      ++static_cast<Foreign*>(self->manager_ctx)->deleted;
    };
  }
  Foreign(const Foreign&) = delete;
  Foreign& operator=(const Foreign&) = delete;

  std::vector<std::int64_t> dims;
  std::vector<std::int64_t> strides;
  std::array<float, 8> memory{0, 1, 2, 3, 4, 5, 6, 7};
  DLManagedTensor managed{};
  int deleted = 0;
};

std::string refusal(Foreign& foreign) {
  const std::string message = message_of([&] { from_dlpack(&foreign.managed); });
  EXPECT_EQ(foreign.deleted, 0) << "it stays the caller's";
  return message;
}

TEST(TensorDlpack, TakesMemoryOverAndDeletesItOnce) {
  Foreign foreign({2, 3});
  {
    Tensor tensor = from_dlpack(&foreign.managed);
    EXPECT_EQ(tensor.shape(), (Shape{2, 3}));
    EXPECT_EQ(tensor.dtype(), DType::f32);
    EXPECT_EQ(tensor.as<float>().data(), foreign.memory.data());
    EXPECT_FALSE(tensor.read_only());
    EXPECT_TRUE(tensor.owns_memory());
    const Tensor row = tensor.rows(1, 2);
    tensor = {};
    EXPECT_EQ(foreign.deleted, 0) << "a copy still has it";
    EXPECT_EQ(row.as<float>()[0], 3);
  }
  EXPECT_EQ(foreign.deleted, 1);
}

TEST(TensorDlpack, TakesOffsetsScalarsAndNothing) {
  Foreign offset({3});
  offset.managed.dl_tensor.byte_offset = 8;
  EXPECT_EQ(from_dlpack(&offset.managed).as<float>()[0], 2);
  Foreign scalar({});
  EXPECT_EQ(from_dlpack(&scalar.managed).item<float>(), 0);
  Foreign nothing({0, 4});
  nothing.managed.dl_tensor.data = nullptr;
  nothing.managed.deleter = nullptr;  // allowed: nothing is to be done
  EXPECT_EQ(from_dlpack(&nothing.managed).shape(), (Shape{0, 4}));
}

TEST(TensorDlpack, TakesStridesThatAreDense) {
  Foreign foreign({2, 1, 3});
  foreign.strides = {3, 99, 1};  // a dimension of 1 is never strided over
  foreign.managed.dl_tensor.strides = foreign.strides.data();
  EXPECT_EQ(from_dlpack(&foreign.managed).as<float>()[5], 5);
  foreign.deleted = 0;
  foreign.strides = {1, 1, 2};
  EXPECT_EQ(refusal(foreign),
            "expected a dense row-major DLPack tensor (2, 1, 3); dimension 0 has a stride of 1, "
            "not 3");
}

TEST(TensorDlpack, LeavesWhatItRefusesToTheCaller) {
  Foreign device({2});
  device.managed.dl_tensor.device = {kDLVulkan, 0};
  EXPECT_EQ(refusal(device),
            "expected a DLPack tensor in the memory of the CPU or of a CUDA device; got device "
            "type 7");
  const std::string types =
      "expected a DLPack tensor of float16, float32, float64, bfloat16, uint8, int32, int64 or "
      "bool; got type code ";
  Foreign whole({2}, {kDLInt, 8, 1});
  EXPECT_EQ(refusal(whole), types + "0 of 8 bits and 1 lanes");
  Foreign lanes({2}, {kDLFloat, 32, 4});
  EXPECT_EQ(refusal(lanes), types + "2 of 32 bits and 4 lanes");
  Foreign axes(std::vector<std::int64_t>(9, 1));
  EXPECT_EQ(refusal(axes), "expected a shape of at most 8 axes; got 9");
  Foreign negative({2, -1});
  EXPECT_EQ(refusal(negative), "expected dims of at least 0; got (2, -1)");
  Foreign huge({std::int64_t{1} << 40, std::int64_t{1} << 40});
  EXPECT_NE(refusal(huge), "");
  Foreign odd({1});
  odd.managed.dl_tensor.byte_offset = 2;
  EXPECT_EQ(refusal(odd), "the memory of a tensor of f32 (1) must start at a multiple of 4 bytes");
  EXPECT_EQ(message_of([] { from_dlpack(nullptr); }), "expected a DLPack tensor; got null");
}

TEST(TensorDlpack, KnowsMemoryOfADevice) {
  Foreign foreign({2});
  foreign.managed.dl_tensor.device = {kDLCUDA, 1};
  {
    const Tensor tensor = from_dlpack(&foreign.managed);
    EXPECT_EQ(tensor.device(), (Device{Device::Kind::cuda, 1}));
    EXPECT_EQ(message_of([&] { tensor.clone(); }),
              "a tensor in the memory of cuda:1 belongs to another library and cannot be copied to the host; copy it with that library");
    DLManagedTensor* out = to_dlpack(tensor);
    EXPECT_EQ(out->dl_tensor.device.device_type, kDLCUDA);
    EXPECT_EQ(out->dl_tensor.device.device_id, 1);
    out->deleter(out);
    EXPECT_EQ(foreign.deleted, 0);
  }
  EXPECT_EQ(foreign.deleted, 1);
}

TEST(TensorDlpack, HandsItsMemoryOut) {
  DLManagedTensor* out = nullptr;
  const void* place = nullptr;
  {
    const Tensor tensor(std::vector<std::int64_t>{1, 2, 3, 4, 5, 6}, {3, 2});
    const Tensor rows = tensor.rows(1, 3);
    place = rows.bytes().data();
    out = to_dlpack(rows);
  }
  const DLTensor& t = out->dl_tensor;
  EXPECT_EQ(static_cast<const std::byte*>(t.data) + t.byte_offset, place);
  EXPECT_EQ(static_cast<const std::int64_t*>(t.data)[0], 3) << "the memory lives on";
  EXPECT_EQ(t.ndim, 2);
  EXPECT_TRUE(t.shape[0] == 2 && t.shape[1] == 2 && t.strides[0] == 2 && t.strides[1] == 1);
  EXPECT_TRUE(t.dtype.code == kDLInt && t.dtype.bits == 64 && t.dtype.lanes == 1);
  EXPECT_EQ(t.device.device_type, kDLCPU);
  out->deleter(out);
}

TEST(TensorDlpack, ThereAndBackForEveryType) {
  for (const DType dtype : {DType::f32, DType::f64, DType::bf16, DType::u8, DType::i32, DType::f16,
                            DType::i64, DType::boolean}) {
    const Tensor tensor = Tensor(std::vector<float>{0, 1, 1}, {3, 1}).to(dtype);
    const Tensor back = from_dlpack(to_dlpack(tensor));
    EXPECT_TRUE(same_bits(back, tensor)) << to_string(dtype);
    EXPECT_EQ(back.bytes().data(), tensor.bytes().data());
  }
}

TEST(TensorDlpack, KeepsReadOnlyMemoryToItself) {
  const std::array<float, 2> values{1, 2};
  EXPECT_EQ(message_of([&] { to_dlpack(Tensor::borrow(values, {2})); }),
            "a tensor f32 (2) is read-only, which DLPack cannot express; clone() it");
}

}  // namespace
}  // namespace linnet
