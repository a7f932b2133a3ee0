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
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

#include "repl/edit.h"
#include "repl/edit_parts.h"

static struct {
    EditLine *el;            /* NULL: plain input */
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

static edit_look look_now(void)
{
    return (edit_look){editor.ask.paint, editor.ask.context,
                       prompt_of(editor.el), editor.above, repl_edit_columns(),
                       repl_edit_rows()};
}

/* One wide character from the terminal: 1, 0 at the end, -1 when stopped.
** Bytes that are no character of the locale stand for themselves. A window of
** another size wraps what is on it in a way of its own: where lines above are
** shown it is drawn anew, by the key for that. The line is painted while a key
** is waited for, and once more as it stays when Enter ends it. */
static int edit_read_key(EditLine *el, wchar_t *out)
{
    mbstate_t state = {0};
    edit_look look = look_now();
    edit_paint(el, &look, false);
    for (;;) {
        char byte;
        ssize_t n = read(STDIN_FILENO, &byte, 1);
        bool interrupted = n < 0 && errno == EINTR;
        edit_paint_clear();
        if (n == 1 && (byte == '\r' || byte == '\n'))
            edit_paint(el, &look, true);
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

#define NO_COLOUR "\033[0m"

/* Bytes of an escape sequence for a colour. */
static int escape_length(const char *escape)
{
    return (int)strcspn(escape, "m") + 1;
}

/* An escape sequence between bytes 1, which libedit writes without counting. It
** knows no two of them side by side: they become one. */
static char *put_escape(char *to, const char *begin, const char *escape)
{
    if (to > begin && to[-1] == 1) to--;
    else *to++ = 1;
    return to + sprintf(to, "%.*s\1", escape_length(escape), escape);
}

/* A text that may begin with one. */
static char *put_text(char *to, const char *begin, const char *text)
{
    bool joins = to > begin && to[-1] == 1 && *text == 1;
    return to - joins + sprintf(to - joins, "%s", text + joins);
}

/* A line after its prompt, up to the window's end by blanks: libedit takes no
** line ends in a prompt, but wraps it. Escape sequences stand between bytes 1.
** Returns the end of what is written. */
static char *put_line(char *to, const char *begin, const char *prompt,
                      const char *line, size_t n)
{
    int columns = repl_edit_columns();
    int at = edit_width_of(prompt, strlen(prompt), 0);
    to = put_text(to, begin, prompt);
    for (size_t i = 0; i < n; i++) {
        int blanks = line[i] == '\t' ? 8 - (at
                                            + edit_width_of(line, i, at)) % 8
            : 0;
        if (blanks) to += sprintf(to, "%*s", blanks, "");
        else if ((unsigned char)line[i] >= 32 || line[i] == 1
                 || line[i] == '\033') *to++ = line[i];
    }
    at += edit_width_of(line, n, at);
    if (at % columns) to += sprintf(to, "%*s", columns - at % columns, "");
    return to;
}

/* The lines above that are shown, painted, each with its own colours: escape
** sequences stand between bytes 1, and one that is still at work at the end of
** a line ends there and begins again in the next. NULL without memory. */
static char *painted_above(const char *from)
{
    size_t n = strlen(editor.above), lines = 1;
    const char *text = NULL, *active = NULL;
    for (const char *c = from; *c; c++) lines += *c == '\n';
    if (editor.ask.paint && !strpbrk(editor.above, "\001\033"))
        text = editor.ask.paint(editor.ask.context, editor.above, n,
                                (size_t)(from - editor.above), -1);
    if (!text) return strdup(from);
    char *all = malloc(3 * strlen(text) + 32 * lines + 1), *to = all;
    if (!all) return NULL;
    while (*text) {
        if (*text == '\033') {
            active = strncmp(text, NO_COLOUR, strlen(NO_COLOUR)) ? text : NULL;
            to = put_escape(to, all, text);
            text += escape_length(text);
            continue;
        }
        if (*text == '\n' && active) to = put_escape(to, all, NO_COLOUR);
        *to++ = *text;
        if (*text++ == '\n' && active) to = put_escape(to, all, active);
    }
    *to = 0;
    return all;
}

/* Makes the prompt with the lines above in it; false without memory. */
static bool show_above(void)
{
    const char *first = first_shown();
    char *painted = painted_above(first);
    if (!painted) return false;
    const char *at = painted;
    size_t lines = 2;
    for (const char *c = at; *c; c++) lines += *c == '\n';
    size_t each = strlen(editor.prompt) + strlen(editor.more)
        + (size_t)repl_edit_columns();
    char *text = malloc(lines * each + 8 * strlen(at) + 1), *to = text;
    if (!text) {
        free(painted);
        return false;
    }
    const char *prompt = first == editor.above ? editor.prompt : editor.more;
    for (bool last = false; !last;) {
        size_t n = strcspn(at, "\n");
        last = !at[n];
        to = put_line(to, text, prompt, at, n);
        prompt = editor.more;
        at += n + !last;
    }
    put_text(to, text, editor.more);
    free(painted);
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

/* ---- the history: a walk through the chunks that begin with what stood before
** the cursor when the walk began ---- */

static struct {
    char *typed, *begin;     /* the text at first; NULL: no walk */
    char *offered;           /* what the walk has put in its place */
    int back;                /* how many newer ones there are */
} walk;

static void end_walk(void)
{
    free(walk.typed);
    free(walk.begin);
    free(walk.offered);
    memset(&walk, 0, sizeof walk);
}

/* Does the text stand as the walk has left it? */
static bool is_walking(const LineInfo *line)
{
    size_t n = (size_t)(line->lastchar - line->buffer);
    return walk.offered && strlen(walk.offered) == n
        && !memcmp(walk.offered, line->buffer, n);
}

static bool begin_walk(const LineInfo *line)
{
    end_walk();
    walk.typed = strndup(line->buffer, (size_t)(line->lastchar - line->buffer));
    walk.begin = strndup(line->buffer, (size_t)(line->cursor - line->buffer));
    walk.back = -1;
    return walk.typed && walk.begin;
}

/* The text is this one; NULL changes nothing and beeps. */
static unsigned char replace_text(EditLine *el, const char *text)
{
    char *copy = text ? strdup(text) : NULL;
    if (!copy) return CC_ERROR;
    const LineInfoW *line = el_wline(el);
    el_cursor(el, (int)(line->lastchar - line->cursor));
    line = el_wline(el);
    el_deletestr(el, (int)(line->cursor - line->buffer));
    int failed = *copy && el_insertstr(el, copy);
    free(walk.offered);
    walk.offered = copy;
    return failed ? CC_ERROR : CC_REFRESH;
}

static unsigned char walk_back(EditLine *el)
{
    const LineInfo *line = el_line(el);
    if (!is_walking(line) && !begin_walk(line)) return CC_ERROR;
    const char *chunk = edit_history_find(walk.begin, strlen(walk.begin),
                                          walk.back + 1);
    if (!chunk) return CC_ERROR;
    walk.back++;
    return replace_text(el, chunk);
}

/* Towards the newest chunk, and at last to what was typed. */
static unsigned char walk_forth(EditLine *el)
{
    if (!is_walking(el_line(el)) || walk.back < 0) return CC_ERROR;
    if (walk.back-- == 0) return replace_text(el, walk.typed);
    return replace_text(el, edit_history_find(walk.begin, strlen(walk.begin),
                                              walk.back));
}

/* Bound to the arrow keys: through the lines of the chunk, and beyond them
** through the history. */
static unsigned char go_up(EditLine *el, int key)
{
    lower_lines(el);
    const LineInfo *line = el_line(el);
    size_t n = (size_t)(line->cursor - line->buffer);
    if (!memchr(line->buffer, '\n', n)) return walk_back(el);
    el_push(el, KEY_LINE_UP);
    return CC_REFRESH;
}

/* The line below, or what comes later in the history. */
static unsigned char go_down(EditLine *el, int key)
{
    const LineInfo *line = el_line(el);
    size_t n = (size_t)(line->lastchar - line->cursor);
    if (editor.above) return CC_NORM;       /* it is the last line */
    if (!memchr(line->cursor, '\n', n)) return walk_forth(el);
    el_push(el, KEY_LINE_DOWN);
    return CC_NORM;
}

/* Bound to the right arrow: at the end of the line it takes what stands faintly
** behind it. */
static unsigned char go_right(EditLine *el, int key)
{
    const LineInfoW *line = el_wline(el);
    const char *more = edit_paint_rest(el_line(el));
    if (line->cursor < line->lastchar) {
        el_cursor(el, 1);
        return CC_CURSOR;
    }
    if (!more) return CC_ERROR;
    return el_insertstr(el, more) ? CC_ERROR : CC_REFRESH;
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
        {"^F", "go-right"}, {"\033[C", "go-right"}, {"\033OC", "go-right"},
        {KEY_LINE_UP, "ed-prev-line"}, {KEY_LINE_DOWN, "ed-next-line"},
    };
    el_set(el, EL_ADDFN, "complete", "complete the word", complete_word);
    el_set(el, EL_ADDFN, "enter", "run the chunk or go on", edit_enter);
    el_set(el, EL_ADDFN, "break-line", "go on in a new line", break_line);
    el_set(el, EL_ADDFN, "go-up", "to the line above", go_up);
    el_set(el, EL_ADDFN, "go-down", "to the line below", go_down);
    el_set(el, EL_ADDFN, "go-right", "to the right, or the rest", go_right);
    el_set(el, EL_ADDFN, "search", "search the history", edit_search);
    el_set(el, EL_ADDFN, "erase", "the character before the cursor", erase);
    el_set(el, EL_ADDFN, "line-start", "start of the line", line_start);
    el_set(el, EL_ADDFN, "line-end", "end of the line", edit_line_end);
    el_set(el, EL_ADDFN, "paste", "insert what is pasted", paste);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        el_set(el, EL_BIND, rows[i].keys, rows[i].name, NULL);
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
    edit_history_open(editor.el, path);
    el_source(editor.el, NULL);
}

void repl_edit_close(void)
{
    edit_history_close();
    if (editor.el) el_end(editor.el);
    end_walk();
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
    edit_paint_clear();
    end_walk();
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
