/*
** The editor over libedit.
**
** One text is edited until it is a whole chunk, with its line ends in it: Enter
** asks the prompt, and breaks the line where the chunk goes on. So a chunk is
** recalled and edited as a whole. A bracketed paste is inserted as it is: it
** completes nothing and runs nothing.
**
** libedit shows no prompt within a text. So lines that were typed and ended are
** 'above': a part of what libedit takes for the prompt, each after its own. A
** key that leads there puts them back into the text.
**
** Characters are read by a function of ours, for libedit would swallow the
** first interrupt: Ctrl-C ends the line at once, and a resized window is told
** to libedit before the next key.
*/
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1           /* wcwidth */
#endif
#include "repl/edit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <wchar.h>

#include <histedit.h>

enum { HISTORY_LINES = 2000 };

static struct {
    EditLine *el;            /* NULL: plain input */
    History *history;
    const char *path;
    const char *prompt, *more;
    char *above;             /* lines that were ended; NULL: none */
    char *shown;             /* ... with their prompts, and that of the line */
    char *whole;             /* what was read last */
    repl_callbacks ask;
    char *plain;             /* the line of plain input */
    size_t capacity;
} editor;

static volatile sig_atomic_t stopped, resized;

static void on_signal(int number)
{
    if (number == SIGINT) stopped = 1;
    else resized = 1;
}

static bool show_above(void);

static char *prompt_of(EditLine *el)
{
    return editor.shown ? editor.shown : (char *)editor.prompt;
}

/* One wide character from the terminal: 1, 0 at the end, -1 when stopped.
** Bytes that are no character of the locale stand for themselves. A window of
** another size wraps what is on it in a way of its own: where lines above are
** shown it is drawn anew, by the key for that. */
static int edit_read_key(EditLine *el, wchar_t *out)
{
    mbstate_t state = {0};
    for (;;) {
        char byte;
        ssize_t n = read(STDIN_FILENO, &byte, 1);
        bool interrupted = n < 0 && errno == EINTR;
        if (stopped) return -1;
        if (resized) {
            resized = 0;
            el_resize(el);
            bool again = editor.above && show_above();
            if (again && !interrupted) el_push(el, "\f");
            *out = L'\f';
            if (again && interrupted) return 1;
        }
        if (interrupted) continue;
        if (n <= 0) return (int)n;
        size_t used = mbrtowc(out, &byte, 1, &state);
        if (used == (size_t)-2) continue;  /* the character goes on */
        if (used == (size_t)-1) *out = (unsigned char)byte;
        return 1;
    }
}

/* The window is asked each time, for it may change between two lines. */
int repl_edit_columns(void)
{
    struct winsize w;
    if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) && w.ws_col > 0) return w.ws_col;
    return 80;
}

int repl_edit_rows(void)
{
    struct winsize w;
    if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) && w.ws_row > 0) return w.ws_row;
    return 24;
}

/* Show the candidates below the line, in columns that go downwards, as many as
** half the window takes. Words are ASCII but for names of files. */
static void show(const repl_candidates *c)
{
    int widest = 1, most = repl_edit_rows() / 2;
    for (int i = 0; i < c->n; i++) {
        int n = (int)strlen(c->list[i]);
        if (n > widest) widest = n;
    }
    int columns = repl_edit_columns() / (widest + 2);
    if (columns < 1) columns = 1;
    if (most < 1) most = 1;
    int shown = c->n < columns * most ? c->n : columns * most;
    int rows = (shown + columns - 1) / columns;
    putchar('\n');
    for (int row = 0; row < rows; row++) {
        for (int i = row; i < shown; i += rows)
            printf("%-*s", i + rows < shown ? widest + 2 : 0, c->list[i]);
        putchar('\n');
    }
    if (c->n > shown) printf("... and %d more\n", c->n - shown);
    fflush(stdout);
}

/* ---- lines above ---- */

