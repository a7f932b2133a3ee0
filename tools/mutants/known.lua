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
  {"modules/frame/group.c",
   "LA_TRY(la_table_alloc(&out->first, out->count, sizeof(int32_t), false));",
   nil, "cleared memory all of which is written: time alone"}
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
