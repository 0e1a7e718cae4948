// SPDX-License-Identifier: Apache-2.0
// stdin, stdout and stderr as hidden variables of the file that is linked. Debian's archives are for programs, whose
// linker copies the library's variables; a shared library cannot. An object of its own, for files that name one.
// LINNET_STREAMS: the version of these symbols.
struct _IO_FILE;
typedef struct _IO_FILE* Stream;

#define STREAM(name)                             \
  __attribute__((visibility("hidden"))) Stream name; \
  extern const Stream system_##name;             \
  __asm__(".symver system_" #name ", " #name "@" LINNET_STREAMS)

STREAM(stdin);
STREAM(stdout);
STREAM(stderr);

static void copy_streams(void) {
  stdin = system_stdin;
  stdout = system_stdout;
  stderr = system_stderr;
}

// Before constructors of any priority, which may write.
typedef void Begin(void);
__attribute__((section(".init_array.00000"), used)) static Begin* const begin = copy_streams;
