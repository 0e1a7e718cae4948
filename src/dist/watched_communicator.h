// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "dist/communicator.h"
#include "dist/watch.h"
#include "dist/wire.h"

namespace linnet {

/// An engine's wire, with a watch that says which rank is lost.
class WatchedCommunicator : public Communicator {
 public:
  /// watch: null as long as the ranks have none.
  WatchedCommunicator(std::string engine, std::unique_ptr<Wire> wire,
                      std::unique_ptr<RankWatch> watch = nullptr);
  ~WatchedCommunicator() override;
  void watch(std::unique_ptr<RankWatch> watch);

  int rank() const override { return wire_->rank(); }
  int size() const override { return wire_->size(); }
  std::string engine() const override { return engine_; }
  void exchange(int partner, std::span<const std::byte> send,
                std::span<std::byte> receive) override;
  void sum(std::span<float> values) override;
  void look() override;
  void leave(const std::string& reason) override;

 private:
  /// Begins something on the wire and waits for it. partner: -1 for all ranks.
  template <class F>
  void until_done(int partner, const F& begin);
  void close();  // the memory of what is given up may be gone soon

  std::string engine_;
  std::unique_ptr<Wire> wire_;
  std::unique_ptr<RankWatch> watch_;

  bool left_ = false;
  bool closed_ = false;
};

}  // namespace linnet
