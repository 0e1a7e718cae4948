// SPDX-License-Identifier: Apache-2.0
#include "base/end_signals.h"

#include <cstddef>

namespace linnet {
namespace {

constexpr std::array<int, kEndSignals.size() + 1> kAll{kEndSignals[0], kEndSignals[1],
                                                       kEndSignals[2], SIGPIPE};

}  // namespace

EndSignals::EndSignals(void (*handler)(int), CaughtSignals& caught) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  sigemptyset(&action.sa_mask);
  for (std::size_t i = 0; i < kAll.size(); ++i) {
    if (kAll[i] == SIGPIPE) action.sa_handler = SIG_IGN;
    sigaction(kAll[i], &action, &before_[i]);
    const bool ignored = before_[i].sa_handler == SIG_IGN;
    if (ignored) sigaction(kAll[i], &before_[i], nullptr);
    if (i < caught.size()) caught[i] = ignored ? 0 : kAll[i];
  }
}

EndSignals::~EndSignals() {
  for (std::size_t i = 0; i < kAll.size(); ++i) sigaction(kAll[i], &before_[i], nullptr);
}

}  // namespace linnet
