/*
** Files in parts: x.safetensors.index.json names, for each tensor, the file of
** the same folder that holds it. {"metadata": ..., "weight_map": {name: file}}.
*/
#include <string.h>

#include "base/runtime/memory.h"
#include "io/archive.h"
#include "io/json.h"
#include "lua/files/checkpoint.h"
#include "lua/files/growing_bytes.h"
#include "lua/files/loader.h"

enum { INDEX_LIMIT = 100 << 20, DEEPEST = 64 };

/* ---- the text ---- */

/* Skips a number, true, false or null; they are not used. */
static la_status skip_word(la_json *json)
{
    const char *from = json->at;
    while (json->at < json->end && strchr("+-.0123456789Eaeflnrstu", *json->at)
           && *json->at) json->at++;
    return json->at > from ? LA_OK : la_json_malformed("a value was expected");
}

/* Skips a value of any kind: 'text' is scratch for a string. Brackets that are
** open, the innermost last, without recursion. */
static la_status skip_value(la_json *json, char *text, size_t capacity)
{
    char open[DEEPEST];
    size_t n;
    int depth = 0;
    for (;;) {
        if (la_json_accept(json, '{') || la_json_accept(json, '[')) {
            if (depth == DEEPEST) return la_json_malformed("nested too deep");
            open[depth++] = json->at[-1] == '{' ? '}' : ']';
        } else if (depth && la_json_accept(json, open[depth - 1])) {
            depth--;
        } else if (json->at < json->end && *json->at == '"') {
            LA_TRY(la_json_string(json, text, capacity, &n));
            if (depth && la_json_accept(json, ':')) continue;
        } else {
            LA_TRY(skip_word(json));
        }
        if (!depth) return LA_OK;
        la_json_accept(json, ',');
    }
}

/* {"name": "file", ...} as notes. Other keys of the index are skipped. */
static la_status read_index(la_json *json, char *text, size_t capacity,
                            la_notes *map)
{
    size_t n;
    bool found = false;
    LA_TRY(la_json_expect(json, '{'));
    do {
        LA_TRY(la_json_string(json, text, capacity, &n));
        LA_TRY(la_json_expect(json, ':'));
        bool is_map = n == 10 && memcmp(text, "weight_map", n) == 0;
        if (is_map && found) return la_json_malformed("a key is there twice");
        found = found || is_map;
        LA_TRY(is_map ? la_metadata_read(json, map)
                      : skip_value(json, text, capacity));
    } while (la_json_accept(json, ','));
    LA_TRY(la_json_expect(json, '}'));
    if (!found) return la_json_malformed("there is no \"weight_map\"");
    return la_json_accept(json, '\0') || json->at < json->end
        ? la_json_malformed("text after '}'") : LA_OK;
}

static la_status read_map(const la_open_file *file, la_bytes *text,
                          la_notes *map)
{
    size_t n = (size_t)file->in.size;
    if (file->in.size > INDEX_LIMIT)
        return la_error(LA_EIO, "an index of %lld bytes, %d at most",
                        (long long)file->in.size, INDEX_LIMIT);
    LA_TRY(la_check_limit(file->in.size, file->limit));
    text->capacity = 2 * n + 16;
    if (!(text->data = la_mem_alloc(text->capacity))) return LA_ENOMEM;
    char *json = (char *)text->data;
    LA_TRY(la_reader_read(&file->in, 0, json, n));
    return read_index(&(la_json){json, json + n}, json + n, n + 16, map);
}

/* ---- the parts ---- */

/* The entries of a part move over. The texts about the file, which all parts
** repeat, are those of the first that has some. */
static la_status join_part(la_archive *part, la_archive *out)
{
    for (int64_t i = 0; i < part->n; i++) {
        la_entry *e = &part->list[i];
        la_tensor *t = e->tensor;
        e->tensor = NULL;
        LA_TRY(la_archive_add(out, e->name, e->n, t));
    }
    for (int64_t i = 0; i < part->skipped.n; i++) {
        const la_note *note = &part->skipped.list[i];
        LA_TRY(la_notes_add(&out->skipped, note->key, note->n, note->text,
                            note->text_n));
    }
    if (out->metadata.n) return LA_OK;
    la_notes none = out->metadata;
    out->metadata = part->metadata;
    part->metadata = none;
    return LA_OK;
}

