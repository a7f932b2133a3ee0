/*
** One file of all ranks (MPI-IO): each has a block of an array, along one dim.
*/
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "modules/mpi/ranks/module.h"

typedef struct layout {
    int64_t outer, whole, first, count, inner;  /* elements */
    MPI_Offset start;                           /* bytes before the array */
} layout;

/* Bytes of the block in the file: 'outer' runs, one in each row of the whole.
** Lengths above 2^31 are counted in units that divide them. */
static int view_type(const layout *y, size_t item, MPI_Datatype *out)
{
    int64_t row = y->whole * y->inner * (int64_t)item;
    int64_t run = y->count * y->inner * (int64_t)item;
    MPI_Datatype one;
    span s;
    int code = mpi_span(run, &s);
    if (code) return code;
    code = MPI_Type_contiguous(s.count, s.type, &one);
    mpi_span_free(&s);
    if (code) return code;
    code = MPI_Type_create_hvector((int)y->outer, 1, (MPI_Aint)row, one, out);
    MPI_Type_free(&one);
    return code ? code : MPI_Type_commit(out);
}

static int file_move(MPI_File file, const layout *y, const bytes *b, bool write)
{
    MPI_Datatype type;
    span s;
    MPI_Offset at = y->start + y->first * y->inner * (MPI_Offset)b->item;
    int code = mpi_span(b->count * (int64_t)b->item, &s);
    if (code) return code;
    code = view_type(y, b->item, &type);
    if (!code) {
        MPI_Status status;
        code = MPI_File_set_view(file, at, MPI_BYTE, type, "native",
                                 MPI_INFO_NULL);
        if (!code)
            code = write ? MPI_File_write_all(file, b->data, s.count, s.type,
                                              &status)
                         : MPI_File_read_all(file, b->data, s.count, s.type,
                                             &status);
        MPI_Count got = 0;
        if (!code) MPI_Get_elements_x(&status, s.type, &got);
        if (!code && (int64_t)got != b->count * (int64_t)b->item)
            code = MPI_ERR_IO;
        MPI_Type_free(&type);
    }
    mpi_span_free(&s);
    return code;
}

static layout layout_at(lua_State *L, int arg)
{
    layout y = {luaL_checkinteger(L, arg), luaL_checkinteger(L, arg + 1),
                luaL_checkinteger(L, arg + 2), luaL_checkinteger(L, arg + 3),
                luaL_checkinteger(L, arg + 4), luaL_checkinteger(L, arg + 5)};
    luaL_argcheck(L, y.outer >= 0 && y.outer <= INT32_MAX, arg,
                  "too many rows before the dim");
    return y;
}

/* raw.file(comm, path, x, write, outer, whole, first, count, inner, start): nil
** or MPI's text, so that ranks can agree before they raise. */
static int fn_file(lua_State *L)
{
    comm *c = mpi_comm(L, 1);
    const char *path = luaL_checkstring(L, 2);
    bool write = lua_toboolean(L, 4);
    bytes b = write ? mpi_source(L, 3, "save") : mpi_target(L, 3, "load");
    layout y = layout_at(L, 5);
    MPI_File file;
    int code = MPI_File_open(c->inner, path, write ? MPI_MODE_WRONLY
                             : MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
    if (!code) {
        code = file_move(file, &y, &b, write);
        int last = MPI_File_close(&file);
        if (!code) code = last;
    }
    if (!code) return 0;
    char text[MPI_MAX_ERROR_STRING];
    int n = 0;
    MPI_Error_string(code, text, &n);
    lua_pushlstring(L, text, (size_t)n);
    return 1;
}

/* raw.reserve(path, bytes): that much of the disk for a file that is there; nil
** or why not. MPI-IO of Open MPI 4.1 calls a write to a full disk a success. */
static int fn_reserve(lua_State *L)
{
    const char *path = luaL_checkstring(L, 1);
    lua_Integer n = luaL_checkinteger(L, 2);
    luaL_argcheck(L, n > 0, 2, "bytes expected");
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    int code = fd < 0 ? errno : posix_fallocate(fd, 0, (off_t)n);
    if (fd >= 0 && close(fd) && !code) code = errno;
    if (!code) return 0;
    lua_pushstring(L, strerror(code));
    return 1;
}

const luaL_Reg mpi_file_functions[] = {
    {"file", fn_file}, {"reserve", fn_reserve}, {NULL, NULL}
};
