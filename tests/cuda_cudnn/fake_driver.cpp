// SPDX-License-Identifier: Apache-2.0
// A libcuda.so.1 for cuDNN without a driver: cuDNN compiles its kernels of batch norms while it
// makes plans, and loads them by the driver, which is not here. Nothing runs.
namespace {

constexpr int kSuccess = 0;
constexpr int kStubLibrary = 34;

/// Returns what a loaded module, library or function is.
int made(void** handle) {
  static int something;
  *handle = &something;
  return kSuccess;
}

}  // namespace

extern "C" {

int cuModuleLoadData(void** module) { return made(module); }
int cuModuleLoadDataEx(void** module) { return made(module); }
int cuModuleGetFunction(void** function) { return made(function); }
int cuModuleUnload() { return kSuccess; }
int cuLibraryLoadData(void** library) { return made(library); }
int cuLibraryGetKernel(void** kernel) { return made(kernel); }
int cuLibraryUnload() { return kSuccess; }
int cuKernelGetFunction(void** function) { return made(function); }
int cuFuncSetAttribute() { return kSuccess; }
int cuKernelSetAttribute() { return kSuccess; }

// cuDNN asks for their addresses, and would take the driver for missing without them.
#define LINNET_REFUSED(name) \
  int name() { return kStubLibrary; }
LINNET_REFUSED(cuCtxGetCurrent)
LINNET_REFUSED(cuCtxGetLimit)
LINNET_REFUSED(cuCtxPopCurrent)
LINNET_REFUSED(cuCtxPushCurrent)
LINNET_REFUSED(cuDeviceGet)
LINNET_REFUSED(cuDeviceGetCount)
LINNET_REFUSED(cuDriverGetVersion)
LINNET_REFUSED(cuFuncSetCacheConfig)
LINNET_REFUSED(cuGetErrorName)
LINNET_REFUSED(cuGetErrorString)
LINNET_REFUSED(cuKernelGetAttribute)
LINNET_REFUSED(cuKernelSetCacheConfig)
LINNET_REFUSED(cuLaunchCooperativeKernel)
LINNET_REFUSED(cuLaunchKernel)
LINNET_REFUSED(cuLaunchKernelEx)
LINNET_REFUSED(cuLibraryLoadFromFile)
LINNET_REFUSED(cuLinkAddData)
LINNET_REFUSED(cuLinkComplete)
LINNET_REFUSED(cuLinkCreate)
LINNET_REFUSED(cuLinkDestroy)
LINNET_REFUSED(cuOccupancyMaxPotentialClusterSize)
LINNET_REFUSED(cuStreamGetCtx)
#undef LINNET_REFUSED

}  // extern "C"
