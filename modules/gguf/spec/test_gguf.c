/* Damaged GGUF files, of blocks of every type and with a vocabulary: each is
** loaded or refused, memory stays within the cap, and the state goes on. */
#include "spec/support/mutate.h"

static const char LIKELY[] = "\0\1\2\3\4\5\6\7\10\11\12\13\14\20\40\377\177GUF";

/* The bytes of a sound file, in a state of its own. */
static const char make[] =
    "local la = require 'lunarray'\n"
    "local t, tokens, scores, kinds = {}, {}, {}, {}\n"
    "for name in pairs(la.gguf.types()) do\n"
    "  for _, bytes in ipairs{18, 20, 22, 24, 34, 17, 36, 84, 110, 144, 176, "
    "210, 292, 136, 54, 66, 50, 56, 74, 98, 82} do\n"
    "    local ok, q = pcall(la.gguf.quantized, la.zeros({2, bytes}, {dtype = "
    "'uint8'}), name)\n"
    "    if ok then t['q.' .. name] = q break end\n"
    "  end\n"
    "end\n"
    "t.f, t.h, t.i = la.ones(2, 3), la.ones(4):half(), la.ones(3):to('int8')\n"
    "for k = 1, 40 do\n"
    "  tokens[k], scores[k], kinds[k] = 'w' .. k, -k + 0.5, k % 6 + 1\n"
    "end\n"
    "return la.gguf.encode{tensors = t, metadata = {a = true, b = 'text', c = "
    "-5, d = 1.5, e = {1, 2, 3}, ['general.alignment'] = 32, "
    "['tokenizer.ggml.model'] = 'llama', ['tokenizer.ggml.tokens'] = tokens, "
    "['tokenizer.ggml.scores'] = scores, ['tokenizer.ggml.token_type'] = "
    "kinds, ['tokenizer.ggml.bos_token_id'] = 1}}";

/* All that is in it: the numbers of blocks, too, and the vocabulary. */
static const char code[] =
    "local la, bytes, sound = require 'lunarray', ...\n"
    "local ok, f = pcall(la.gguf.decode, bytes, 'x.gguf')\n"
    "if not ok then return not sound and type(f) == 'string' end\n"
    "local n = 0\n"
    "for _, t in pairs(f.tensors) do\n"
    "  n = n + 1\n"
    "  if n > 100 then break end\n"
    "  if la.gguf.is_quantized(t) then\n"
    "    if t:numel() < 10000 then pcall(t.dequantize, t) end\n"
    "    local k = t.shape[#t.shape]\n"
    "    if k < 10000 then pcall(t.product, t, la.ones(1, k), true) end\n"
    "  elseif t:numel() < 10000 then t:clone() end\n"
    "end\n"
    "local has, words = pcall(require, 'lunarray.tokenizer')\n"
    "if has then\n"
    "  local good, v = pcall(words.from_metadata, f.metadata)\n"
    "  if sound and not good then return false end\n"
    "  if good then pcall(v.encode, v, 'w1 w2 text') end\n"
    "end\n"
    "return true";

static void make_sound(bytes *b)
{
    size_t n;
    lua_State *L = luaL_newstate();
    luaL_openlibs(L);
    la_openlibs(L);
    if (luaL_dostring(L, make)) fail_msg("%s", lua_tostring(L, -1));
    const char *text = lua_tolstring(L, -1, &n);
    assert_true(n < MOST);
    memcpy(b->data, text, n);
    b->n = n;
    lua_close(L);
}

static void damaged_files_are_errors(void **state)
{
    int64_t count = count_of("LUNARRAY_MUTATIONS", 600);
    bytes *from = calloc(1, sizeof *from), *b = calloc(1, sizeof *b);
    seed += (uint64_t)count_of("LUNARRAY_SEED", 0);
    make_sound(from);
    lua_State *L = open_state_for(code, b, open_bytes);
    for (int64_t i = 0; i < count; i++) {
        *b = *from;
        if (i) mutate(b, from, LIKELY, sizeof LIKELY - 1);
        /* what stands before the tensors is a small part */
        if (i % 2) {
            size_t whole = b->n, head = whole < 4000 ? whole : 4000;
            b->n = head;
            mutate(b, from, LIKELY, sizeof LIKELY - 1);
            if (b->n == head) b->n = whole;
        }
        try_bytes(L, b, i == 0);
    }
    lua_close(L);
    free(from);
    free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damaged_files_are_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
