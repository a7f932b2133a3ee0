/* What the machine grants this process. */
#ifndef LA_BASE_MACHINE_H
#define LA_BASE_MACHINE_H

/* Processors that the scheduler and the control group's quota allow, >= 1. */
int la_machine_threads(void);

#endif
