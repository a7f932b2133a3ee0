-- Folders that do not keep a new rule yet. What is found in them is counted,
-- not reported, so that the rule can hold elsewhere while they are mended.
local pending = {}

-- Whether the finding "path:line: ..." is in 'entry': a file, or a folder
-- without those below it.
local function is_in(finding, entry)
  local path = finding:match("^([^:]+)")
  return path == entry or path:match("^(.*)/[^/]*$") == entry
end

-- Findings outside of the folders; prints how many are in each, and which have
-- none left.
function pending.filter(found, folders)
  local kept, counts = {}, {}
  for _, finding in ipairs(found) do
    local owner
    for _, folder in ipairs(folders) do
      if is_in(finding, folder) then owner = folder end
    end
    if owner then counts[owner] = (counts[owner] or 0) + 1
    else kept[#kept + 1] = finding end
  end
  local texts = {}
  for _, folder in ipairs(folders) do
    texts[#texts + 1] = folder .. (counts[folder] and " " .. counts[folder]
                                   or " none: take it out of the list")
  end
  if #texts > 0 then print("  pending: " .. table.concat(texts, ", ")) end
  return kept
end

return pending
