/* A file that la.read_csv reads, for the parts of the reader. */
#ifndef LA_LUA_FILES_CSV_READER_H
#define LA_LUA_FILES_CSV_READER_H

#include "modules/csv/io/csv_columns.h"
#include "modules/csv/lua/csv.h"

typedef struct la_csv_given {
    const char *name;           /* of the list of names */
    size_t n;
    bool wanted;
    bool text, is_text;         /* of texts; by {dtypes=} */
    char note[120];             /* which cell made it text; empty: none */
    la_csv_column *v;
} la_csv_given;

typedef struct la_csv_reader {
    lua_State *L;
    const char *path;
    la_csv csv;                 /* where reading is */
    la_csv_given *columns;
    int64_t ncolumns, rows;
    la_csv_table *t;
} la_csv_reader;

/* Stack positions while a file is read. */
enum { CSV_PATH = 1, CSV_OPTIONS, CSV_BYTES, CSV_SCRATCH, CSV_NAMES,
       CSV_COLUMNS, CSV_GAPS, CSV_TABLE, CSV_VALUES, CSV_KINDS };

/* The column of that name, or NULL. */
la_csv_given *la_csv_given_of(const la_csv_reader *, const char *name,
                              size_t n);
/* LA_EIO: the field of a column can't be what its dtype asks for. */
la_status la_csv_bad_field(const la_csv_given *, int64_t line,
                           const la_csv_field *, const char *why);
/* LA_EIO gets the file's path in front, all others stay. */
la_status la_csv_in_file(const la_csv_reader *, la_status);
/* The line where a row begins, 0 where it is not found. */
int64_t la_csv_line_of(la_csv_reader *, int64_t row);
/* Push n empty sets that the collector frees. */
la_csv_words *la_csv_push_words(lua_State *L, int64_t n);
/* Push the frame, or the table. */
void la_csv_push_result(lua_State *L, la_state *s, la_csv_reader *, bool frame);

#endif
