-- docs/coverage.md is what tools/coverage.lua makes of the rows.
local modules = require "spec.support.modules"

describe("the page of coverage", function()
  it("is up to date (make coverage)", function()
    if not modules.all() then pending "this build lacks modules" end
    -- A Lua of the system does not load a module with sanitizers.
    local program = os.getenv "LUNARRAY_PROGRAM" or "build/lunarray"
    local pipe = assert(io.popen(program .. " tools/coverage.lua"))
    local want = pipe:read "a"
    pipe:close()
    local file = assert(io.open "docs/coverage.md")
    local got = file:read "a"
    file:close()
    assert.is_true(#want > 10000)
    assert.is_true(want == got, "docs/coverage.md is not that of the rows: "
                   .. "make coverage")
  end)
end)
