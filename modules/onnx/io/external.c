/* Files that a model names: only such as lie in its folder. */
#include <string.h>

#include "base/os/os.h"
#include "modules/onnx/io/tensor.h"

static la_status external_refused(const char *name, const char *why)
{
    char shown[300];
    return la_error(LA_EIO, "external file '%s': %s",
                    la_quote(name, strlen(name), shown, sizeof shown), why);
}

la_status la_onnx_check_location(const char *name, size_t n)
{
    if (n == 0 || memchr(name, 0, n))
        return la_error(LA_EIO, "external_data names no file");
    if (name[0] == '/' || strchr(name, '\\') || strchr(name, ':'))
        return external_refused(name, "the name must be relative");
    for (const char *p = name; p; p = strchr(p, '/'), p += p != NULL)
        if (strncmp(p, "..", 2) == 0 && (p[2] == '/' || !p[2]))
            return external_refused(name, "the name must not lead out of the "
                                    "model's folder");
    return LA_OK;
}

/* 'name' without "./" and double slashes, as the system's real path has it, at
** 'to'. */
static void external_plain(const char *name, char *to)
{
    char *begin = to;
    while (*name) {
        size_t n = strcspn(name, "/");
        if (n && !(n == 1 && *name == '.')) {
            if (to > begin) *to++ = '/';
            memmove(to, name, n);
            to += n;
        }
        name += n + (name[n] == '/');
    }
    *to = 0;
}

/* Does the real path of 'path' end with the name in the real folder? */
static bool external_is_real(char *path, size_t folder)
{
    char real[LA_OS_PATH];
    const char *name = path + folder, *whole;
    size_t n = strlen(name), length;
    whole = la_os_real_path(path, real);
    if (whole == path) return true;         /* there is none: it won't open */
    length = strlen(whole);
    if (length <= n || strcmp(whole + length - n, name) != 0
        || whole[length - n - 1] != '/') return false;
    real[length - n - 1] = 0;               /* the folder that it is in */
    return true;
}

/* Is the real folder of 'path' the real one of the model's? */
static bool external_is_inside(char *path, size_t folder)
{
    char real[LA_OS_PATH];
    size_t n = strlen(path + folder), length, top;
    const char *whole = la_os_real_path(path, real);
    if (whole == path) return true;
    length = strlen(whole) - n - 1;
    char last = path[folder];
    path[folder] = 0;
    real[length] = 0;
    char *own = path + folder + n + 1;      /* free behind the name */
    const char *base = la_os_real_path(path, own);
    top = strlen(base);
    if (top > 1 && base[top - 1] == '/') top--;
    bool inside = (top == length || (length == 0 && top == 1))
        && strncmp(base, real, length) == 0;
    path[folder] = last;
    return inside;
}

la_status la_onnx_external_path(const char *model, const char *name, char *out)
{
    const char *slash = strrchr(model, '/');
    size_t n = slash ? (size_t)(slash - model) + 1 : 2;
    if (n + strlen(name) + 2 >= LA_OS_PATH)
        return external_refused(name, "the path is too long");
    memcpy(out, slash ? model : "./", n);
    external_plain(name, out + n);
    if (!external_is_real(out, n) || !external_is_inside(out, n))
        return external_refused(name, "a link leads to it");
    return LA_OK;
}
