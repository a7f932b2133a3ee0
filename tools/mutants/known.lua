-- Mistakes that make no difference, with the reason: {path, the line as it is
-- or nil for any, the line as it became or nil for any, reason}. Blanks at both
-- ends of lines are left out.
local ROWS = {
  {"src/io/archive.c", "int64_t twice = *capacity ? 2 * *capacity : 16;",
   "int64_t twice = *capacity ? 2 + *capacity : 16;",
   "a list grows by other steps: time alone"},
  {"src/kernel/reduce/loops/transpose_rows.inc",
   "for (int i = 0; i < FN(LANES); i++) {",
   "for (int i = 0; i <= FN(LANES); i++) {",
   "the loop ends at the last of m columns, which are no more than lanes"},
  {"src/base/libm/libm_complex.c", "if (fabs(x) > 22 && is_finite(x))",
   "if (fabs(x) >= 22 && is_finite(x))", "at the bound both ways are right"},
  {"src/fuse/write.c",
   "la_fuse_call c = {.n = 1, .first = 1, .copies = true, .dtype = d,",
   "la_fuse_call c = {.n = 1, .first = 1, .copies = false, .dtype = d,",
   "a copy that is a step of its own: time alone"},
  {"modules/onnx/lua/onnx_trace.c",
   "memset(values, 0, (size_t)(n + 1) * sizeof *values);",
   "memset(values, 0, (size_t)(n) * sizeof *values);",
   "the value behind the last is there so that none is no special case"},
  {"src/io/npy_header.c", "bool comma = false;", "bool comma = true;",
   "it is set before it is read"},
  {"src/base/runtime/memory.c", "bool zero = false;", "bool zero = true;",
   "memory that is cleared as well: time alone"},
  {"src/kernel/conv/channel_lanes.inc",
   "} else if (g->out_row == g->cols) {",
   "} else if (0 && (g->out_row == g->cols)) {",
   "rows without gaps are stored as those with gaps are: time alone"},
  {"src/kernel/index/reduce.inc", "if (ts == s && fs == s && n >= 4) {",
   "if (0 && (ts == s && fs == s && n >= 4)) {",
   "dense rows go by the loop over any steps: time alone"},
  {"src/kernel/scan/vec4.inc",
   "if (l.n >= FN(FEW)) FN(line)(&l, (char *)&carry);",
   "if (l.n > FN(FEW)) FN(line)(&l, (char *)&carry);",
   "at the bound both ways are right"},
  {"modules/csv/lua/csv_read.c", "bool any = false;", "bool any = true;",
   "rows are gone over although no column has a question: time alone"},
  {"src/kernel/pointwise/minmax.c",
   "#define EXPR(a, b) ((a) < (b) ? (a) : (b))",
   "#define EXPR(a, b) ((a) <= (b) ? (a) : (b))", "integers that are equal"},
  {"src/iter/build.c", "for (int k = 0; k < it->noperands; k++)",
   "for (int k = 1; k < it->noperands; k++)",
   "is any named? An output that is given keeps its names itself"},
  {"modules/frame/group.c",
   "LA_TRY(la_table_alloc(&out->first, out->count, sizeof(int32_t), false));",
   nil, "cleared memory all of which is written: time alone"},
  {"src/kernel/scan/vec4.inc",
   "if (step == size && (out == NULL || out_step == to)) {",
   "if (step == size && (out == NULL && out_step == to)) {",
   "dense rows go by the loop over any steps: time alone"},
  {"src/kernel/index/scan.c", "while (n > 0 && some < 8) some += mask[--n];",
   "while (n > 0 || some < 8) some += mask[--n];",
   "no eight at once: time alone, and sanitizers see reads before the mask"},
  {"modules/csv/lua/csv_read.c", "if (!table && !frame)",
   "if (0 && (!table && !frame))", "for builds without frames"},
  {"src/vmap/vmap_call.c", "bool any = false;", "bool any = true;",
   "numbers take the dtype of the result a step earlier: time alone"},
  {"src/vmap/special.c",
   "if (!la_vmap_arg(c, 0) || own < 0 || own > 1 || c->level->size == 0)",
   "if (!la_vmap_arg(c, 0) || own < 0 || own >= 1 || c->level->size == 0)",
   "images of a batch go by the loop: time alone"},
  {"modules/profile/record.c", "if (n == INT32_MAX / 2", "if (n == INT32_MAX",
   "so many rows are a hundred gigabytes"},
  {"modules/frame/scan.c", "memset(out, 0, (size_t)c->n * sizeof *out);",
   "memset(out, 0, (size_t)c->n + sizeof *out);",
   "every row of a group is in a part, and written there"},
}

local known = {}

local function same(text, wanted)
  return wanted == nil or text:match("^%s*(.-)%s*$") == wanted
end

function known.reason(site)
  for _, row in ipairs(ROWS) do
    if site.path == row[1] and same(site.old, row[2])
        and same(site.new, row[3]) then
      return row[4]
    end
  end
end

known.rows = ROWS
return known