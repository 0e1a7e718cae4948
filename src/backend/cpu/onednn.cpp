// SPDX-License-Identifier: Apache-2.0
#define LINNET_ONEDNN_NAMES  // what follows names oneDNN's functions themselves
#include "onednn_functions.h"

#include <dlfcn.h>
#include <dnnl.h>

#include <atomic>

#include "backend/cpu/onednn_library.h"
#include "base/check.h"

namespace linnet::cpu {
namespace {

std::string text_of(const dnnl_version_t& version) {
  return fmt::format("{}.{}.{}", version.major, version.minor, version.patch);
}

}  // namespace

#ifdef LINNET_ONEDNN_FILE
namespace {

std::atomic<bool> is_open{false};  // for onednn_version(), which opens nothing

struct Library {
  OneDnn functions{};
  std::string error;  ///< why it cannot be used; empty: it can
};

bool is_known_version(void* handle) {
  const auto version = reinterpret_cast<decltype(&::dnnl_version)>(dlsym(handle, "dnnl_version"));
  return version != nullptr && version()->major == DNNL_VERSION_MAJOR;
}

/// One attempt a process: a plan that was made without it must not change.
const Library& library() {
  static const Library opened = [] {
    Library found;
    void* handle = RTLD_DEFAULT;  // a wheel brings it along
    if (!is_known_version(handle)) {
      // Never closed: primitives must not outlive its code.
      handle = dlopen(LINNET_ONEDNN_FILE, RTLD_NOW | RTLD_LOCAL);
      if (handle == nullptr) {
        found.error = dlerror();
        return found;
      }
      if (!is_known_version(handle)) {
        found.error =
            fmt::format("{} is not of version {}", LINNET_ONEDNN_FILE, DNNL_VERSION_MAJOR);
        return found;
      }
    }
#define LINNET_LOOK_UP(name) \
  found.functions.name = reinterpret_cast<decltype(&::name)>(dlsym(handle, #name));
    LINNET_EACH_ONEDNN(LINNET_LOOK_UP)
#undef LINNET_LOOK_UP
    is_open = true;
    return found;
  }();
  return opened;
}

}  // namespace

const OneDnn& onednn() {
  const Library& opened = library();
  if (!opened.error.empty()) [[unlikely]] {
    fail<DeviceError>("the CPU needs oneDNN for this network, and it cannot be used: {}",
                      opened.error);
  }
  return opened.functions;
}

void require_onednn() { onednn(); }

bool has_onednn() { return library().error.empty(); }

std::string onednn_version() { return is_open ? text_of(*onednn().dnnl_version()) : ""; }

#else

void require_onednn() {}

bool has_onednn() { return true; }

std::string onednn_version() { return text_of(*dnnl_version()); }

#endif
}  // namespace linnet::cpu
