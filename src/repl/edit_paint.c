/*
** Colours over the line that is edited.
**
** libedit writes what has changed and knows no colours. So each time before a
** key is read, the characters that it shows are written once more, in colours,
** over themselves: libedit's idea of the screen stays true. The cursor is saved
** and put back. Lines whose shape on the screen would have to be guessed (wide
** characters at the window's edge, more rows than the window has) stay plain.
**
** Behind the end of a line may stand, faintly, how a chunk of the history goes
** on that begins with it. libedit takes these cells for empty: they are erased
** before it hears of the next key.
*/
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1           /* wcwidth */
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

#include "repl/edit_parts.h"

static char *offered;            /* a chunk that begins as the line; or NULL */
static bool is_rest_shown;

int edit_width_of(const char *text, size_t n, int at)
{
    mbstate_t state = {0};
    const char *end = text + n;
    int first = at;
    bool escape = false;
    while (text < end) {
        wchar_t c = 0;
        size_t used = mbrtowc(&c, text, (size_t)(end - text), &state);
        if (used == 0 || used > (size_t)(end - text)) used = 1;
        text += used;
        if (c == 1) escape = !escape;
        else if (c == L'\t') at += 8 - at % 8;
        else if (!escape) at += wcwidth(c) > 0 ? wcwidth(c) : 0;
    }
    return at - first;
}

/* ---- where a character stands ---- */

typedef struct position { int row, column; } position;

/* The position behind a character that has columns, a tab or a line end. False
** for others and at the window's edge: libedit has ways of its own for them. */
static bool advance(position *at, wchar_t c, int columns)
{
    if (c == L'\n') {
        *at = (position){at->row + 1, 0};
        return true;
    }
    int width = c == L'\t' ? 8 - at->column % 8 : wcwidth(c);
    if (c != L'\t' && width < 1) return false;
    at->column += width;
    if (at->column > columns) return false;
    if (at->column == columns) *at = (position){at->row + 1, 0};
    return true;
}

typedef struct shape { position begin, cursor, end; } shape;

/* The shape of the line below its prompt; false where it is not sure. */
static bool shape_of(const LineInfoW *line, const edit_look *look, shape *s)
{
    int before = edit_width_of(look->prompt, strlen(look->prompt), 0);
    position at = {0, before % look->columns};
    if (before && !at.column) return false;
    *s = (shape){at, at, at};
    for (const wchar_t *c = line->buffer; c < line->lastchar; c++) {
        if (c == line->cursor) s->cursor = at;
        if (!advance(&at, *c, look->columns)) return false;
    }
    s->end = at;
    if (line->cursor == line->lastchar) s->cursor = at;
    return before / look->columns + at.row + 1 < look->rows;
}

/* ---- writing ---- */

/* The painted characters; tabs are blanks, as libedit writes them. */
static void put_painted(const char *text, position at, int columns)
{
    mbstate_t state = {0};
    const char *end = text + strlen(text);
    while (text < end) {
        if (*text == '\033') {
            size_t n = strcspn(text, "m") + 1;
            fwrite(text, 1, n, stdout);
            text += n;
            continue;
        }
        wchar_t c = 0;
        size_t used = mbrtowc(&c, text, (size_t)(end - text), &state);
        if (used == 0 || used > (size_t)(end - text)) return;
        if (c == L'\n') fputs("\r\n", stdout);
        else if (c == L'\t') printf("%*s", 8 - at.column % 8, "");
        else fwrite(text, 1, used, stdout);
        text += used;
        advance(&at, c, columns);
    }
}

/* Characters of one column at the beginning, at most as many as columns are
** left. */
static size_t fitting(const char *text, int left)
{
    size_t n = 0;
    while (text[n] >= ' ' && text[n] < 127 && (int)n < left) n++;
    return n;
}

/* How a chunk of the history goes on, where the cursor is at the end of a line
** that does not fill its row. */
static void offer(const LineInfo *line, const shape *s, const edit_look *look)
{
    size_t n = (size_t)(line->lastchar - line->buffer);
    if (!n || look->above || line->cursor != line->lastchar || !s->end.column
        || memchr(line->buffer, '\n', n)) return;
    const char *chunk = edit_history_find(line->buffer, n, 0);
    if (!chunk || strchr(chunk, '\n')) return;
    size_t shown = fitting(chunk + n, look->columns - 1 - s->end.column);
    if (!shown || !(offered = strdup(chunk))) return;
    printf("\033[2m%.*s\033[0m", (int)shown, offered + n);
    is_rest_shown = true;
}

static void draw(const LineInfo *line, const char *painted, const shape *s,
                 const edit_look *look, bool ended)
{
    fputs("\0337", stdout);
    if (s->cursor.row > 0) printf("\033[%dA", s->cursor.row);
    fputs("\r", stdout);
    if (s->begin.column > 0) printf("\033[%dC", s->begin.column);
    put_painted(painted, s->begin, look->columns);
    if (!ended) offer(line, s, look);
    fputs("\0338", stdout);
    fflush(stdout);
}

/* More keys are there already, as of a paste: what they make is painted. */
static bool is_more_to_read(void)
{
    int n = 0;
    return ioctl(STDIN_FILENO, FIONREAD, &n) == 0 && n > 0;
}

void edit_paint(EditLine *el, const edit_look *look, bool ended)
{
    const LineInfo *line = el_line(el);
    shape s;
    if (!look->paint || (!ended && is_more_to_read())) return;
    free(offered);
    offered = NULL;
    if (line->lastchar == line->buffer
        || !shape_of(el_wline(el), look, &s)) return;
    size_t above = look->above ? strlen(look->above) + 1 : 0;
    size_t n = (size_t)(line->lastchar - line->buffer);
    char *text = malloc(above + n + 1);
    if (!text) return;
    if (above) sprintf(text, "%s\n", look->above);
    memcpy(text + above, line->buffer, n);
    text[above + n] = 0;
    long cursor = ended ? -1 : (long)above + (line->cursor - line->buffer);
    const char *painted = look->paint(look->context, text, above + n,
                                           above, cursor);
    if (painted) draw(line, painted, &s, look, ended);
    free(text);
}

const char *edit_paint_rest(const LineInfo *line)
{
    size_t n = (size_t)(line->lastchar - line->buffer);
    if (!offered || strncmp(offered, line->buffer, n)) return NULL;
    return offered[n] ? offered + n : NULL;
}

void edit_paint_clear(void)
{
    if (is_rest_shown) fputs("\033[K", stdout);
    if (is_rest_shown) fflush(stdout);
    is_rest_shown = false;
}
