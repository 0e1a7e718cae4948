// SPDX-License-Identifier: Apache-2.0
#include "serve/batcher.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <exception>
#include <utility>

#include "base/check.h"

namespace linnet::command {
namespace {

std::vector<std::int64_t> sizes_up_to(std::int64_t most) {
  std::vector<std::int64_t> sizes;
  for (std::int64_t size = 1; size < most; size *= 2) sizes.push_back(size);
  sizes.push_back(most);
  return sizes;
}

/// Rows of samples as one Tensor (size, ...); the rows after them repeat the last one.
Tensor stacked(std::span<const Tensor> rows, std::int64_t size) {
  Tensor all(rows[0].dtype(), rows[0].shape().with_batch(size));
  const std::size_t bytes = rows[0].bytes().size();
  for (std::int64_t i = 0; i < size; ++i) {
    const Tensor& row = rows[std::min<std::size_t>(static_cast<std::size_t>(i), rows.size() - 1)];
    if (bytes > 0) {
      std::memcpy(all.writable_bytes().data() + static_cast<std::size_t>(i) * bytes,
                  row.bytes().data(), bytes);
    }
  }
  return all;
}

}  // namespace

Batcher::Batcher(const Model& model, const BatcherOptions& options, bool probabilities, DType type,
                 ServerMetrics& metrics)
    : predictor_(model, {.probabilities = probabilities,
                         .batches = model.network().input_names().size() == 1
                                        ? sizes_up_to(options.most)
                                        : std::vector<std::int64_t>{},
                         .dtype = type}),
      options_(options),
      output_(model.network().output_names()[0]),
      metrics_(metrics),
      worker_([this] { work(); }) {}

Batcher::~Batcher() {
  end();
  worker_.join();
}

void Batcher::end() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  arrived_.notify_all();
}

bool Batcher::full() const {
  const std::lock_guard lock(mutex_);
  return queue_.size() >= options_.queue;
}

std::vector<std::vector<float>> Batcher::predict(std::vector<Sample> samples) {
  const Clock::time_point latest = Clock::now() + options_.limit;
  std::vector<std::future<std::vector<float>>> answers;
  {
    const std::lock_guard lock(mutex_);
    require<Overloaded>(!ending_, "the server is shutting down");
    require<Overloaded>(queue_.size() + samples.size() <= options_.queue,
                        "{} samples are waiting; the queue holds at most {}", queue_.size(),
                        options_.queue);
    for (Sample& sample : samples) {
      queue_.push_back({std::move(sample), {}, latest});
      answers.push_back(queue_.back().answer.get_future());
    }
    metrics_.waiting = static_cast<std::int64_t>(queue_.size());
  }
  arrived_.notify_one();
  std::vector<std::vector<float>> rows;
  for (auto& answer : answers) {
    require<Overloaded>(answer.wait_until(latest) == std::future_status::ready,
                        "no answer was ready within {} ms", options_.limit.count());
    rows.push_back(answer.get());
  }
  return rows;
}

void Batcher::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    arrived_.wait(lock, [&] { return ending_ || !queue_.empty(); });
    if (ending_) break;
    std::vector<Waiting> batch;
    while (!queue_.empty() && std::ssize(batch) < options_.most) {
      batch.push_back(std::move(queue_.front()));
      queue_.pop_front();
    }
    metrics_.waiting = static_cast<std::int64_t>(queue_.size());
    lock.unlock();
    std::erase_if(batch, [](const Waiting& w) { return w.latest < Clock::now(); });  // nobody waits
    if (!batch.empty()) answer(batch);
    lock.lock();
  }
  for (Waiting& waiting : queue_) {
    waiting.answer.set_exception(
        std::make_exception_ptr(Overloaded("the server is shutting down")));
  }
}

void Batcher::answer(std::vector<Waiting>& batch) {
  try {
    const auto count = std::bit_ceil(batch.size());
    const std::int64_t size = std::min(static_cast<std::int64_t>(count), options_.most);
    State inputs;
    for (const auto& [name, first] : batch[0].sample) {
      std::vector<Tensor> rows;
      for (const Waiting& waiting : batch) rows.push_back(waiting.sample[name]);
      inputs.set(name, stacked(rows, size));
    }
    const Tensor outputs = predictor_.predict(inputs)[output_].to(DType::f32);
    metrics_.count_batch(std::ssize(batch));
    const auto elements = outputs.as<float>();
    const std::size_t width = elements.size() / static_cast<std::size_t>(size);
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const auto row = elements.subspan(i * width, width);
      batch[i].answer.set_value({row.begin(), row.end()});
    }
  } catch (...) {
    for (Waiting& waiting : batch) waiting.answer.set_exception(std::current_exception());
  }
}

}  // namespace linnet::command
