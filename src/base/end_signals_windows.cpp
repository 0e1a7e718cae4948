// SPDX-License-Identifier: Apache-2.0
#include <cstddef>

#include "base/end_signals.h"

namespace linnet {

// Windows calls a handler once, on a thread of its own, as sigaction() does with SA_RESETHAND.
EndSignals::EndSignals(void (*handler)(int), CaughtSignals& caught) {
  for (std::size_t i = 0; i < kEndSignals.size(); ++i) {
    before_[i] = std::signal(kEndSignals[i], handler);
    const bool ignored = before_[i] == SIG_IGN;
    if (ignored) std::signal(kEndSignals[i], SIG_IGN);
    caught[i] = ignored ? 0 : kEndSignals[i];
  }
}

EndSignals::~EndSignals() {
  for (std::size_t i = 0; i < kEndSignals.size(); ++i) std::signal(kEndSignals[i], before_[i]);
}

}  // namespace linnet
