/* tostring and print options. */
#include "lua/face.h"

const la_part la_part_print = {NULL, NULL};
