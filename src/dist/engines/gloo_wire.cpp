// SPDX-License-Identifier: Apache-2.0
// The plug-in liblinnet_gloo.so: messages between two processes by Gloo over TCP, by its buffers of
// single sends and receives, and its all-reduce for RankReduce::fast.
#include <gloo/allreduce.h>
#include <gloo/math.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/store.h>
#include <gloo/transport/tcp/device.h>
#include <gloo/transport/unbound_buffer.h>
#include <pthread.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <ctime>
#include <future>
#include <map>
#include <mutex>
#include <thread>

#include "base/check.h"
#include "base/version.h"
#include "dist/wire.h"

namespace linnet {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kSlot = 1;
// Gloo closes every connection when one of its waits is too long: the watch decides instead.
constexpr auto kForever = std::chrono::hours(24 * 365);

/// Gloo's ranks set keys that end with their number, e.g. "rank_3", and ask for those of all
/// others.
class GatheredStore : public gloo::rendezvous::Store {
 public:
  explicit GatheredStore(GatherTexts gather) : gather_(std::move(gather)) {}
  void set(const std::string& key, const std::vector<char>& data) override {
    all_[split(key).first] = gather_(std::string(data.begin(), data.end()));
  }
  std::vector<char> get(const std::string& key) override {
    const auto [name, rank] = split(key);
    const std::string& text = all_.at(name).at(rank);
    return {text.begin(), text.end()};
  }
  void wait(const std::vector<std::string>&) override {}  // set() has waited

 private:
  static std::pair<std::string, std::size_t> split(const std::string& key) {
    const std::size_t end = key.find_last_not_of("0123456789");
    const std::size_t digits = end == std::string::npos ? 0 : end + 1;
    require(digits < key.size(), "expected a key of Gloo with a rank; got '{}'", key);
    return {key.substr(0, digits), std::stoul(key.substr(digits))};
  }

  GatherTexts gather_;
  std::map<std::string, std::vector<std::string>> all_;
};

/// Gloo writes to connections that the other side may have closed, which would end the process. A
/// thread that Gloo starts here keeps this mask.
class PipeSignalHeld {
 public:
  PipeSignalHeld() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    sigset_t pending{};
    sigpending(&pending);
    had_ = sigismember(&pending, SIGPIPE) != 0;
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~PipeSignalHeld() {
    const timespec none{};
    if (!had_) sigtimedwait(&pipe_, nullptr, &none);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  PipeSignalHeld(const PipeSignalHeld&) = delete;
  PipeSignalHeld& operator=(const PipeSignalHeld&) = delete;

 private:
  sigset_t pipe_{};
  sigset_t before_{};
  bool had_ = false;
};

/// A thread that is started here does not interrupt others when it wakes. Gloo's polls without a
/// pause while the thread that it has interrupted holds its lock: for milliseconds, where both
/// share a processor.
class Yielding {
 public:
  Yielding() {
    if (pthread_getschedparam(pthread_self(), &policy_, &before_) != 0) policy_ = -1;
    if (policy_ == SCHED_OTHER) pthread_setschedparam(pthread_self(), SCHED_BATCH, &before_);
  }
  ~Yielding() {
    if (policy_ == SCHED_OTHER) pthread_setschedparam(pthread_self(), policy_, &before_);
  }
  Yielding(const Yielding&) = delete;
  Yielding& operator=(const Yielding&) = delete;

 private:
  int policy_ = -1;
  sched_param before_{};
};

/// Passes on the exceptions of Gloo as our own.
template <class F>
auto with_gloo(const F& call) {
  const PipeSignalHeld held;
  try {
    return call();
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    // "[file:line] sentence"
    const std::string text = error.what();
    const std::size_t bracket = text.find("] ");
    fail("{}", bracket == std::string::npos ? text : text.substr(bracket + 2));
  }
}

class GlooWire : public Wire {
 public:
  explicit GlooWire(const WireOptions& options)
      : rank_(options.ranks.rank), size_(options.ranks.size) {
    with_gloo([&] {
      gloo::transport::tcp::attr attributes;
      attributes.hostname = options.own_address;
      std::shared_ptr<gloo::transport::Device> device = [&] {
        const Yielding yielding;
        return gloo::transport::tcp::CreateDevice(attributes);
      }();
      GatheredStore store(options.gather);
      context_ = std::make_shared<gloo::rendezvous::Context>(rank_, size_);
      context_->setTimeout(
          std::chrono::milliseconds(static_cast<std::int64_t>(options.ranks.start_seconds * 1000)));
      context_->connectFullMesh(store, device);
    });
  }
  int rank() const override { return rank_; }
  int size() const override { return size_; }

