/*
** la.image: images in files and in strings. What stands in their bytes is
** src/io's matter (modules/image/io/image.h); tensor operations on images are
** in Lua (the module lunarray.image).
**
** A tensor of an image is {channels, height, width}, {height, width} for grey
** where one is written. Paths are refused in a sandboxed state, strings are
** not.
*/
#include <string.h>

#include "modules/image/io/image.h"
#include "base/ascii.h"
#include "base/size.h"
#include "lua/binding.h"
#include "lua/build_options.h"
#include "lua/files/growing_bytes.h"
#include "lua/files/media.h"
#include "op/call.h"

/* ---- arguments ---- */

static const struct { const char *name; la_image_format format; } formats[] = {
    {"png", LA_IMAGE_PNG}, {"jpg", LA_IMAGE_JPEG}, {"jpeg", LA_IMAGE_JPEG},
    {"bmp", LA_IMAGE_BMP}, {"tga", LA_IMAGE_TGA}};  /* to write */
enum { FORMATS = sizeof(formats) / sizeof(formats[0]) };

static la_image_format lua_image_format_of(const char *word)
{
    for (int k = 0; word && k < FORMATS; k++)
        if (strlen(word) == strlen(formats[k].name)
            && la_same_letters(word, formats[k].name, strlen(word)))
            return formats[k].format;
    return LA_IMAGE_WRITTEN;
}

/* Bytes of samples for a sandboxed script that says nothing: a small file may
** say that it holds many pixels. */
#define SANDBOX_LIMIT ((int64_t)256 << 20)

typedef struct options {
    bool upright;               /* as EXIF says */
    bool frames;                /* all of an animation */
    int64_t limit;              /* bytes of samples; 0: any number */
    int channels, quality;
    la_dtype dtype;             /* LA_UNDEFINED: that of the file */
    la_image_format format;     /* LA_IMAGE_WRITTEN: not given */
} options;

/* The integer in a field of the options, between 'least' and 'most'. */
static int lua_image_read_integer(lua_State *L, int at, const char *key,
                                  int least, int most, int fallback,
    const char *name)
{
    int exact = 1;
    if (lua_getfield(L, at, key) == LUA_TNIL) {
        lua_pop(L, 1);
        return fallback;
    }
    lua_Integer v = lua_tointegerx(L, -1, &exact);
    if (!exact || v < least || v > most)
        la_raise_arg(L, at, name, "%s: an integer from %d to %d expected", key,
                     least, most);
    lua_pop(L, 1);
    return (int)v;
}

static bool lua_image_read_boolean(lua_State *L, int at, const char *key,
                                   bool fallback, const char *name)
{
    bool given = lua_getfield(L, at, key) != LUA_TNIL;
    if (given && !lua_isboolean(L, -1))
        la_raise_arg(L, at, name, "%s: boolean expected, got %s", key,
                     la_type_text(L, lua_gettop(L)));
    bool value = given ? lua_toboolean(L, -1) : fallback;
    lua_pop(L, 1);
    return value;
}

static la_image_format lua_image_check_format(lua_State *L, int at,
                                              const char *name)
{
    char quoted[256];
    size_t n;
    if (lua_type(L, at) != LUA_TSTRING)
        la_raise_arg(L, at, name, "format expected (\"png\", \"jpg\", \"bmp\","
                     " \"tga\"), got %s", la_type_text(L, at));
    const char *word = lua_tolstring(L, at, &n);
    la_image_format f = strlen(word) == n ? lua_image_format_of(word)
        : LA_IMAGE_WRITTEN;
    if (f == LA_IMAGE_WRITTEN)
        la_raise_arg(L, at, name, "unknown format '%s' (known: png, jpg, bmp,"
                     " tga)", la_quote(word, n, quoted, sizeof quoted));
    return f;
}

