/*
** Deflate (RFC 1950 to 1952) for .npz, PNG and what is embedded: zlib, or, with
** LA_NO_ZLIB, functions of the same names and meanings that the one file
** brings along.
*/
#ifndef LA_IO_FLATE_H
#define LA_IO_FLATE_H

#ifdef LA_NO_ZLIB
#include "tools/embed/flate/flate.h"
#else
#include <zlib.h>
#endif

#endif
