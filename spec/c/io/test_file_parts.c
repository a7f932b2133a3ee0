/* Damaged lists of files in parts (x.safetensors.index.json), and damaged
** parts: each is loaded or refused, memory stays within the cap. */
#include "spec/support/mutate.h"

static const char LIKELY[] = "{}[]\",:\\/.0123456789-abst \377\200\1";
static const char list[] =
    "{\"metadata\": {\"total_size\": 24}, \"weight_map\": {\"a\": "
    "\"p-1.safetensors\", \"b.c\": \"p-1.safetensors\"}}";
static const char header[] =
    "{\"a\":{\"dtype\":\"F32\",\"shape\":[2,2],\"data_offsets\":[0,16]},"
    "\"b.c\":{\"dtype\":\"I64\",\"shape\":[1],\"data_offsets\":[16,24]}}";

typedef struct parts { bytes list, part; } parts;

static int open_part(void *context, const char *name, la_source *source)
{
    parts *p = context;
    size_t n = strlen(name);
    int is_list = n > 5 && strcmp(name + n - 5, ".json") == 0;
    return open_bytes(is_list ? &p->list : &p->part, name, source);
}

static void put(bytes *b, const char *text, size_t n)
{
    memcpy(b->data + b->n, text, n);
    b->n += n;
}

static void make_sound(parts *p)
{
    uint64_t n = sizeof header - 1;
    unsigned char little[8];
    p->list.n = p->part.n = 0;
    put(&p->list, list, sizeof list - 1);
    for (int k = 0; k < 8; k++) little[k] = (unsigned char)(n >> 8 * k);
    put(&p->part, (char *)little, 8);
    put(&p->part, header, sizeof header - 1);
    put(&p->part, "0123456789abcdefghijklmn", 24);
}

static void damaged_lists_are_errors(void **state)
{
    int64_t count = count_of("LUNARRAY_MUTATIONS", 600);
    parts *p = calloc(1, sizeof *p), *from = calloc(1, sizeof *from);
    seed += (uint64_t)count_of("LUNARRAY_SEED", 0);
    make_sound(from);
    lua_State *L = open_state_for(looking, p, open_part);
    for (int64_t i = 0; i < count; i++) {
        *p = *from;
        if (i % 3) mutate(&p->list, &from->part, LIKELY, sizeof LIKELY - 1);
        if (i && i % 3 != 1)
            mutate(&p->part, &from->list, LIKELY, sizeof LIKELY - 1);
        load_once(L, "x.safetensors.index.json", 0, i == 0);
    }
    lua_close(L);
    free(from);
    free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damaged_lists_are_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