static options lua_image_read_options(lua_State *L, int at,
                                      const char *const *known,
    const char *name)
{
    options o = {true, false, la_state_of(L)->sandboxed ? SANDBOX_LIMIT : 0, 0,
                 90, LA_UNDEFINED, LA_IMAGE_WRITTEN};
    if (lua_isnoneornil(L, at)) return o;
    if (!lua_istable(L, at))
        la_raise_arg(L, at, name, "table of options expected, got %s",
                     la_type_text(L, at));
    la_check_keywords(L, at, known, name);
    o.channels = lua_image_read_integer(L, at, "channels", 1, 4, 0, name);
    o.quality = lua_image_read_integer(L, at, "quality", 1, 100, 90, name);
    o.limit = la_read_limit(L, at, name, o.limit);
    o.upright = lua_image_read_boolean(L, at, "apply_exif_orientation", true,
                                       name);
    o.frames = lua_image_read_boolean(L, at, "frames", false, name);
    if (lua_getfield(L, at, "dtype") != LUA_TNIL)
        o.dtype = la_check_dtype(L, lua_gettop(L), name);
    if (lua_getfield(L, at, "format") != LUA_TNIL)
        o.format = lua_image_check_format(L, lua_gettop(L), name);
    lua_pop(L, 2);
    if (o.dtype != LA_UNDEFINED && o.dtype != LA_UINT8 && o.dtype != LA_UINT16
        && !la_is_float(o.dtype))
        la_raise_arg(L, at, name, "dtype: uint8, uint16 or a floating one "
                     "expected, got %s", la_dtype_name(o.dtype));
    return o;
}

/* ---- reading ---- */

/* Floats from 0 to 1 as integers up to 'most', the nearest ones, halves to
** even. */
static la_status from_floats(la_tensor *t, la_dtype dtype, double most,
                             la_tensor **out)
{
    la_value results[LA_MAX_RESULTS];
    LA_LET(nan, la_run(isnan, &nan, t));
    LA_TRY(la_run_many(any, results, nan));
    if (results[0].b)
        return la_error(LA_EARG, "NaN in the image: replace it (nan_to_num)");
    LA_LET(real,
           la_run(to_dtype, &real, t, la_v_dtype(t->dtype == LA_FLOAT64
                                                 ? LA_FLOAT64 : LA_FLOAT32)));
    LA_LET(clamped, la_run(clamp, &clamped, real, 0.0, 1.0));
    LA_LET(scaled, la_run(mul, &scaled, clamped, most));
    LA_LET(whole, la_run(round, &whole, scaled));
    return la_run(to_dtype, out, whole, la_v_dtype(dtype));
}

/* Samples in another dtype: floats from 0 to 1 (those of HDR as they are); of
** integers the nearest. */
static la_status lua_image_convert(la_tensor *t, la_dtype dtype,
                                   la_tensor **out)
{
    bool wide = t->dtype == LA_UINT16;
    LA_OWNED scaled = NULL;
    if (dtype == LA_UNDEFINED || dtype == t->dtype)
        return la_tensor_same(t, out);
    if (t->dtype == LA_FLOAT32)
        return la_is_float(dtype) ? la_run(to_dtype, out, t, la_v_dtype(dtype))
            : from_floats(t, dtype, dtype == LA_UINT16 ? 65535.0 : 255.0, out);
    bool narrow = la_is_float(dtype) && dtype != LA_FLOAT64;
    LA_LET(real, la_run(to_dtype, &real, t,
                        la_v_dtype(narrow ? LA_FLOAT32 : LA_FLOAT64)));
    if (la_is_float(dtype)) {
        LA_TRY(la_run(div, &scaled, real, wide ? 65535.0 : 255.0));
        return la_run(to_dtype, out, scaled, la_v_dtype(dtype));
    }
    if (wide) LA_TRY(la_run(div, &scaled, real, 257.0));
    else LA_TRY(la_run(mul, &scaled, real, 257.0));
    LA_LET(whole, la_run(round, &whole, scaled));
    return la_run(to_dtype, out, whole, la_v_dtype(dtype));
}