  void begin(int partner, std::span<const std::byte> send, std::span<std::byte> receive) override {
    with_gloo([&] {
      const std::lock_guard lock(mutex_);
      in_ = receive.empty() ? nullptr : buffer_of(receive);
      // Gloo only reads from it.
      out_ = send.empty() ? nullptr
                          : buffer_of({const_cast<std::byte*>(send.data()), send.size()});
      if (in_ != nullptr) in_->recv(partner, kSlot);
      if (out_ != nullptr) out_->send(partner, kSlot);
    });
  }

  void begin_sum(std::span<float> values) override {
    // It returns when it is done, so it has a thread; one that waits for a lost rank never ends.
    std::promise<void> done;
    sum_ = done.get_future();
    std::thread([context = context_, values, done = std::move(done)]() mutable {
      try {
        with_gloo([&] {
          gloo::AllreduceOptions options(context);
          options.setOutput(values.data(), values.size());
          options.setReduceFunction(
              static_cast<void (*)(void*, const void*, const void*, std::size_t)>(
                  &gloo::sum<float>));
          options.setTimeout(kForever);
          gloo::allreduce(options);
        });
        done.set_value();
      } catch (...) {
        done.set_exception(std::current_exception());
      }
    }).detach();
  }

  bool wait() override {
    if (interrupted_.exchange(false)) return false;
    if (sum_.valid()) {
      if (sum_.wait_for(10ms) != std::future_status::ready) return false;
      sum_.get();
      return true;
    }
    return with_gloo([&] {
      if (in_ != nullptr && !in_->waitRecv(kForever)) return false;
      {
        const std::lock_guard lock(mutex_);
        in_ = nullptr;
      }
      return out_ == nullptr || out_->waitSend(kForever);
    });
  }

  void interrupt() override {
    interrupted_ = true;  // for a wait() that has not begun
    const std::lock_guard lock(mutex_);
    if (in_ != nullptr) in_->abortWaitRecv();
    if (out_ != nullptr) out_->abortWaitSend();
  }

  void close(bool /*all_are_there*/) override {
    try {
      with_gloo([&] {
        const std::lock_guard lock(mutex_);
        in_ = nullptr;
        out_ = nullptr;
        context_->closeConnections();
      });
    } catch (const Error&) {
      // The connections are gone already.
    }
    // Without connections nothing is written any more but what is being added now.
    if (sum_.valid()) sum_.wait_for(1s);
  }

 private:
  /// Returns Gloo's handle of some memory. Arrays of a training come again, and the end of a handle
  /// polls without a pause for Gloo's thread.
  std::shared_ptr<gloo::transport::UnboundBuffer> buffer_of(std::span<std::byte> memory) {
    if (buffers_.size() >= kBuffers) buffers_.clear();
    auto& buffer = buffers_[{memory.data(), memory.size()}];
    if (buffer == nullptr) buffer = context_->createUnboundBuffer(memory.data(), memory.size());
    return buffer;
  }

  int rank_;
  int size_;
  std::shared_ptr<gloo::rendezvous::Context> context_;
  std::future<void> sum_;  ///< that was begun
  std::mutex mutex_;       // of the buffers themselves, which interrupt() may reach at any time
  static constexpr std::size_t kBuffers = 256;
  std::map<std::pair<std::byte*, std::size_t>, std::shared_ptr<gloo::transport::UnboundBuffer>>
      buffers_;
  std::shared_ptr<gloo::transport::UnboundBuffer> in_;
  std::shared_ptr<gloo::transport::UnboundBuffer> out_;
  std::atomic<bool> interrupted_{false};
};

std::unique_ptr<Wire> open(const WireOptions& options) {
  return std::make_unique<GlooWire>(options);
}

}  // namespace
}  // namespace linnet

extern "C" __attribute__((visibility("default"))) const linnet::RankPlugin* linnet_rank_plugin() {
  static const linnet::RankPlugin plugin{linnet::kVersionText, linnet::open};
  return &plugin;
}
