-- lunarray.near: which name was meant by a mistyped one.
local near = {}

-- How many letters differ: insertions, deletions, changes and exchanges of
-- neighbours (the restricted Damerau-Levenshtein distance); 'most' + 1 where
-- there are more than 'most'.
function near.distance(a, b, most)
  if math.abs(#a - #b) > most then return most + 1 end
  local older, old = nil, {}
  for j = 0, #b do old[j] = j end
  for i = 1, #a do
    local now, least = {[0] = i}, i
    for j = 1, #b do
      local same = a:byte(i) == b:byte(j)
      local d = math.min(old[j] + 1, now[j - 1] + 1,
        old[j - 1] + (same and 0 or 1))
      if i > 1 and j > 1 and a:byte(i) == b:byte(j - 1)
        and a:byte(i - 1) == b:byte(j) then
        d = math.min(d, older[j - 2] + 1)
      end
      now[j], least = d, math.min(d, least)
    end
    if least > most + 1 then return most + 1 end
    older, old = old, now
  end
  return old[#b]
end

-- The key of 'set' that 'word' was meant to be; nil when none is near. One
-- letter of up to five may be wrong, two of more, capitals always.
function near.nearest(word, set)
  local best, least = nil, math.min(2, math.floor(#word / 3)) + 1
  for name in next, set do
    local d = name:lower() == word:lower() and 0
      or near.distance(word, name, least)
    if d < least or d == least and best and name < best then
      best, least = name, d
    end
  end
  return best
end

return near
