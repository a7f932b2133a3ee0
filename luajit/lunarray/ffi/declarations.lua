-- What the layer uses of lunarray.h, as LuaJIT's parser reads it. The spec
-- compares each declaration with the header.
local ffi = require "ffi"

ffi.cdef [[
typedef struct la_tensor la_tensor;
typedef struct la_op la_op;
typedef struct la_runtime la_runtime;
typedef struct la_program la_program;
typedef struct lua_State lua_State;
typedef struct la_any {
  int kind;
  la_tensor *tensor;
  int64_t integer, count;
  double number;
  const char *text;
  const void *list;
  const char *name;
} la_any;
typedef struct la_range {
  int kind;
  int flags;
  int64_t first, last, step;
  la_tensor *tensor;
  void *reserved[3];
} la_range;
typedef struct la_generator_state { uint64_t seed, offset; } la_generator_state;
typedef struct la_named { const char *name; la_tensor *tensor; } la_named;

int la_version(void);
int la_error_code(void);
const char *la_error_text(void);
la_op *la_op_find(const char *name);
la_op *la_op_listed(int64_t i);
const char *la_op_schema(const la_op *op, int overload);
const char *la_op_doc(const la_op *op, int overload);
unsigned la_op_forms(const la_op *op, int overload);
int la_call_any(lua_State *L, la_op *op, int n, const la_any *args,
                int capacity, la_any *results);
la_tensor *la_new(const char *dtype, int ndim, const int64_t *sizes);
la_tensor *la_wrap(void *data, const char *dtype, int ndim,
                   const int64_t *sizes, const int64_t *strides,
                   void (*release)(void *context, void *data), void *context);
la_tensor *la_retain(la_tensor *t);
void la_release(la_tensor *t);
void *la_tensor_data(const la_tensor *t);
int la_tensor_ndim(const la_tensor *t);
int64_t la_tensor_numel(const la_tensor *t);
const int64_t *la_tensor_sizes(const la_tensor *t);
const int64_t *la_tensor_strides(const la_tensor *t);
const char *la_tensor_dtype(const la_tensor *t);
bool la_tensor_contiguous(const la_tensor *t);
bool la_tensor_plain(const la_tensor *t);
int64_t la_tensor_text(const la_tensor *t, char *out, size_t capacity);
int la_mark_written(la_tensor *t);
la_tensor *la_index(lua_State *L, la_tensor *t, int n,
                    const la_range *ranges);
int la_set_index(lua_State *L, la_tensor *t, int n, const la_range *ranges,
                 la_any value);
int la_backward(lua_State *L, la_tensor *t, la_tensor *gradient);
int la_set_requires_grad(la_tensor *t, bool on);
bool la_requires_grad(const la_tensor *t);
bool la_tensor_is_leaf(la_tensor *t);
la_tensor *la_grad_of(const la_tensor *t);
void la_zero_grad(la_tensor *t);
bool la_set_grad_enabled(bool on);
int la_set_default_dtype(const char *dtype);
int la_seed_generator(lua_State *L, uint64_t seed);
int la_get_generator(lua_State *L, la_generator_state *out);
int la_set_generator(lua_State *L, const la_generator_state *from);
la_tensor *la_load(const char *path, const char *name);
int la_save(const char *path, int n, const la_named *list);
la_program *la_program_load(la_runtime *rt, const void *bytes, size_t n);
int la_program_inputs(const la_program *p);
int la_program_outputs(const la_program *p);
const char *la_program_name(const la_program *p, int what, int i);
int la_program_begin(la_program *p, la_tensor *const *in, la_tensor **out);
int la_program_step(la_program *p, int64_t nanoseconds);
la_program *la_program_clone(la_program *p);
la_tensor *la_program_weight(la_program *p, const char *name);
void la_program_release(la_program *p);
]]

-- Kinds of la_any and la_range.
return {
  NONE = 0, TENSOR = 1, INTEGER = 2, NUMBER = 3, BOOLEAN = 4, TEXT = 5,
  INTEGERS = 6, TENSORS = 7, NUMBERS = 8, TEXTS = 9,
  INPUT = 0, OUTPUT = 1, WEIGHT_NAME = 2, MORE = 18,
  AT = 0, SPAN = 1, WHOLE = 2, REST = 3, NEW_AXIS = 4, BY = 5,
}
