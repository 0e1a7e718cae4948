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
                      std::unique_ptr<Watch> watch = nullptr);
  ~WatchedCommunicator() override;
  void watch(std::unique_ptr<Watch> watch);

  int rank() const override { return wire_->rank(); }
  int size() const override { return wire_->size(); }
  std::string engine() const override { return engine_; }
  void exchange(int partner, std::span<const std::byte> send,
                std::span<std::byte> receive) override;
  void leave(const std::string& reason) override;

 private:
  std::string engine_;
  std::unique_ptr<Wire> wire_;
  std::unique_ptr<Watch> watch_;
  void close();  // the memory of an exchange that is given up may be gone soon

  bool left_ = false;
  bool closed_ = false;
};

}  // namespace linnet
