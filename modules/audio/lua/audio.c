/*
** la.audio: sound in files and in strings. What stands in their bytes is
** src/io's matter (modules/audio/io/wav.h).
**
** A tensor of sound is {channels, frames}, or {frames} where one is written.
** Floats are full scale from -1 to 1; integers are what a file with such
** samples holds. Paths are refused in a sandboxed state, strings are not.
*/
#include <string.h>

#include "modules/audio/io/wav.h"
#include "lua/binding.h"
#include "lua/build_options.h"
#include "lua/files/growing_bytes.h"
#include "lua/files/media.h"
#include "op/call.h"

/* ---- arguments ---- */

typedef struct options {
    la_dtype dtype;             /* LA_UNDEFINED: float32 */
    la_wav_format format;       /* LA_WAV_FORMATS: by the dtype */
    int64_t first, last;        /* as given; from 1 */
} options;

/* The integer in a field of the options. */
static int64_t lua_audio_read_integer(lua_State *L, int at, const char *key,
                                      int64_t fallback, const char *name)
{
    int exact = 1;
    lua_Integer v = fallback;
    if (lua_getfield(L, at, key) != LUA_TNIL) v = lua_tointegerx(L, -1, &exact);
    if (!exact || v == 0)
        la_raise_arg(L, at, name, "%s: the number of a frame expected, from 1,"
                     " or from -1 backwards", key);
    lua_pop(L, 1);
    return v;
}

/* The format whose name is on the stack's top, popped. */
static la_wav_format lua_audio_check_format(lua_State *L, int at,
                                            const char *name)
{
    const char *word = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1)
                                                      : "";
    int k = 0;
    while (k < LA_WAV_FORMATS && strcmp(word, la_wav_kinds[k].name)) k++;
    if (k == LA_WAV_FORMATS)
        la_raise_arg(L, at, name, "format: \"uint8\", \"int16\", \"int24\", "
                     "\"int32\", \"float32\" or \"float64\" expected");
    lua_pop(L, 1);
    return (la_wav_format)k;
}

/* Missing options stand for: float32, a format by the dtype, all frames. */
static options lua_audio_read_options(lua_State *L, int at,
                                      const char *const *known,
    const char *name)
{
    options o = {LA_UNDEFINED, LA_WAV_FORMATS, 1, -1};
    if (lua_isnoneornil(L, at)) return o;
    if (!lua_istable(L, at))
        la_raise_arg(L, at, name, "table of options expected, got %s",
                     la_type_text(L, at));
    la_check_keywords(L, at, known, name);
    o.first = lua_audio_read_integer(L, at, "first", 1, name);
    o.last = lua_audio_read_integer(L, at, "last", -1, name);
    if (lua_getfield(L, at, "dtype") != LUA_TNIL)
        o.dtype = la_check_dtype(L, lua_gettop(L), name);
    if (lua_getfield(L, at, "format") != LUA_TNIL)
        o.format = lua_audio_check_format(L, at, name);
    else lua_pop(L, 1);
    lua_pop(L, 1);
    if (o.dtype != LA_UNDEFINED && o.dtype != LA_UINT8 && o.dtype != LA_INT16
        && o.dtype != LA_INT32 && !la_is_float(o.dtype))
        la_raise_arg(L, at, name, "dtype: uint8, int16, int32 or a floating "
                     "one expected, got %s", la_dtype_name(o.dtype));
    return o;
}

/* ---- samples of one kind as another ---- */

/* The kind of samples that a tensor of the dtype holds; 16-bit floats are made
** float32 first. LA_WAV_FORMATS: none. */
static la_wav_format lua_audio_format_of(la_dtype dtype)
{
    switch (dtype) {
    case LA_UINT8: return LA_WAV_UINT8;
    case LA_INT16: return LA_WAV_INT16;
    case LA_INT32: return LA_WAV_INT32;
    case LA_FLOAT64: return LA_WAV_FLOAT64;
    default: return la_is_float(dtype) ? LA_WAV_FLOAT32 : LA_WAV_FORMATS;
    }
}