/* Planes as EXIF's orientation means them: rows and columns exchanged from 5
** on, then one of them or both in reverse. */
static la_status orient(la_tensor *t, int orientation, la_tensor **out)
{
    static const uint8_t reversed[9] = {0, 0, 2, 3, 1, 0, 2, 3, 1};
    int64_t dims[2], n = 0;
    LA_OWNED view = NULL;
    if (orientation >= 5) LA_TRY(la_run(transpose, &view, t, 1, 2));
    else view = la_tensor_retain(t);
    for (int bit = 0; bit < 2; bit++)
        if (reversed[orientation] >> bit & 1) dims[n++] = 1 + bit;
    if (n == 0) return la_tensor_same(view, out);
    return la_run(flip, out, view, la_v_ints(dims, n));
}

/* {height, width, channels} to {channels, height, width}, contiguous. */
static la_status lua_image_finish(la_tensor *t, const options *o,
                                  int orientation, la_tensor **out)
{
    static const int64_t order[3] = {2, 0, 1};
    LA_LET(view, la_run(permute, &view, t, la_v_ints(order, 3)));
    LA_LET(oriented, orient(view, orientation, &oriented));
    LA_LET(planes, la_run(contiguous, &planes, oriented));
    return lua_image_convert(planes, o->dtype, out);
}

/* An image, and where all frames are wanted the seconds of each. */
typedef struct lua_image {
    la_tensor *pixels, *seconds;
} lua_image;

/* Frames of a GIF as {frames, channels, height, width}. */
static la_status lua_image_read_frames(const la_reader *source,
                                       const options *o, lua_image *out)
{
    static const int64_t order[4] = {0, 3, 1, 2};
    LA_OWNED frames = NULL;
    LA_OWNED seconds = NULL;
    LA_TRY(la_image_read_frames(source, o->channels, &frames, &seconds));
    LA_LET(view, la_run(permute, &view, frames, la_v_ints(order, 4)));
    LA_LET(planes, la_run(contiguous, &planes, view));
    LA_TRY(lua_image_convert(planes, o->dtype, &out->pixels));
    return la_tensor_hand(&seconds, &out->seconds);
}

/* One image, as the only frame where frames are wanted. */
static la_status lua_image_read_one(const la_reader *source, const options *o,
                                    lua_image *out)
{
    static const int64_t one = 1;
    int orientation = 1;
    if (o->upright) LA_TRY(la_jpeg_orientation(source, &orientation));
    LA_LET(t, la_image_read(source, o->channels, &t));
    if (!o->frames) return lua_image_finish(t, o, orientation, &out->pixels);
    LA_LET(image, lua_image_finish(t, o, orientation, &image));
    LA_TRY(la_run(unsqueeze, &out->pixels, image, 0));
    LA_TRY(la_tensor_empty(1, &one, LA_FLOAT64, &out->seconds));
    *(double *)la_data(out->seconds) = 0;
    return LA_OK;
}

static la_status lua_image_decode(const la_reader *source, const options *o,
                                  lua_image *out)
{
    la_image_info info;
    LA_TRY(la_image_info_read(source, &info));
    int64_t frames = o->frames ? info.frames : 1, pixels = 0, bytes = 0;
    if (!la_mul_ok(info.width, info.height, &pixels)
        || !la_mul_ok(pixels, info.channels * (info.bits / 8), &bytes)
        || !la_mul_ok(bytes, frames, &bytes))
        bytes = INT64_MAX;
    LA_TRY(la_check_limit(bytes, o->limit));
    la_status status = o->frames && info.format == LA_IMAGE_GIF
        ? lua_image_read_frames(source, o, out)
        : lua_image_read_one(source, o, out);
    if (status) {
        la_tensor_drop(&out->pixels);
        la_tensor_drop(&out->seconds);
    }
    return status;
}

