// SPDX-License-Identifier: Apache-2.0
// Tensors handed over without a copy, on the CPU and on the device.
#include <dlpack/dlpack.h>
#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "cuda_model.h"
#include "message_of.h"
#include "model/model_state.h"

namespace linnet::testing {
namespace {

/// A tensor of somebody else, on the backend's device: 2 samples of 2 numbers, unless changed.
struct Foreign {
  std::unique_ptr<Buffer> memory;
  std::vector<std::int64_t> shape{2, 2};
  std::vector<std::int64_t> strides{2, 1};
  int deleted = 0;
  DLManagedTensor tensor{};

  Foreign(const Backend& backend, DLDeviceType device)
      : memory(backend.allocate(5 * sizeof(float))) {
    write(backend, {9, 1, 2, 3, 4});
    tensor.dl_tensor = {.data = memory->data(),
                        .device = {device, 0},
                        .ndim = 2,
                        .dtype = {kDLFloat, 32, 1},
                        .shape = shape.data(),
                        .strides = nullptr,
                        .byte_offset = sizeof(float)};
    tensor.manager_ctx = this;
    tensor.deleter = [](DLManagedTensor* self) {
      ++static_cast<Foreign*>(self->manager_ctx)->deleted;
    };
  }
  void write(const Backend& backend, const std::vector<float>& values) const {
    backend.upload(*memory, 0, std::as_bytes(std::span(values)));
  }
};

class DlpackOnBoth : public ::testing::TestWithParam<const char*> {
 protected:
  static Model on(const std::string& device) {
    Network network({2}, {Dense{.units = 3}});
    return device == "cuda" ? cuda_model(std::move(network))
                            : Model(std::move(network), {.device = "cpu", .threads = 1});
  }
  DLDeviceType device() const { return std::string(GetParam()) == "cuda" ? kDLCUDA : kDLCPU; }
  const Backend& backend() const { return *model_->state().backend; }