/* No integer stands for NaN; a player would hear whatever the cast gives. */
static la_status refuse_nan(const la_tensor *t)
{
    la_value results[LA_MAX_RESULTS];
    LA_LET(nan, la_run(isnan, &nan, (la_tensor *)t));
    LA_TRY(la_run_many(any, results, nan));
    if (!results[0].b) return LA_OK;
    return la_error(LA_EARG, "NaN in the samples: replace it (nan_to_num)");
}

/* Floats at the scale of 'to' as its integers: the nearest ones, halves to
** even; what is beyond full scale is cut. */
static la_status to_integers(la_tensor *t, const la_wav_kind *to,
                             la_tensor **out)
{
    LA_OWNED moved = NULL;
    LA_TRY(refuse_nan(t));
    LA_LET(whole, la_run(round, &whole, t));
    LA_LET(cut, la_run(clamp, &cut, whole, -to->full, to->full - 1));
    if (to->zero) LA_TRY(la_run(add, &moved, cut, to->zero, la_scalar_int(1)));
    return la_run(to_dtype, out, moved ? moved : cut, la_v_dtype(to->dtype));
}

/* Factors are powers of two, so that nothing is rounded but at the end. */
static la_status lua_audio_convert(la_tensor *t, la_wav_format from_format,
                                   la_wav_format to_format, la_tensor **out)
{
    const la_wav_kind *from = &la_wav_kinds[from_format];
    const la_wav_kind *to = &la_wav_kinds[to_format];
    LA_OWNED moved = NULL;
    if (from_format == to_format)
        return la_run(to_dtype, out, t, la_v_dtype(to->dtype));
    bool narrow = from_format != LA_WAV_INT32 && to_format != LA_WAV_INT32
        && from_format != LA_WAV_FLOAT64 && to_format != LA_WAV_FLOAT64;
    LA_LET(real, la_run(to_dtype, &real, t,
                        la_v_dtype(narrow ? LA_FLOAT32 : LA_FLOAT64)));
    if (from->zero)
        LA_TRY(la_run(sub, &moved, real, from->zero, la_scalar_int(1)));
    LA_LET(scaled,
           la_run(mul, &scaled, moved ? moved : real, to->full / from->full));
    if (la_is_float(to->dtype))
        return la_run(to_dtype, out, scaled, la_v_dtype(to->dtype));
    return to_integers(scaled, to, out);
}

/* ---- reading ---- */

/* The frames that are asked for, from 0, as a count; LA_EINDEX outside. An
** empty range is one whose last frame is the one before its first. */
static la_status find_frames(const la_wav_info *info, const options *o,
                             int64_t *first, int64_t *count)
{
    int64_t n = info->frames;
    int64_t a = o->first < 0 ? n + o->first : o->first - 1;
    int64_t b = o->last < 0 ? n + o->last : o->last - 1;
    if (a < 0 || b >= n || a > b + 1)
        return la_error(LA_EINDEX, "frames %lld to %lld of %lld",
                        (long long)o->first, (long long)o->last, (long long)n);
    *first = a;
    *count = b + 1 - a;
    return LA_OK;
}

static la_status lua_audio_decode(const la_reader *source, const options *o,
                                  la_tensor **out, uint32_t *rate)
{
    la_wav_info info;
    int64_t first = 0, count = 0;
    la_dtype dtype = o->dtype == LA_UNDEFINED ? LA_FLOAT32 : o->dtype;
    LA_TRY(la_wav_info_read(source, &info));
    LA_TRY(find_frames(&info, o, &first, &count));
    LA_LET(samples, la_wav_read(source, &info, first, count, &samples));
    LA_LET(view, la_run(transpose, &view, samples, 0, 1));
    LA_LET(planes, la_run(contiguous, &planes, view));
    LA_LET(converted,
           lua_audio_convert(planes, info.format, lua_audio_format_of(dtype),
                             &converted));
    *rate = info.rate;
    return la_run(to_dtype, out, converted, la_v_dtype(dtype));
}

static la_status lua_audio_load(const char *path, const options *o,
                                la_tensor **out, uint32_t *rate)
{
    LA_READER source = {.fd = -1};
    LA_TRY(la_reader_open(path, &source));
    return la_media_name(lua_audio_decode(&source, o, out, rate), path);
}

