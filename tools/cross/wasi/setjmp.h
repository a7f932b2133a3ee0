/* For a syntax check: WebAssembly has no jumps of its own. */
typedef int jmp_buf[4];
int setjmp(jmp_buf);
_Noreturn void longjmp(jmp_buf, int);