  const MachineGuard machine_;
  std::optional<Model> model_ = on(GetParam());
  std::optional<Predictor> predictor_{std::in_place, *model_};
};
INSTANTIATE_TEST_SUITE_P(Dlpack, DlpackOnBoth, ::testing::Values("cpu", "cuda"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(DlpackOnBoth, AParameterIsTheModelsOwnMemory) {
  DLManagedTensor* managed = to_dlpack(model_->parameter_memory("dense_1.weight"));
  const DLTensor& t = managed->dl_tensor;
  EXPECT_EQ(t.device.device_type, device());
  EXPECT_EQ(t.device.device_id, 0);
  EXPECT_EQ(t.dtype.code, kDLFloat);
  EXPECT_EQ(t.dtype.bits, 32);
  EXPECT_EQ(t.dtype.lanes, 1);
  EXPECT_EQ(t.byte_offset, 0U);
  const Shape shape = model_->parameter_shape("dense_1.weight");
  ASSERT_EQ(t.ndim, 2);
  EXPECT_EQ(Shape(std::span(t.shape, 2)), shape);
  EXPECT_EQ(t.strides[0], shape[1]);
  EXPECT_EQ(t.strides[1], 1);
  const std::vector<float> values{1, 2, 3, 4, 5, 6};
  set_parameter(*model_, "dense_1.weight", values);
  EXPECT_EQ(copy_of(static_cast<const float*>(t.data), 6), values);
  managed->deleter(managed);
  EXPECT_EQ(message_of([&] { model_->parameter_memory("dense_2.weight"); }),
            "the model has no parameter 'dense_2.weight'; did you mean 'dense_1.weight'?");
}

TEST_P(DlpackOnBoth, AnOutputOutlivesItsPredictorAndModel) {
  set_parameter(*model_, "dense_1.weight", std::vector<float>(6, 1));
  const std::vector<float> in{1, 2, 3, 4};
  copy(predictor_->input(2).writable_bytes().data(), in.data(), sizeof(float) * 4);
  predictor_->run(2);
  DLManagedTensor* managed = to_dlpack(predictor_->output(2));
  EXPECT_EQ(managed->dl_tensor.data, predictor_->output(2).bytes().data());
  predictor_.reset();
  model_.reset();
  const DLTensor& t = managed->dl_tensor;
  EXPECT_EQ(Shape(std::span(t.shape, static_cast<std::size_t>(t.ndim))), (Shape{2, 3}));
  EXPECT_EQ(copy_of(static_cast<const float*>(t.data), 6), (std::vector<float>{3, 3, 3, 7, 7, 7}));
  managed->deleter(managed);
}

TEST_P(DlpackOnBoth, AnInputIsReadWhereItLies) {
  set_parameter(*model_, "dense_1.weight", std::vector<float>(6, 1));
  Foreign foreign(backend(), device());
  const auto first_of_each = [&] {
    predictor_->run(2);
    const Tensor y = predictor_->output(2).to_host();
    return std::vector<float>{y.as<float>()[0], y.as<float>()[3]};
  };
  predictor_->set_input(from_dlpack(&foreign.tensor));
  EXPECT_EQ(first_of_each(), (std::vector<float>{3, 7}));
  foreign.write(backend(), {9, 10, 2, 3, 4});
  EXPECT_EQ(first_of_each(), (std::vector<float>{12, 7}));
  EXPECT_EQ(foreign.deleted, 0);
  Foreign next(backend(), device());
  predictor_->set_input(from_dlpack(&next.tensor));
  EXPECT_EQ(foreign.deleted, 1);
  predictor_.reset();
  EXPECT_EQ(foreign.deleted, 1);
  EXPECT_EQ(next.deleted, 1);
}

TEST_P(DlpackOnBoth, WhatDoesNotFitStaysTheCallers) {
  // Of a tensor that from_dlpack() takes: it stays until its Tensor goes, which is the caller's.
  const auto refusal = [&](const std::function<void(Foreign&)>& change) {
    Foreign foreign(backend(), device());
    change(foreign);
    std::string message;
    {
      const Tensor samples = from_dlpack(&foreign.tensor);
      message = message_of([&] { predictor_->set_input(samples); });
      EXPECT_EQ(foreign.deleted, 0) << message;
    }
    EXPECT_EQ(foreign.deleted, 1) << message;
    return message;
  };
  EXPECT_EQ(refusal([](Foreign& f) {
              f.tensor.dl_tensor.dtype.bits = 64;
              f.tensor.dl_tensor.byte_offset = 0;
            }),
            "expected samples in f32 or u8; got f64");
  EXPECT_EQ(refusal([](Foreign& f) { f.shape[1] = 3; }),
            "expected samples of (2), as a batch (N, 2); got (2, 3)");
  EXPECT_EQ(refusal([](Foreign& f) { f.tensor.dl_tensor.ndim = 1; }),
            "expected a batch of samples (N, 2); got one sample (2), whose batch is (1, 2)");
  EXPECT_EQ(refusal([](Foreign& f) { f.shape[0] = 0; }), "expected a batch of at least 1; got 0");
  const bool on_cpu = device() == kDLCPU;
  EXPECT_EQ(
      refusal([&](Foreign& f) {
        f.tensor.dl_tensor.device = {on_cpu ? kDLCUDA : kDLCPU, 0};
      }),
      fmt::format(
          "expected samples in the memory of {}, as the model; got a tensor in the memory of {}",
          on_cpu ? "cpu" : "cuda:0", on_cpu ? "cuda:0" : "cpu"));
  EXPECT_EQ(refusal([&](Foreign& f) {
              f.tensor.dl_tensor.device = {kDLCUDA, 1};
            }),
            fmt::format("expected samples in the memory of {}, as the model; got a tensor in the "
                        "memory of cuda:1",
                        on_cpu ? "cpu" : "cuda:0"));
  // The input that was set stays.
  Foreign good(backend(), device());
  predictor_->set_input(from_dlpack(&good.tensor));
  EXPECT_NE(refusal([](Foreign& f) { f.shape[1] = 3; }), "");
  EXPECT_EQ(good.deleted, 0);
  model_.reset();  // the predictor alone keeps it
  predictor_.reset();
  EXPECT_EQ(good.deleted, 1);
}

TEST_P(DlpackOnBoth, WhatNoTensorHoldsStaysTheCallers) {
  const auto refusal = [&](const std::function<void(Foreign&)>& change) {
    Foreign foreign(backend(), device());
    change(foreign);
    const std::string message = message_of([&] { from_dlpack(&foreign.tensor); });
    EXPECT_EQ(foreign.deleted, 0) << message;
    return message;
  };
  EXPECT_EQ(
      refusal([](Foreign& f) {
        f.strides = {1, 2};
        f.tensor.dl_tensor.strides = f.strides.data();
      }),
      "expected a dense row-major DLPack tensor (2, 2); dimension 0 has a stride of 1, not 2");
  EXPECT_EQ(
      refusal([](Foreign& f) { f.tensor.dl_tensor.device.device_type = kDLROCM; }),
      "expected a DLPack tensor in the memory of the CPU or of a CUDA device; got device type "
      "10");
}

}  // namespace
}  // namespace linnet::testing
