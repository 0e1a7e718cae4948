// SPDX-License-Identifier: Apache-2.0
#pragma once

#ifndef _WIN32
#include <pthread.h>

#include <csignal>
#endif

namespace linnet {

/// Keeps signal handlers off the calling thread. In oneDNN's sgemm (up to 3.11, its issue 4845) the
/// stack pointer may lie in a heap buffer, so that a handler's frame would destroy the heap.
/// Windows runs handlers on a thread of their own.
class SignalsHeld {
 public:
#ifdef _WIN32
  SignalsHeld() {}   // NOLINT: not trivial, so that an object of it is used
  ~SignalsHeld() {}  // NOLINT
#else
  SignalsHeld() {
    sigset_t held;
    sigfillset(&held);
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS}) {
      sigdelset(&held, fault);
    }
    pthread_sigmask(SIG_BLOCK, &held, &before_);
  }
  ~SignalsHeld() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
#endif
  SignalsHeld(const SignalsHeld&) = delete;
  SignalsHeld& operator=(const SignalsHeld&) = delete;

#ifndef _WIN32
 private:
  sigset_t before_{};
#endif
};

}  // namespace linnet
