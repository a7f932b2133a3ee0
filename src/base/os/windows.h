/* Settings for mingw-w64's headers; the build includes it before all. */
#ifndef LA_BASE_OS_WINDOWS_H
#define LA_BASE_OS_WINDOWS_H

#define __USE_MINGW_ANSI_STDIO 1    /* printf as in C99 */

#endif
