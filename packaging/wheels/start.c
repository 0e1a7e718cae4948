// SPDX-License-Identifier: Apache-2.0
// What the start files of today's programs call and an older glibc lacks. An object of its own, which no
// shared library takes: that has no such sections. LINNET_START: the older version of the symbol.
#include <stddef.h>

#define LOCAL __attribute__((visibility("hidden")))

// 2.34. Before, a program ran its own constructors: its start file gave __libc_start_main a
// function for it.
typedef int Main(int, char**, char**);
typedef void Init(int, char**, char**);
int old_start(Main*, int, char**, Init*, void (*)(void), void (*)(void), void*);
__asm__(".symver old_start, __libc_start_main@" LINNET_START);
extern Init *__preinit_array_start[] LOCAL, *__preinit_array_end[] LOCAL,
    *__init_array_start[] LOCAL, *__init_array_end[] LOCAL;
LOCAL void _init(void);

static void construct(int count, char** arguments, char** environment) {
  for (Init** f = __preinit_array_start; f != __preinit_array_end; ++f)
    (*f)(count, arguments, environment);
  _init();
  for (Init** f = __init_array_start; f != __init_array_end; ++f)
    (*f)(count, arguments, environment);
}

LOCAL int __libc_start_main(Main* main, int count, char** arguments, Init* init, void (*fini)(void),
                            void (*loader_fini)(void), void* stack) {
  return old_start(main, count, arguments, init != NULL ? init : construct, fini, loader_fini,
                   stack);
}
