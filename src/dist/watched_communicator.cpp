// SPDX-License-Identifier: Apache-2.0
#include "dist/watched_communicator.h"

#include "base/check.h"

namespace linnet {

WatchedCommunicator::WatchedCommunicator(std::string engine, std::unique_ptr<Wire> wire,
                                         std::unique_ptr<RankWatch> watch)
    : engine_(std::move(engine)), wire_(std::move(wire)) {
  if (watch != nullptr) this->watch(std::move(watch));
}

void WatchedCommunicator::watch(std::unique_ptr<RankWatch> watch) {
  watch_ = std::move(watch);
  watch_->on_change([wire = wire_.get()] { wire->interrupt(); });
}

WatchedCommunicator::~WatchedCommunicator() {
  const bool whole = !left_ && (watch_ == nullptr || watch_->whole());
  watch_.reset();
  if (!closed_) wire_->close(whole);
}

void WatchedCommunicator::exchange(int partner, std::span<const std::byte> send,
                                   std::span<std::byte> receive) {
  LINNET_ASSERT(partner != rank() && partner >= 0 && partner < size());
  until_done(partner, [&] { wire_->begin(partner, send, receive); });
}

void WatchedCommunicator::sum(std::span<float> values) {
  until_done(-1, [&] { wire_->begin_sum(values); });
}

void WatchedCommunicator::look() {
  if (watch_ != nullptr) watch_->check(-1);
}

template <class F>
void WatchedCommunicator::until_done(int partner, const F& begin) {
  if (watch_ != nullptr) watch_->check(partner);
  require(!closed_, "the connection of rank {} to the others is closed", rank());
  try {
    begin();
    while (!wire_->wait()) {
      if (watch_ != nullptr) watch_->check(partner);
    }
  } catch (const RankError&) {
    close();
    throw;
  } catch (const Error& error) {
    close();
    if (watch_ == nullptr) throw;
    watch_->explain(partner, error.what());
  }
}

void WatchedCommunicator::close() {
  closed_ = true;
  wire_->close(false);
}

void WatchedCommunicator::leave(const std::string& reason) {
  left_ = true;
  if (watch_ != nullptr) watch_->leave(reason);
}

}  // namespace linnet
