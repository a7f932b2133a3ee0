/* For tools/cross/macos.sh: what os_macos.c needs of macOS and POSIX has not,
** declared after its documentation. */
#include <stddef.h>

int sysctlbyname(const char *name, void *old, size_t *old_size, void *value,
                 size_t size);
void arc4random_buf(void *bytes, size_t n);
