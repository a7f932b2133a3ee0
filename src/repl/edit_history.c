/*
** The history of the editor.
**
** The file is libedit's (H_LOAD reads it), but each chunk is added to its end
** when it is entered, by one write: sessions at one time lose nothing of each
** other's, nor does one that ends by os.exit or a kill.
*/
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "repl/edit.h"
#include "repl/edit_parts.h"

#define COOKIE "_HiStOrY_V2_\n"

enum { HISTORY_LINES = 2000 };

static struct {
    History *chunks;
    const char *path;
} past;

/* An old file is cut to the newest chunks before it grows too long. */
static void cut_history(const char *path)
{
    char other[4200];
    HistEvent event;
    snprintf(other, sizeof other, "%s.%ld", path, (long)getpid());
    if (history(past.chunks, &event, H_SAVE, other) < 0) return;
    chmod(other, 0600);
    if (rename(other, path)) remove(other);
}

/* The editor works without a history, so failures are not reported. */
void edit_history_open(EditLine *el, const char *path)
{
    HistEvent event;
    if (!(past.chunks = history_init())) return;
    history(past.chunks, &event, H_SETSIZE, HISTORY_LINES);
    history(past.chunks, &event, H_SETUNIQUE, 1);
    el_set(el, EL_HIST, history, past.chunks);
    if (!path) return;
    past.path = path;
    int n = history(past.chunks, &event, H_LOAD, path);
    if (n > 2 * HISTORY_LINES) cut_history(path);
}

void edit_history_close(void)
{
    if (past.chunks) history_end(past.chunks);
    past.chunks = NULL;
    past.path = NULL;
}

/* Neighbours that are equal count once: the same chunk was entered again. */
const char *edit_history_find(const char *begin, size_t n, int back)
{
    HistEvent event;
    const char *last = NULL;
    if (!past.chunks) return NULL;
    for (int more = history(past.chunks, &event, H_FIRST); more >= 0;
         more = history(past.chunks, &event, H_NEXT)) {
        const char *chunk = event.str;
        if (strncmp(chunk, begin, n) || !chunk[n]
            || (last && !strcmp(chunk, last))) continue;
        if (back-- == 0) return chunk;
        last = chunk;
    }
    return NULL;
}

/* The history may hold secrets that were typed: only its owner reads it. Bytes
** that are no plain text are written in octal, as strvis does. */
static void append_history(const char *text)
{
    size_t n = strlen(text), at = 0;
    if (!past.path || n > SIZE_MAX / 8) return;
    char *line = malloc(4 * n + 2 + sizeof COOKIE);
    if (!line) return;
    int file = open(past.path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC,
                    0600);
    if (file >= 0 && lseek(file, 0, SEEK_END) == 0)
        at = (size_t)sprintf(line, "%s", COOKIE);
    for (const char *c = text; *c; c++) {
        unsigned char byte = (unsigned char)*c;
        if (byte <= 32 || byte == 127 || byte == '\\')
            at += (size_t)sprintf(line + at, "\\%03o", byte);
        else
            line[at++] = (char)byte;
    }
    line[at++] = '\n';
    if (file >= 0) {
        ssize_t written = write(file, line, at);
        (void)written;  /* a full disk costs the recall of a chunk */
        close(file);
    }
    free(line);
}

void repl_edit_remember(const char *line)
{
    HistEvent event;
    if (!past.chunks || !*line) return;
    history(past.chunks, &event, H_ENTER, line);
    append_history(line);
}
