/*
** Linked into programs of "make tsan". A Lua that was compiled with
** _FORTIFY_SOURCE, as Debian's, leaves functions by __longjmp_chk, which
** ThreadSanitizer does not know: it would keep every frame that an error of
** Lua passes, and ends the program at 65,536 of them ("CHECK failed:
** sanitizer_stackdepot.cpp"). It does know longjmp.
*/
#undef _FORTIFY_SOURCE
#include <setjmp.h>

__attribute__((visibility("default"))) _Noreturn
void __longjmp_chk(jmp_buf where, int value);

void __longjmp_chk(jmp_buf where, int value) { longjmp(where, value); }