static la_status lua_image_load(const char *path, const options *o,
                                lua_image *out)
{
    LA_READER source = {.fd = -1};
    LA_TRY(la_reader_open(path, &source));
    return la_media_name(lua_image_decode(&source, o, out), path);
}

/* Results: the image in the handle, seconds in the second one with frames. */
static int lua_image_push(lua_State *L, la_state *s, const char *name,
                          la_handle *const *handles, lua_image *image)
{
    la_fill_handle(s, handles[0], image->pixels);
    if (handles[1]) la_fill_handle(s, handles[1], image->seconds);
    la_charge_more(L, name, handles[0]->tensor->numel);
    la_pace(L, s);
    return handles[1] ? 2 : 1;
}

static const char *const reading[] = {"channels", "dtype",
                                      "apply_exif_orientation", "frames",
                                      "limit", NULL};
static const char *const encoding[] = {"quality", NULL};
static const char *const saving[] = {"quality", "format", NULL};

/* la.image.load(path[, {channels=, dtype=, apply_exif_orientation=, frames=,
** limit=}]) */
static int image_load(lua_State *L)
{
    la_state *s = la_begin(L, "image.load", 0);
    lua_image image = {NULL, NULL};
    const char *path = la_check_path(L, 1, "image.load");
    options o = lua_image_read_options(L, 2, reading, "image.load");
    la_handle *h[2] = {la_new_handle(L, s),
                       o.frames ? la_new_handle(L, s) : NULL};
    LA_CHECK_TWICE(L, "image.load", lua_image_load(path, &o, &image));
    return lua_image_push(L, s, "image.load", h, &image);
}

/* la.image.decode(string[, options as load's]) */
static int image_decode(lua_State *L)
{
    la_state *s = la_begin(L, "image.decode", 0);
    lua_image image = {NULL, NULL};
    la_reader source;
    la_media_source(L, "image.decode", "an image's", &source);
    options o = lua_image_read_options(L, 2, reading, "image.decode");
    la_handle *h[2] = {la_new_handle(L, s),
                       o.frames ? la_new_handle(L, s) : NULL};
    LA_CHECK_TWICE(L, "image.decode", lua_image_decode(&source, &o, &image));
    return lua_image_push(L, s, "image.decode", h, &image);
}

/* Width and height are those of the image as it is loaded. */
static la_status lua_image_read_info(const char *path, la_image_info *info)
{
    LA_READER source = {.fd = -1};
    LA_TRY(la_reader_open(path, &source));
    LA_TRY(la_media_name(la_image_info_read(&source, info), path));
    int orientation;
    LA_TRY(la_media_name(la_jpeg_orientation(&source, &orientation), path));
    if (orientation < 5) return LA_OK;
    int64_t width = info->width;
    info->width = info->height;
    info->height = width;
    return LA_OK;
}

/* la.image.info(path): width, height, channels, bits */
static int image_info(lua_State *L)
{
    la_begin(L, "image.info", 0);
    la_image_info info;
    const char *path = la_check_path(L, 1, "image.info");
    LA_CHECK(L, "image.info", lua_image_read_info(path, &info));
    lua_pushinteger(L, info.width);
    lua_pushinteger(L, info.height);
    lua_pushinteger(L, info.channels);
    lua_pushinteger(L, info.bits);
    return 4;
}

/* ---- writing ---- */

/* {channels, height, width} or {height, width} with values. */
static la_status lua_image_check_tensor(const la_tensor *t)
{
    LA_TRY(la_media_check(t));
    if (t->ndim != 2 && t->ndim != 3)
        return la_error(LA_ESHAPE, "an image of {channels, height, width} or "
                        "{height, width} expected, got %d dims", t->ndim);
    return LA_OK;
}