/* The lines above and the first n bytes of 'text'; NULL without memory. */
static char *edit_join(const char *text, size_t n)
{
    size_t above = editor.above ? strlen(editor.above) + 1 : 0;
    char *all = malloc(above + n + 1);
    if (!all) return NULL;
    if (above) sprintf(all, "%s\n", editor.above);
    memcpy(all + above, text, n);
    all[above + n] = 0;
    return all;
}

/* The text ended, or its lines are a part of it again. */
static void drop_above(void)
{
    free(editor.above);
    free(editor.shown);
    editor.above = editor.shown = NULL;
}

/* The first of the lines above that are shown: no more than half the window. */
static const char *first_shown(void)
{
    const char *at = editor.above + strlen(editor.above);
    int left = repl_edit_rows() / 2;
    while (at > editor.above && (at[-1] != '\n' || --left > 0)) at--;
    return at;
}

/* Columns that the n bytes take from column 'at' on; those between bytes 1 take
** none. */
static int edit_width_of(const char *text, size_t n, int at)
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

/* A line after its prompt, up to the window's end by blanks: libedit takes no
** line ends in a prompt, but wraps it. Returns the end of what is written. */
static char *put_line(char *to, const char *prompt, const char *line, size_t n)
{
    int columns = repl_edit_columns();
    int at = edit_width_of(prompt, strlen(prompt), 0);
    to += sprintf(to, "%s", prompt);
    for (size_t i = 0; i < n; i++) {
        int blanks = line[i] == '\t' ? 8 - (at
                                            + edit_width_of(line, i, at)) % 8
            : 0;
        if (blanks) to += sprintf(to, "%*s", blanks, "");
        else if ((unsigned char)line[i] >= 32) *to++ = line[i];
    }
    at += edit_width_of(line, n, at);
    if (at % columns) to += sprintf(to, "%*s", columns - at % columns, "");
    return to;
}

/* Makes the prompt with the lines above in it; false without memory. */
static bool show_above(void)
{
    const char *at = first_shown();
    size_t lines = 2;
    for (const char *c = at; *c; c++) lines += *c == '\n';
    size_t each = strlen(editor.prompt) + strlen(editor.more)
        + (size_t)repl_edit_columns();
    char *text = malloc(lines * each + 8 * strlen(at) + 1), *to = text;
    if (!text) return false;
    const char *prompt = at == editor.above ? editor.prompt : editor.more;
    for (bool last = false; !last;) {
        size_t n = strcspn(at, "\n");
        last = !at[n];
        to = put_line(to, prompt, at, n);
        prompt = editor.more;
        at += n + !last;
    }
    strcpy(to, editor.more);
    free(editor.shown);
    editor.shown = text;
    return true;
}

/* The line is ended: it joins those above, and an empty one begins. False
** without memory, and then nothing has changed: a line break in the text does
** as well. The cursor is at the line's end, for libedit deletes before it. */
static bool raise_line(EditLine *el)
{
    const LineInfo *line = el_line(el);
    char *before = editor.above;
    char *all = edit_join(line->buffer, (size_t)(line->lastchar
                                                 - line->buffer));
    if (!all) return false;
    editor.above = all;
    if (!show_above()) {
        editor.above = before;
        free(all);
        return false;
    }
    free(before);
    const LineInfoW *wide = el_wline(el);
    el_deletestr(el, (int)(wide->cursor - wide->buffer));
    return true;
}

/* The lines above become part of the text again. */
static void lower_lines(EditLine *el)
{
    const LineInfoW *line = el_wline(el);
    int at = (int)(line->cursor - line->buffer);
    char *text = editor.above ? edit_join("", 0) : NULL;
    if (!text) return;
    el_cursor(el, -at);
    if (el_insertstr(el, text) == 0) drop_above();
    el_cursor(el, at);
    free(text);
}

