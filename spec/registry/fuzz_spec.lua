-- A short run of the random calls of fuzz.lua, in programs of their own: what
-- dies there is an error here and does not end the suite.
describe("random calls", function()
  it("end with a result or an error that is a text", function()
    local program = os.getenv("LUNARRAY_PROGRAM") or "build/lunarray"
    local pipe = assert(io.popen("LUNARRAY_PROGRAM=" .. program
      .. " " .. program
      .. " spec/registry/fuzz.lua --calls 4000 --seed 5 2>&1"))
    local text = pipe:read("a")
    local ok = pipe:close()
    assert(ok, text)
  end)
end)
