/* Files that a model names: only such as lie in its folder. */
#include <stdio.h>
#include <string.h>

#include "base/os/os.h"
#include "modules/onnx/io/tensor.h"

static la_status beside_refused(const char *name, const char *why)
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
        return beside_refused(name, "the name must be relative");
    for (const char *p = name; p; p = strchr(p, '/'), p += p != NULL)
        if (strncmp(p, "..", 2) == 0 && (p[2] == '/' || !p[2]))
            return beside_refused(name, "the name must not lead out of the "
                                  "model's folder");
    return LA_OK;
}

/* 'name' without "./" and double slashes, as the system's real path has it. */
static void beside_plain(const char *name, char *out)
{
    char *to = out;
    while (*name) {
        size_t n = strcspn(name, "/");
        if (n && !(n == 1 && *name == '.')) {
            if (to > out) *to++ = '/';
            memmove(to, name, n);
            to += n;
        }
        name += n + (name[n] == '/');
    }
    *to = 0;
}

la_status la_onnx_path_beside(const char *model, const char *name, char *out)
{
    char folder[LA_OS_PATH], real[LA_OS_PATH], plain[LA_OS_PATH];
    char base[LA_OS_PATH];
    const char *slash = strrchr(model, '/');
    size_t n = slash ? (size_t)(slash - model) + 1 : 0;
    if (n + strlen(name) + 4 >= LA_OS_PATH)
        return beside_refused(name, "the path is too long");
    snprintf(folder, sizeof folder, "%.*s", n ? (int)n : 2, n ? model : "./");
    beside_plain(name, plain);
    snprintf(out, LA_OS_PATH, "%s%s", folder, plain);
    const char *at = la_os_real_path(out, real);
    if (at == out) return LA_OK;            /* there is none: it won't open */
    const char *top = la_os_real_path(folder, base);
    size_t length = strlen(top);
    bool inside = strncmp(at, top, length) == 0;
    at += inside ? length : 0;
    if (inside && *at == '/') at++;
    if (!inside || strcmp(at, plain) != 0)
        return beside_refused(name, "a link leads to it");
    return LA_OK;
}
