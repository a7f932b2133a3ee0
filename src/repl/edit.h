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
typedef repl_candidates (*repl_complete_fn)(void *context, const char *line,
                                            size_t n);

/* One editor per program. 'history' is a path, or NULL for none. */
void repl_edit_open(const char *history, repl_complete_fn, void *context);
void repl_edit_close(void);
bool repl_edit_on_terminal(void);

/* The next line without its end; the text lives until the next call. */
repl_line repl_edit_line(const char *prompt, const char **line, size_t *n);
/* Remember a line in the history. */
void repl_edit_remember(const char *line);

#endif
