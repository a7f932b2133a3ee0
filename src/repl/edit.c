/*
** The line editor over libedit.
**
** Characters are read by a function of ours, for libedit would swallow the
** first interrupt: Ctrl-C ends the line at once, and a resized window is told
** to libedit before the next key.
*/
#include "repl/edit.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <wchar.h>

#include <histedit.h>

enum { HISTORY_LINES = 2000 };

static struct {
    EditLine *el;            /* NULL: plain input */
    History *history;
    const char *path;
    const char *prompt;
    repl_complete_fn complete;
    void *context;
    char *plain;             /* the line of plain input */
    size_t capacity;
} editor;

static volatile sig_atomic_t stopped, resized;

static void on_signal(int number)
{
    if (number == SIGINT) stopped = 1;
    else resized = 1;
}

static char *prompt_of(EditLine *el)
{
    return (char *)editor.prompt;
}

/* One wide character from the terminal: 1, 0 at the end, -1 when stopped.
** Bytes that are no character of the locale stand for themselves. */
static int read_key(EditLine *el, wchar_t *out)
{
    mbstate_t state = {0};
    for (;;) {
        char byte;
        ssize_t n = read(STDIN_FILENO, &byte, 1);
        if (stopped) return -1;
        if (resized) {
            resized = 0;
            el_resize(el);
        }
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return (int)n;
        size_t used = mbrtowc(out, &byte, 1, &state);
        if (used == (size_t)-2) continue;  /* the character goes on */
        if (used == (size_t)-1) *out = (unsigned char)byte;
        return 1;
    }
}

/* Show the candidates below the line. */
static void show(const repl_candidates *c)
{
    enum { MOST = 100 };
    putchar('\n');
    for (int i = 0; i < c->n && i < MOST; i++)
        printf("%s%s", c->list[i], (i + 1) % 6 ? "  " : "\n");
    if (c->n > MOST) printf("... and %d more", c->n - MOST);
    putchar('\n');
    fflush(stdout);
}

/* Bound to Tab: inserts what all candidates have in common, and shows them when
** there is nothing to insert. */
static unsigned char complete_word(EditLine *el, int key)
{
    const LineInfo *line = el_line(el);
    size_t n = (size_t)(line->cursor - line->buffer);
    repl_candidates c = editor.complete(editor.context, line->buffer, n);
    if (c.n == 0) return CC_REFRESH_BEEP;
    if (*c.insert) return el_insertstr(el, c.insert) ? CC_ERROR : CC_REFRESH;
    if (c.n == 1) return CC_NORM;
    show(&c);
    return CC_REDISPLAY;
}

/* The editor works without a history, so failures are not reported. */
static void open_history(const char *path)
{
    HistEvent event;
    if (!(editor.history = history_init())) return;
    history(editor.history, &event, H_SETSIZE, HISTORY_LINES);
    history(editor.history, &event, H_SETUNIQUE, 1);
    el_set(editor.el, EL_HIST, history, editor.history);
    if (!path) return;
    editor.path = path;
    history(editor.history, &event, H_LOAD, path);
}

/* Without a terminal at both ends there is no editor: lines are read plainly,
** so that a pipe sees no escape sequences. ~/.editrc is read last and may
** change any key. */
void repl_edit_open(const char *path, repl_complete_fn complete, void *context)
{
    editor.complete = complete;
    editor.context = context;
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) return;
    editor.el = el_init("lunarray", stdin, stdout, stderr);
    if (!editor.el) return;
    el_set(editor.el, EL_PROMPT, prompt_of);
    el_set(editor.el, EL_EDITOR, "emacs");
    el_set(editor.el, EL_GETCFN, read_key);
    el_set(editor.el, EL_ADDFN, "complete", "complete the word",
           complete_word);
    el_set(editor.el, EL_BIND, "\t", "complete", NULL);
    el_set(editor.el, EL_BIND, "^R", "em-inc-search-prev", NULL);
    open_history(path);
    el_source(editor.el, NULL);
}

/* The history may hold secrets that were typed: only its owner reads it. */
void repl_edit_close(void)
{
    HistEvent event;
    if (editor.history && editor.path) {
        history(editor.history, &event, H_SAVE, editor.path);
        chmod(editor.path, 0600);
    }
    if (editor.history) history_end(editor.history);
    if (editor.el) el_end(editor.el);
    free(editor.plain);
    memset(&editor, 0, sizeof editor);
}

bool repl_edit_on_terminal(void)
{
    return editor.el != NULL;
}

/* A line of a pipe or a file; the last one may lack its newline. */
static repl_line plain_line(const char **line, size_t *n)
{
    ssize_t got = getline(&editor.plain, &editor.capacity, stdin);
    if (got < 0) return REPL_END;
    if (got && editor.plain[got - 1] == '\n') got--;
    *line = editor.plain;
    *n = (size_t)got;
    return REPL_LINE;
}

/* Signals are ours only while a line is edited; Lua code that runs between the
** lines finds the handlers as they were. */
static repl_line edited_line(const char **line, size_t *n)
{
    struct sigaction mine = {.sa_handler = on_signal}, before, before_size;
    int got = 0;
    stopped = resized = 0;
    sigemptyset(&mine.sa_mask);
    sigaction(SIGINT, &mine, &before);
    sigaction(SIGWINCH, &mine, &before_size);
    const char *text = el_gets(editor.el, &got);
    sigaction(SIGINT, &before, NULL);
    sigaction(SIGWINCH, &before_size, NULL);
    if (stopped) {
        fputs("^C\n", stdout);
        return REPL_STOPPED;
    }
    if (!text || got <= 0) return REPL_END;
    if (text[got - 1] == '\n') got--;
    *line = text;
    *n = (size_t)got;
    return REPL_LINE;
}

repl_line repl_edit_line(const char *prompt, const char **line, size_t *n)
{
    if (!editor.el) return plain_line(line, n);
    editor.prompt = prompt;
    return edited_line(line, n);
}

void repl_edit_remember(const char *line)
{
    HistEvent event;
    if (editor.history && *line)
        history(editor.history, &event, H_ENTER, line);
}
