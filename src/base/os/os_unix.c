/* Code that Linux and macOS share, as systems that have shared libraries and
** map memory page by page. */
#define _GNU_SOURCE
#include "base/os/os.h"

#include <dlfcn.h>
#include <sys/mman.h>

void la_os_unmap(void *block, size_t size) { munmap(block, size); }

void *la_os_symbol(void *library, const char *name)
{
    return dlsym(library, name);
}