/* Bound to Tab: inserts what all candidates have in common, and shows them when
** there is nothing to insert. */
static unsigned char complete_word(EditLine *el, int key)
{
    const LineInfo *line = el_line(el);
    char *text = edit_join(line->buffer, (size_t)(line->cursor - line->buffer));
    if (!text) return CC_ERROR;
    repl_candidates c = editor.ask.complete(editor.ask.context, text,
                                            strlen(text));
    free(text);
    if (c.n == 0) return CC_REFRESH_BEEP;
    if (*c.insert) return el_insertstr(el, c.insert) ? CC_ERROR : CC_REFRESH;
    if (c.n == 1) return CC_NORM;
    show(&c);
    return CC_REDISPLAY;
}

/* ---- keys of ours; libedit's own functions are reached by pushing the keys
** that they are bound to ---- */

#define KEY_NEWLINE "\033\005"
#define KEY_LINE_UP "\033\001"
#define KEY_LINE_DOWN "\033\002"
#define KEY_BACK "\033\003"
#define KEY_FORTH "\033\004"
#define KEY_SEARCH "\033\006"
#define KEY_ERASE "\033\007"

/* Bound to Enter. A line that goes on and is alone is ended; within a text of
** several lines the break is one more character. */
static unsigned char edit_enter(EditLine *el, int key)
{
    const LineInfo *line = el_line(el);
    size_t n = (size_t)(line->lastchar - line->buffer);
    char *text = edit_join(line->buffer, n);
    if (!text) return CC_ERROR;
    bool done = editor.ask.finished(editor.ask.context, text, strlen(text));
    free(text);
    if (done) {
        el_push(el, KEY_NEWLINE);
        return CC_NORM;
    }
    bool alone = line->cursor == line->lastchar
        && !memchr(line->buffer, '\n', n);
    if (alone && raise_line(el)) return CC_REFRESH;
    return el_insertstr(el, "\n") ? CC_ERROR : CC_REFRESH;
}

/* Bound to Alt-Enter. */
static unsigned char break_line(EditLine *el, int key)
{
    return el_insertstr(el, "\n") ? CC_ERROR : CC_REFRESH;
}

/* Bound to the arrow keys: through the lines of the chunk, and beyond them
** through the history. */
static unsigned char go_up(EditLine *el, int key)
{
    lower_lines(el);
    const LineInfo *line = el_line(el);
    size_t n = (size_t)(line->cursor - line->buffer);
    el_push(el, memchr(line->buffer, '\n', n) ? KEY_LINE_UP : KEY_BACK);
    return CC_REFRESH;
}

/* The line below, or what comes later in the history. */
static unsigned char go_down(EditLine *el, int key)
{
    const LineInfo *line = el_line(el);
    size_t n = (size_t)(line->lastchar - line->cursor);
    if (editor.above) return CC_NORM;       /* it is the last line */
    el_push(el, memchr(line->cursor, '\n', n) ? KEY_LINE_DOWN : KEY_FORTH);
    return CC_NORM;
}

/* Bound to Ctrl-R. */
static unsigned char edit_search(EditLine *el, int key)
{
    lower_lines(el);
    el_push(el, KEY_SEARCH);
    return CC_REFRESH;
}

/* Bound to Backspace: at the start of a line it joins the one above. */
static unsigned char erase(EditLine *el, int key)
{
    const LineInfo *line = el_line(el);
    if (line->cursor == line->buffer) lower_lines(el);
    el_push(el, KEY_ERASE);
    return CC_REFRESH;
}

/* Bound to Ctrl-A and Ctrl-E: of the line, not of the chunk. */
static unsigned char line_start(EditLine *el, int key)
{
    const LineInfoW *line = el_wline(el);
    const wchar_t *at = line->cursor;
    while (at > line->buffer && at[-1] != L'\n') at--;
    el_cursor(el, (int)(at - line->cursor));
    return CC_CURSOR;
}