/* The keywords of load and decode, and of save and encode. */
static const char *const reading[] = {"dtype", "first", "last", NULL};
static const char *const writing[] = {"format", NULL};

/* The tensor in 'h' and the rate, as results. What was read is charged to the
** state as an operation of so many elements. */
static int lua_audio_give(lua_State *L, la_state *s, la_handle *h,
                          uint32_t rate, const char *name)
{
    la_charge_more(L, name, h->tensor->numel);
    lua_pushinteger(L, (lua_Integer)rate);
    la_pace(L, s);
    return 2;
}

/* la.audio.load(path[, {dtype=, first=, last=}]): samples, rate. The samples
** are float32 unless told, the frames from 'first' to 'last' (from 1, or from
** -1 backwards). A part of a long file is read without the rest. */
static int audio_load(lua_State *L)
{
    la_state *s = la_begin(L, "audio.load", 0);
    la_tensor *t = NULL;
    uint32_t rate = 0;
    const char *path = la_check_path(L, 1, "audio.load");
    options o = lua_audio_read_options(L, 2, reading, "audio.load");
    la_handle *h = la_new_handle(L, s);
    LA_CHECK_TWICE(L, "audio.load", lua_audio_load(path, &o, &t, &rate));
    la_fill_handle(s, h, t);
    return lua_audio_give(L, s, h, rate, "audio.load");
}

/* la.audio.decode(string[, {dtype=, first=, last=}]): samples, rate. As load,
** from the bytes of a file. */
static int audio_decode(lua_State *L)
{
    la_state *s = la_begin(L, "audio.decode", 0);
    la_tensor *t = NULL;
    uint32_t rate = 0;
    la_reader source;
    la_media_source(L, "audio.decode", "a WAV file's", &source);
    options o = lua_audio_read_options(L, 2, reading, "audio.decode");
    la_handle *h = la_new_handle(L, s);
    LA_CHECK_TWICE(L, "audio.decode", lua_audio_decode(&source, &o, &t, &rate));
    la_fill_handle(s, h, t);
    return lua_audio_give(L, s, h, rate, "audio.decode");
}

/* The header alone. */
static la_status lua_audio_read_info(const char *path, la_wav_info *info)
{
    LA_READER source = {.fd = -1};
    LA_TRY(la_reader_open(path, &source));
    return la_media_name(la_wav_info_read(&source, info), path);
}

/* la.audio.info(path): frames, channels, rate, format. The samples are not
** looked at; 'format' is a word that save takes. */
static int audio_info(lua_State *L)
{
    la_begin(L, "audio.info", 0);
    la_wav_info info;
    const char *path = la_check_path(L, 1, "audio.info");
    LA_CHECK(L, "audio.info", lua_audio_read_info(path, &info));
    lua_pushinteger(L, info.frames);
    lua_pushinteger(L, info.channels);
    lua_pushinteger(L, (lua_Integer)info.rate);
    lua_pushstring(L, la_wav_kinds[info.format].name);
    return 4;
}

/* ---- writing ---- */

/* {channels, frames} or {frames} with values, on the processor, of a dtype that
** has a format. Asked before anything is opened. */
static la_status lua_audio_check_tensor(const la_tensor *t)
{
    LA_TRY(la_media_check(t));
    if (t->ndim != 1 && t->ndim != 2)
        return la_error(LA_ESHAPE, "sound of {channels, frames} or {frames} "
                        "expected, got %d dims", t->ndim);
    if (lua_audio_format_of((la_dtype)t->dtype) == LA_WAV_FORMATS)
        return la_error(LA_EDTYPE, "%s is no dtype of sound: uint8, int16, "
                        "int32 or a floating one (-1 to 1) expected",
                        la_dtype_name((la_dtype)t->dtype));
    return LA_OK;
}

/* Samples as a file of 'format' holds them, {frames, channels}, contiguous. */
static la_status lua_audio_to_samples(la_tensor *t, la_wav_format format,
                                      la_tensor **out)
{
    LA_OWNED planes = NULL;
    LA_LET(plain, la_run(detach, &plain, t));
    LA_LET(samples,
           lua_audio_convert(plain, lua_audio_format_of((la_dtype)t->dtype),
                             format, &samples));
    if (t->ndim == 1) LA_TRY(la_run(unsqueeze, &planes, samples, 0));
    else planes = la_tensor_retain(samples);
    LA_LET(view, la_run(transpose, &view, planes, 0, 1));
    return la_run(contiguous, out, view);
}

