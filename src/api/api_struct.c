/* Structs whose first field is their size: read and written by one rule. */
#include "api/api_struct.h"

#include <string.h>

/* No struct of any version is longer: what says so was not filled in, and is
** not read that far. */
enum { LONGEST = 4096 };

/* The size that stands in 's', which may be longer or shorter than 'known'. */
static la_status check_size(const char *function, const char *type,
                            const void *s, size_t known, size_t *size)
{
    memcpy(size, s, sizeof *size);
    if (*size < sizeof *size || *size > LONGEST)
        return la_error(LA_EARG, "%s: %s.size is %zu; set it to sizeof(%s)",
                        function, type, *size, type);
    for (size_t i = known; i < *size; i++)
        if (((const char *)s)[i])
            return la_error(LA_EARG, "%s: %s.size is %zu, and a field behind "
                            "the %zu bytes that this library knows is set",
                            function, type, *size, known);
    return LA_OK;
}

/* Copies the fields that caller and library both know; the others are zero,
** which means the default for every field. */
la_status la_struct_read(const char *function, const char *type, const void *in,
                         void *out, size_t known)
{
    size_t size = 0;
    la_status status = in ? check_size(function, type, in, known, &size)
                          : LA_OK;
    memset(out, 0, known);
    if (size >= sizeof size && size <= LONGEST)
        memcpy(out, in, size < known ? size : known);
    memcpy(out, &known, sizeof known);
    return status;
}

/* Leaves the size as the caller set it, and fields behind that size alone. */
la_status la_struct_write(const char *function, const char *type,
                          const void *in, void *out, size_t known)
{
    size_t size = 0;
    if (!out) return la_error(LA_EARG, "%s: no %s given", function, type);
    LA_TRY(check_size(function, type, out, known, &size));
    size_t most = size < known ? size : known;
    memcpy((char *)out + sizeof size, (const char *)in + sizeof size,
           most - sizeof size);
    return LA_OK;
}

la_status la_source_read(const char *function, const la_source *source,
                         la_source *out, la_reader *in)
{
    *out = (la_source){0};
    if (!source) return la_error(LA_EARG, "no la_source given");
    LA_TRY(LA_READ_STRUCT(function, la_source, source, out));
    return la_reader_of_source(out, in);
}