/* To the line's end, before the character that ends it. */
static unsigned char edit_line_end(EditLine *el, int key)
{
    const LineInfoW *line = el_wline(el);
    const wchar_t *at = line->cursor;
    while (at < line->lastchar && *at != L'\n') at++;
    el_cursor(el, (int)(at - line->cursor));
    return CC_CURSOR;
}

/* Pasted text, up to the terminal's end mark, without control characters but
** tabs and line ends. NULL without memory, or when the input ends. */
static wchar_t *read_paste(EditLine *el)
{
    static const wchar_t mark[] = L"\033[201~";
    size_t n = 0, capacity = 0, m = sizeof mark / sizeof *mark - 1;
    wchar_t *text = NULL, c;
    for (;;) {
        if (n + 2 > capacity) {
            capacity = capacity ? 2 * capacity : 1024;
            wchar_t *more = realloc(text, capacity * sizeof *text);
            if (!more) break;
            text = more;
        }
        if (el_wgetc(el, &c) != 1) break;
        if (c == L'\r') c = L'\n';
        if (c < 32 && c != L'\t' && c != L'\n' && c != 27) continue;
        text[n++] = c;
        if (n < m || wmemcmp(text + n - m, mark, m)) continue;
        n -= m;
        while (n && text[n - 1] == L'\n') n--;
        text[n] = 0;
        return text;
    }
    free(text);
    return NULL;
}

/* Bound to the terminal's mark before a paste. */
static unsigned char paste(EditLine *el, int key)
{
    wchar_t *text = read_paste(el);
    if (!text) return CC_ERROR;
    int failed = *text && el_winsertstr(el, text);
    free(text);
    return failed ? CC_ERROR : CC_REFRESH;
}

/* Names are libedit's or ours; keys are what terminals send, which differ for
** one key. */
static void bind_keys(EditLine *el)
{
    static const struct {
        const char *keys, *name;
    } rows[] = {
        {"\t", "complete"}, {"^M", "enter"}, {"\033\015", "break-line"},
        {"^J", "enter"}, {"\033\012", "break-line"},
        {KEY_NEWLINE, "ed-newline"}, {"^R", "search"},
        {KEY_SEARCH, "em-inc-search-prev"}, {"^?", "erase"}, {"^H", "erase"},
        {KEY_ERASE, "ed-delete-prev-char"}, {"^P", "go-up"}, {"^N", "go-down"},
        {"\033[A", "go-up"}, {"\033OA", "go-up"},
        {"\033[B", "go-down"}, {"\033OB", "go-down"},
        {"^A", "line-start"}, {"\033[H", "line-start"},
        {"\033OH", "line-start"}, {"\033[1~", "line-start"},
        {"^E", "line-end"}, {"\033[F", "line-end"}, {"\033OF", "line-end"},
        {"\033[4~", "line-end"}, {"\033[200~", "paste"},
        {"\033[3~", "ed-delete-next-char"},
        {KEY_LINE_UP, "ed-prev-line"}, {KEY_LINE_DOWN, "ed-next-line"},
        {KEY_BACK, "ed-prev-history"}, {KEY_FORTH, "ed-next-history"},
    };
    el_set(el, EL_ADDFN, "complete", "complete the word", complete_word);
    el_set(el, EL_ADDFN, "enter", "run the chunk or go on", edit_enter);
    el_set(el, EL_ADDFN, "break-line", "go on in a new line", break_line);
    el_set(el, EL_ADDFN, "go-up", "to the line above", go_up);
    el_set(el, EL_ADDFN, "go-down", "to the line below", go_down);
    el_set(el, EL_ADDFN, "search", "search the history", edit_search);
    el_set(el, EL_ADDFN, "erase", "the character before the cursor", erase);
    el_set(el, EL_ADDFN, "line-start", "start of the line", line_start);
    el_set(el, EL_ADDFN, "line-end", "end of the line", edit_line_end);
    el_set(el, EL_ADDFN, "paste", "insert what is pasted", paste);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        el_set(el, EL_BIND, rows[i].keys, rows[i].name, NULL);
}

