/* Files: la.save, la.load. */
#include "lua/face.h"

const la_part la_part_io = {NULL, NULL};
