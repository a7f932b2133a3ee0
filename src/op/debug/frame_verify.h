/* Self-check of a call in the debug build; nothing in others. */
#ifndef LA_OP_DEBUG_FRAME_VERIFY_H
#define LA_OP_DEBUG_FRAME_VERIFY_H

#include "op/frame.h"

/* Before it runs: the arguments are as many and of the tags that the schema
** allows, and outputs are there where the form asks for them. */
#ifdef LA_DEBUG
void la_frame_verify(const la_frame *f);
/* After it has run: as many results as the schema has, and sound ones. */
void la_frame_verify_results(const la_frame *f);
#else
static inline void la_frame_verify(const la_frame *f) {}
static inline void la_frame_verify_results(const la_frame *f) {}
#endif

#endif
