// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/joined_steps.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "base/check.h"

namespace linnet::cuda {
namespace {

constexpr std::size_t kInfos = 64;  // bytes before them in the list
constexpr std::size_t kLeastList = std::size_t{1} << 16;

CudaProgram* program_of(const LinkedPart& part) {
  if (part.program == nullptr) return nullptr;
  auto* program = dynamic_cast<CudaProgram*>(part.program);
  LINNET_ASSERT(program != nullptr);
  return program;
}

}  // namespace

JoinedSteps::JoinedSteps(std::shared_ptr<const Device> device, std::int64_t graph_steps,
                         Carry carry)
    : device_(std::move(device)),
      graph_steps_(graph_steps == CudaOptions::kWholeEpoch ? kStepsWithoutLoop : graph_steps),
      carry_(std::move(carry)) {}

void JoinedSteps::list(const std::vector<StepInfo>& infos) {
  const std::size_t bytes = kInfos + infos.size() * sizeof(StepInfo);
  if (list_ == nullptr || list_->bytes() < bytes) {
    for (Form& form : forms_) form.forget();  // its graphs read the old one
    list_ = allocate(device_, std::bit_ceil(std::max(bytes, kLeastList)));
  }
  std::vector<std::byte> all(bytes);
  if (!infos.empty()) std::memcpy(all.data() + kInfos, infos.data(), bytes - kInfos);
  upload(*device_, list_->data(), all);
}

void JoinedSteps::enqueue_step(const Form& form) const {
  const StepList steps{.next = reinterpret_cast<std::uint64_t*>(list_->data()),
                       .infos = reinterpret_cast<const StepInfo*>(list_->data() + kInfos)};
  for (const LinkedPart& part : form.parts) {
    if (const CudaProgram* program = program_of(part)) {
      program->enqueue_step(steps, part.repack);
    } else {
      carry_(form.memory, part);
    }
  }
}

JoinedSteps::Form* JoinedSteps::known(const Form& form) {
  const auto found = std::ranges::find_if(forms_, [&](const Form& other) {
    return other.memory == form.memory && other.parts == form.parts;
  });
  if (found == forms_.end()) return nullptr;
  forms_.splice(forms_.begin(), forms_, found);
  if (found->settings != form.settings) {
    found->settings = form.settings;
    found->forget();
  }
  return &*found;
}

void JoinedSteps::capture(Form& form, std::uint64_t steps) {
  const auto graph_of = [&](std::int64_t count) {
    return CapturedGraph::capture(device_->stream(), [&] {
      for (std::int64_t i = 0; i < count; ++i) enqueue_step(form);
    });
  };
  const auto many = static_cast<std::uint64_t>(graph_steps_);
  try {
    if (graph_steps_ > 1 && steps >= many && !form.many) form.many = graph_of(graph_steps_);
    if ((graph_steps_ == 1 || steps % many > 0) && !form.single) form.single = graph_of(1);
  } catch (const Error& error) {
    for (const LinkedPart& part : form.parts) {
      CudaProgram* const program = program_of(part);
      if (program == nullptr) continue;
      program->fall_back(fmt::format("steps of several ranks cannot be captured in a graph ({})",
                                     error.what()),
                         "their kernels are launched one by one");
      break;
    }
    graph_steps_ = 0;
    form.forget();
  }
}

void JoinedSteps::enqueue(std::byte* memory, const LinkedSteps& steps) {
  device_->activate();
  list(steps.infos);
  Form fresh{.memory = memory, .parts = steps.parts};
  for (const LinkedPart& part : steps.parts) {
    CudaProgram* const program = program_of(part);
    if (program == nullptr) continue;
    program->make_ready();
    fresh.settings.push_back(program->setting());
  }
  Form* const form = known(fresh);
  if (form != nullptr && graph_steps_ > 0) capture(*form, steps.count);
  std::uint64_t left = steps.count;
  if (form != nullptr && form->many) {
    for (const auto many = static_cast<std::uint64_t>(graph_steps_); left >= many; left -= many) {
      form->many.launch(device_->stream());
    }
  }
  for (; left > 0; --left) {
    if (form != nullptr && form->single) {
      form->single.launch(device_->stream());
    } else {
      enqueue_step(fresh);
    }
  }
  if (form != nullptr) return;
  forms_.push_front(std::move(fresh));
  if (forms_.size() > kForms) forms_.pop_back();
}

}  // namespace linnet::cuda