/* Once more after a collection where memory ran out. */
static la_status read_part(lua_State *L, const la_open_file *file,
                           la_archive *part)
{
    la_status status = la_safetensors_map(&file->in, file->mapping, part);
    if (status != LA_ENOMEM || !la_collect_here(L)) return status;
    la_archive_free(part);
    return la_safetensors_map(&file->in, file->mapping, part);
}

/* One part joins the archive, whose limit counts down. */
static void add_part(lua_State *L, const la_open_file *file,
                     const la_note *name, la_archive *out)
{
    la_open_file *part = la_load_sibling(L, file, name->key, name->n);
    la_archive *a = la_push_archive(L);
    if (file->limit) {
        la_load_check(L, part, la_check_limit(part->in.size, out->limit));
        out->limit -= part->in.size;
        if (!out->limit) out->limit = 1;
    }
    la_load_check(L, part, read_part(L, part, a));
    la_load_check(L, part, join_part(a, out));
    la_archive_free(a);
    la_load_close(L, -2);
    lua_pop(L, 2);
}

/* The names of the parts, sorted, as keys. */
static la_status list_parts(const la_notes *map, la_notes *out)
{
    for (int64_t i = 0; i < map->n; i++)
        LA_TRY(la_notes_add(out, map->list[i].text, map->list[i].text_n, "",
                            0));
    la_notes_sort(out);
    return LA_OK;
}

static bool is_same_part(const la_note *a, const la_note *b)
{
    return a->n == b->n && memcmp(a->key, b->key, a->n) == 0;
}

/* Is the tensor of the note there? The archive is sorted. */
static bool archive_has(const la_archive *a, const la_note *note)
{
    int64_t low = 0, high = a->n;
    while (low < high) {
        int64_t mid = low + (high - low) / 2;
        const la_entry *e = &a->list[mid];
        size_t n = e->n < note->n ? e->n : note->n;
        int order = n ? memcmp(e->name, note->key, n) : 0;
        if (!order) order = (e->n > note->n) - (e->n < note->n);
        if (!order) return true;
        if (order < 0) low = mid + 1;
        else high = mid;
    }
    return false;
}

/* A tensor of the index that is in no part. */
static void check_all(lua_State *L, const la_open_file *file,
                      const la_archive *map, const la_archive *a)
{
    char shown[2][300];
    for (int64_t i = 0; i < map->metadata.n; i++) {
        const la_note *note = &map->metadata.list[i];
        if (archive_has(a, note)) continue;
        la_load_fail(L, file, "'%s' does not hold the tensor '%s'",
                     la_quote(note->text, note->text_n, shown[0], 300),
                     la_quote(note->key, note->n, shown[1], 300));
    }
}

/* The map is the metadata of an archive that the collector owns, the names of
** the parts are its notes of what was skipped. Each part is read once. */
static int push_index(lua_State *L, la_open_file *file)
{
    la_archive *map = la_push_archive(L), *a = la_push_archive(L);
    la_bytes *text = la_push_bytes(L);
    la_load_check(L, file, read_map(file, text, &map->metadata));
    la_bytes_free(text);
    la_load_check(L, file, list_parts(&map->metadata, &map->skipped));
    const la_notes *parts = &map->skipped;
    a->limit = file->limit;
    for (int64_t i = 0; i < parts->n; i++)
        if (i == 0 || !is_same_part(&parts->list[i - 1], &parts->list[i]))
            add_part(L, file, &parts->list[i], a);
    la_load_check(L, file, la_archive_sort(a, LA_EIO));
    check_all(L, file, map, a);
    bool asked = lua_istable(L, file->options)
        && lua_getfield(L, file->options, "metadata") && lua_toboolean(L, -1);
    la_push_values(L, file->name, a);
    if (!asked) return 1;
    la_push_notes(L, &a->metadata);
    la_push_notes(L, &a->skipped);
    return 3;
}

/* JSON has no other mark than its extension. */
static la_status fits_index(const la_reader *in, bool *yes)
{
    char first = 0;
    *yes = false;
    if (in->size > 0) LA_TRY(la_reader_read(in, 0, &first, 1));
    *yes = first == '{';
    return LA_OK;
}

const la_loader la_loader_index = {
    .extensions = "safetensors.index.json", .fits = fits_index,
    .push = push_index
};
