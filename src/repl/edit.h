/* Reading lines: with libedit on a terminal, plainly from anything else. */
#ifndef LA_REPL_EDIT_H
#define LA_REPL_EDIT_H

#include <stdbool.h>
#include <stddef.h>

typedef enum repl_line {
    REPL_LINE,     /* there is one */
    REPL_END,      /* end of input, or the terminal is gone */
    REPL_STOPPED   /* Ctrl-C: drop what was typed */
} repl_line;

/* Candidates for the word before the cursor: NULL-ended, each the text to
** insert; 'whole' are they as shown. Valid until the next call. */
typedef struct repl_candidates {
    int n;
    const char *insert;      /* what all have in common beyond the word */
    const char *const *list;
} repl_candidates;

/* Questions of the editor to the prompt about the text before the cursor, and
** about the whole of it: is it one to run, whole or wrong? What does it look
** like in colours, behind its first 'from' bytes and with 'cursor' bytes before
** the cursor (-1: none)? NULL for as it is; valid until the next call. */
typedef struct repl_callbacks {
    repl_candidates (*complete)(void *context, const char *text, size_t n);
    bool (*finished)(void *context, const char *text, size_t n);
    const char *(*paint)(void *context, const char *text, size_t n,
                         size_t from, long cursor);
    void *context;
} repl_callbacks;

/* One editor per program. 'history' is a path, or NULL for none. */
void repl_edit_open(const char *history, const repl_callbacks *);
void repl_edit_close(void);
bool repl_edit_on_terminal(void);
int repl_edit_columns(void);   /* of the window; 80 where there is none */
int repl_edit_rows(void);      /* 24 */

/* The next text without its last line end: on a terminal a whole chunk, else a
** line. It lives until the next call. 'more' is the prompt of a chunk's further
** lines. Escape sequences in prompts stand between bytes 1. */
repl_line repl_edit_line(const char *prompt, const char *more,
                         const char **line, size_t *n);
/* Remember a chunk in the history, and in its file at once. */
void repl_edit_remember(const char *line);

#endif