/* Samples as files hold them. */
static la_status lua_image_to_samples(la_tensor *t, la_tensor **out)
{
    if (t->dtype == LA_UINT8 || t->dtype == LA_UINT16)
        return la_tensor_same(t, out);
    if (la_is_float((la_dtype)t->dtype))
        return from_floats(t, LA_UINT8, 255.0, out);
    if (t->dtype != LA_BOOL)
        return la_error(LA_EDTYPE, "%s is no dtype of an image: uint8 (0 to "
                        "255), uint16 (0 to 65535), bool or a floating one (0 "
                        "to 1) expected", la_dtype_name((la_dtype)t->dtype));
    LA_LET(bytes, la_run(to_dtype, &bytes, t, la_v_dtype(LA_UINT8)));
    return la_run(mul, out, bytes, la_scalar_int(255));
}

/* 't' as samples {height, width, channels}, contiguous. */
static la_status to_pixels(la_tensor *t, la_tensor **out)
{
    static const int64_t order[3] = {1, 2, 0};
    LA_OWNED planes = NULL;
    LA_TRY(lua_image_check_tensor(t));
    LA_LET(plain, la_run(detach, &plain, t));
    LA_LET(samples, lua_image_to_samples(plain, &samples));
    if (t->ndim == 2) LA_TRY(la_run(unsqueeze, &planes, samples, 0));
    else planes = la_tensor_retain(samples);
    LA_LET(view, la_run(permute, &view, planes, la_v_ints(order, 3)));
    return la_run(contiguous, out, view);
}

static la_status lua_image_encode(la_tensor *t, const options *o, la_bytes *out)
{
    la_bytes_free(out);             /* of an attempt that failed */
    LA_LET(pixels, to_pixels(t, &pixels));
    return la_image_write(pixels, o->format, o->quality, out);
}

/* The file is only opened when all its bytes are there. */
static la_status lua_image_save(la_tensor *t, const char *path,
                                const options *o)
{
    la_bytes bytes = {0};
    LA_WRITER sink = {.fd = -1};
    la_status status = lua_image_encode(t, o, &bytes);
    if (!status) status = la_writer_open(path, &sink);
    if (!status) status = la_writer_write(&sink, bytes.data, bytes.n);
    la_bytes_free(&bytes);
    return status ? status : la_writer_commit(&sink);
}

/* la.image.save(x, path[, {quality=, format=}]), or path and x the other way
** round. */
static int image_save(lua_State *L)
{
    la_begin(L, "image.save", 0);
    la_media_order(L, 3);
    const char *path = la_check_path(L, 2, "image.save");
    options o = lua_image_read_options(L, 3, saving, "image.save");
    const char *dot = strrchr(path, '.');
    if (o.format == LA_IMAGE_WRITTEN)
        o.format = lua_image_format_of(dot ? dot + 1 : NULL);
    if (o.format == LA_IMAGE_WRITTEN)
        la_raise_arg(L, 2, "image.save", "the path must end with .png, .jpg,"
                     " .jpeg, .bmp or .tga, or {format=} say which");
    LA_CHECK_TWICE(L, "image.save",
                   lua_image_save(la_check_tensor(L, 1, "image.save"), path,
                                  &o));
    return 0;
}

/* la.image.encode(x, format[, {quality=}]) */
static int image_encode(lua_State *L)
{
    la_begin(L, "image.encode", 0);
    la_check_tensor(L, 1, "image.encode");
    la_image_format format = lua_image_check_format(L, 2, "image.encode");
    options o = lua_image_read_options(L, 3, encoding, "image.encode");
    o.format = format;
    la_bytes *bytes = la_push_bytes(L);
    LA_CHECK_TWICE(L, "image.encode",
                   lua_image_encode(la_check_tensor(L, 1, "image.encode"), &o,
                                    bytes));
    lua_pushlstring(L, (const char *)bytes->data, bytes->n);
    la_bytes_free(bytes);
    return 1;
}

static const la_function functions[] = {
    {"load", image_load, 2}, {"decode", image_decode, 2},
    {"info", image_info, 1}, {"save", image_save, LA_MANY},
    {"encode", image_encode, LA_MANY}, {NULL, NULL, 0}
};

const la_module la_module_image = {NULL, functions, NULL};
