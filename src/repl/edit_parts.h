/* Parts of the editor: what is painted over its line, and the history. */
#ifndef LA_REPL_EDIT_PARTS_H
#define LA_REPL_EDIT_PARTS_H

#include <stdbool.h>
#include <stddef.h>

#include <histedit.h>

/* ---- edit_history.c ---- */

/* The history of the editor, from the file at 'path' (NULL: no file). Without
** memory there is none. */
void edit_history_open(EditLine *, const char *path);
void edit_history_close(void);
/* The newest chunk, or the one 'back' newer ones before it, that begins with
** the n bytes and is not these alone; equal ones count once. NULL for none;
** valid until a chunk is added. */
const char *edit_history_find(const char *begin, size_t n, int back);

/* ---- edit_paint.c ---- */

/* The surroundings of a line: 'prompt' is all that stands before it, 'above'
** the text that does, without its last line end (NULL: none). 'paint' is as in
** repl_callbacks. */
typedef struct edit_look {
    const char *(*paint)(void *context, const char *text, size_t n,
                         size_t from, long cursor);
    void *context;
    const char *prompt, *above;
    int columns, rows;           /* of the window */
} edit_look;

/* Columns that the n bytes take from column 'at' on; those between bytes 1 take
** none. */
int edit_width_of(const char *text, size_t n, int at);

/* Lays colours over the line that libedit shows, and behind its end what the
** history has for it. With 'ended' the line stays as it is now: no bracket is
** marked, nothing stands behind it. */
void edit_paint(EditLine *, const edit_look *, bool ended);

/* How the chunk goes on that was offered for a line, if this one still begins
** as that does; else NULL. Valid until the next painting. */
const char *edit_paint_rest(const LineInfo *);
/* Erases what was offered from the window. */
void edit_paint_clear(void);

#endif
