/*
** What the program in a TorchScript file says of a class of modules: which of
** its attributes are parameters and buffers. The program is text that is
** searched for two lists, not compiled:
**
**     class Conv1d(Module):
**       __parameters__ = ["weight", "bias", ]
**       __buffers__ = []
*/
#include <string.h>

#include "base/runtime/memory.h"
#include "modules/pickle/io/torch_file.h"

/* Programs are read once for each class of a file: of a damaged one many
** classes may name the same. */
enum { CODE_LIMIT = 64 << 20 };

/* The end of the line, or of the text. */
static const char *script_line_end(const char *at, const char *end)
{
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    return stop ? stop : end;
}

static bool script_begins(const char *at, const char *end, const char *word)
{
    size_t n = strlen(word);
    return (size_t)(end - at) >= n && memcmp(at, word, n) == 0;
}

/* The strings of a line ["a", "b", ]. */
static la_status script_strings(const char *at, const char *end, la_notes *out)
{
    while ((at = memchr(at, '"', (size_t)(end - at)))) {
        const char *stop = memchr(at + 1, '"', (size_t)(end - at - 1));
        if (!stop) return LA_OK;
        LA_TRY(la_notes_add(out, at + 1, (size_t)(stop - at - 1), "", 0));
        at = stop + 1;
    }
    return LA_OK;
}

/* The lines of a class are indented. */
static la_status script_class(const char *at, const char *end, la_notes *out,
                              bool *found)
{
    for (; at < end && *at == ' '; at = script_line_end(at, end) + 1) {
        const char *stop = script_line_end(at, end);
        if (!script_begins(at, stop, "  __parameters__ = [")
            && !script_begins(at, stop, "  __buffers__ = [")) continue;
        *found = true;
        LA_TRY(script_strings(at, stop, out));
        if (stop == end) break;
    }
    return LA_OK;
}

static la_status script_search(const char *at, const char *end,
                               const char *name, size_t n, la_notes *out,
                               bool *found)
{
    while (at < end) {
        const char *stop = script_line_end(at, end);
        if (script_begins(at, stop, "class ") && (size_t)(stop - at) > 6 + n
            && memcmp(at + 6, name, n) == 0 && at[6 + n] == '(')
            return stop < end ? script_class(stop + 1, end, out, found) : LA_OK;
        if (stop == end) break;
        at = stop + 1;
    }
    return LA_OK;
}

/* The class __torch__.a.b.Name stands in the member a/b of code/__torch__, with
** the ending of Python's files. */
static const la_zip_member *script_file(const la_torch_file *f,
                                        const char *name, size_t n)
{
    char path[512];
    if (n + 3 > sizeof path) return NULL;
    for (size_t i = 0; i < n; i++) path[i] = name[i] == '.' ? '/' : name[i];
    memcpy(path + n, ".py", 3);
    return la_torch_member(f, "code/", path, n + 3);
}

la_status la_torch_script_names(la_torch_file *f, const char *class_name,
                                size_t n, la_notes *out, bool *found)
{
    size_t dot = n;
    *found = false;
    while (dot && class_name[dot - 1] != '.') dot--;
    const la_zip_member *m = dot ? script_file(f, class_name, dot - 1) : NULL;
    if (!m) return LA_OK;
    f->code_bytes += m->size;
    if (f->code_bytes > CODE_LIMIT)
        return la_error(LA_EIO, "the program has too many classes");
    char *text = la_mem_alloc((size_t)m->size + 1);
    if (!text) return LA_ENOMEM;
    la_status status = la_torch_unpack(f, m, text);
    if (!status)
        status = script_search(text, text + m->size, class_name + dot, n - dot,
                               out, found);
    la_mem_free(text, (size_t)m->size + 1);
    return status;
}
