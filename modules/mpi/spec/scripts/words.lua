-- Everything that lunarray.mpi has is a word, and no word is of anything else.
local mpi = require "lunarray.mpi"
local help = require "lunarray.help"
local rows = require "lunarray.help.rows"

local array = mpi.distribute(require "lunarray".ones(2))
local unknown = {}
for name in pairs(mpi) do
  local row = rows.all().by_name["mpi." .. name]
  if not row then unknown[#unknown + 1] = name end
end
for name in pairs(help.names "mpi") do
  if mpi[name] == nil and name ~= "array" then
    unknown[#unknown + 1] = "not there: " .. name
  end
end
for name in pairs(help.names "mpi.array") do
  if array[name] == nil then unknown[#unknown + 1] = "not there: " .. name end
end
table.sort(unknown)
assert(#unknown == 0, table.concat(unknown, ", "))
print("rank " .. mpi.rank .. " is done")