/* The format of a file that was not told: that of integers, 16 bits for
** floats, which every player knows. */
static la_wav_format choose_format(const la_tensor *t, const options *o)
{
    if (o->format != LA_WAV_FORMATS) return o->format;
    la_dtype dtype = (la_dtype)t->dtype;
    return la_is_float(dtype) ? LA_WAV_INT16 : lua_audio_format_of(dtype);
}

/* All of a file, to a file or a sink. */
static la_status write(la_tensor *t, uint32_t rate, const options *o,
                       la_writer *sink)
{
    la_wav_format format = choose_format(t, o);
    LA_LET(samples, lua_audio_to_samples(t, format, &samples));
    return la_wav_write(samples, format, rate, sink);
}

/* The file is only opened when its tensor can be written. */
static la_status lua_audio_save(la_tensor *t, const char *path, uint32_t rate,
                                const options *o)
{
    LA_WRITER sink = {.fd = -1};
    LA_TRY(lua_audio_check_tensor(t));
    LA_TRY(la_writer_open(path, &sink));
    LA_TRY(write(t, rate, o, &sink));
    return la_writer_commit(&sink);
}

/* A sink of the writer: bytes in memory. */
static int put_bytes(void *context, const void *bytes, size_t n)
{
    la_bytes *out = context;
    la_bytes_put(out, bytes, n);
    return out->status;
}

static la_status lua_audio_encode(la_tensor *t, uint32_t rate, const options *o,
                                  la_bytes *out)
{
    la_sink host = {sizeof host, out, put_bytes};
    LA_WRITER sink = {.fd = -1};
    la_bytes_free(out);             /* of an attempt that failed */
    LA_TRY(lua_audio_check_tensor(t));
    LA_TRY(la_writer_to_sink(&host, &sink));
    LA_TRY(write(t, rate, o, &sink));
    return out->status;
}

/* Frames per second: what a header of 32 bits can say. */
static uint32_t check_rate(lua_State *L, int at, const char *name)
{
    int exact;
    lua_Integer rate = lua_tointegerx(L, at, &exact);
    if (!exact || rate < 1 || rate > UINT32_MAX)
        la_raise_arg(L, at, name, "frames per second expected (an integer from"
                     " 1 on, such as 44100), got %s", la_type_text(L, at));
    return (uint32_t)rate;
}

/* la.audio.save(x, path, rate[, {format=}]), or path and x the other way
** round. */
static int audio_save(lua_State *L)
{
    la_begin(L, "audio.save", 0);
    la_media_order(L, 4);
    const char *path = la_check_path(L, 2, "audio.save");
    uint32_t rate = check_rate(L, 3, "audio.save");
    options o = lua_audio_read_options(L, 4, writing, "audio.save");
    LA_CHECK_TWICE(L, "audio.save",
                   lua_audio_save(la_check_tensor(L, 1, "audio.save"), path,
                                  rate, &o));
    return 0;
}

/* la.audio.encode(x, rate[, {format=}]) */
static int audio_encode(lua_State *L)
{
    la_begin(L, "audio.encode", 0);
    la_check_tensor(L, 1, "audio.encode");
    uint32_t rate = check_rate(L, 2, "audio.encode");
    options o = lua_audio_read_options(L, 3, writing, "audio.encode");
    la_bytes *bytes = la_push_bytes(L);
    LA_CHECK_TWICE(L, "audio.encode",
                   lua_audio_encode(la_check_tensor(L, 1, "audio.encode"), rate,
                                    &o, bytes));
    lua_pushlstring(L, (const char *)bytes->data, bytes->n);
    la_bytes_free(bytes);
    return 1;
}

static const la_function functions[] = {
    {"load", audio_load, 2}, {"decode", audio_decode, 2},
    {"info", audio_info, 1}, {"save", audio_save, LA_MANY},
    {"encode", audio_encode, LA_MANY}, {NULL, NULL, 0}
};

const la_module la_module_audio = {NULL, functions, NULL};