/* ---- the history ----
** The file is libedit's (H_LOAD reads it), but each chunk is added to its end
** when it is entered, by one write: sessions at one time lose nothing of each
** other's, nor does one that ends by os.exit or a kill. */

#define COOKIE "_HiStOrY_V2_\n"

/* An old file is cut to the newest chunks before it grows too long. */
static void cut_history(const char *path)
{
    char other[4200];
    HistEvent event;
    snprintf(other, sizeof other, "%s.%ld", path, (long)getpid());
    if (history(editor.history, &event, H_SAVE, other) < 0) return;
    chmod(other, 0600);
    if (rename(other, path)) remove(other);
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
    int n = history(editor.history, &event, H_LOAD, path);
    if (n > 2 * HISTORY_LINES) cut_history(path);
}

/* The history may hold secrets that were typed: only its owner reads it. Bytes
** that are no plain text are written in octal, as strvis does. */
static void append_history(const char *text)
{
    size_t n = strlen(text), at = 0;
    if (!editor.path || n > SIZE_MAX / 8) return;
    char *line = malloc(4 * n + 2 + sizeof COOKIE);
    if (!line) return;
    int file = open(editor.path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC,
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

/* Without a terminal at both ends there is no editor: lines are read plainly,
** so that a pipe sees no escape sequences. ~/.editrc is read last and may
** change any key. */
void repl_edit_open(const char *path, const repl_callbacks *ask)
{
    editor.ask = *ask;
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) return;
    editor.el = el_init("lunarray", stdin, stdout, stderr);
    if (!editor.el) return;
    el_set(editor.el, EL_PROMPT_ESC, prompt_of, '\1');
    el_set(editor.el, EL_EDITOR, "emacs");
    el_set(editor.el, EL_GETCFN, edit_read_key);
    bind_keys(editor.el);
    open_history(path);
    el_source(editor.el, NULL);
}

void repl_edit_close(void)
{
    if (editor.history) history_end(editor.history);
    if (editor.el) el_end(editor.el);
    free(editor.plain);
    free(editor.whole);
    drop_above();
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

/* Does the terminal know no escape sequences? */
static bool is_dumb(void)
{
    const char *term = getenv("TERM");
    return term && !strcmp(term, "dumb");
}

/* Asks the terminal to mark what is pasted, while a line is edited. */
static void bracket_paste(bool on)
{
    if (is_dumb()) return;
    fputs(on ? "\033[?2004h" : "\033[?2004l", stdout);
    fflush(stdout);
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
    bracket_paste(true);
    const char *text = el_gets(editor.el, &got);
    bracket_paste(false);
    sigaction(SIGINT, &before, NULL);
    sigaction(SIGWINCH, &before_size, NULL);
    if (stopped) {
        drop_above();
        fputs(is_dumb() ? "^C\n" : "^C\033[J\n", stdout);
        return REPL_STOPPED;
    }
    if (!text || got <= 0) {
        drop_above();
        return REPL_END;
    }
    if (text[got - 1] == '\n') got--;
    free(editor.whole);
    editor.whole = edit_join(text, (size_t)got);
    drop_above();
    if (!editor.whole) return REPL_STOPPED;
    *line = editor.whole;
    *n = strlen(editor.whole);
    return REPL_LINE;
}

repl_line repl_edit_line(const char *prompt, const char *more,
                         const char **line, size_t *n)
{
    if (!editor.el) return plain_line(line, n);
    editor.prompt = prompt;
    editor.more = more;
    return edited_line(line, n);
}

void repl_edit_remember(const char *line)
{
    HistEvent event;
    if (!editor.history || !*line) return;
    history(editor.history, &event, H_ENTER, line);
    append_history(line);
}
