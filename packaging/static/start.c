// SPDX-License-Identifier: Apache-2.0
// What a static program needs instead of the system's C library. A static program crashes when it
// opens a shared library on a system with another glibc. So this program opens none: no plug-ins,
// no modules of OpenSSL, no modules that look up names (nsswitch.conf).
#define _GNU_SOURCE
#include <dlfcn.h>
#include <nss.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

static _Thread_local const char* last_error = NULL;

static void* refuse(void) {
  last_error = "the static program opens no shared libraries";
  return NULL;
}

void* dlopen(const char* file, int mode) {
  (void)file, (void)mode;
  return refuse();
}

void* dlsym(void* handle, const char* name) {
  (void)handle, (void)name;
  return refuse();
}

int dlclose(void* handle) {
  (void)handle;
  refuse();
  return -1;
}

int dladdr(const void* address, Dl_info* info) {
  (void)address, (void)info;
  return 0;
}

char* dlerror(void) {
  char* error = (char*)last_error;
  last_error = NULL;
  return error;
}

// Files and DNS are part of the program; anything else would be opened.
static void look_up_names(void) {
  __nss_configure_lookup("hosts", "files dns");
  const char* const others[] = {"group", "networks", "passwd", "protocols", "services"};
  for (size_t i = 0; i < sizeof others / sizeof *others; ++i) {
    __nss_configure_lookup(others[i], "files");
  }
}

// Debian's OpenSSL looks for certificates where Debian has them.
static void find_certificates(void) {
  const char* const files[] = {
      "/etc/ssl/certs/ca-certificates.crt",  // Debian, Arch
      "/etc/pki/tls/certs/ca-bundle.crt",    // Red Hat
      "/etc/ssl/ca-bundle.pem",              // SUSE
      "/etc/ssl/cert.pem",                   // Alpine
  };
  for (size_t i = 0; i < sizeof files / sizeof *files; ++i) {
    if (access(files[i], R_OK) == 0) {
      setenv("SSL_CERT_FILE", files[i], 0);
      return;
    }
  }
}

__attribute__((constructor)) static void start(void) {
  look_up_names();
  find_certificates();
}
