-- lunarray.images: la.image for parts of the core that write pictures (figures,
-- the notebook). A build may be without it.
local la = require "lunarray"

local images = {present = la.image ~= nil}

-- 'what' begins the message where there is none.
function images.get(what)
  return la.image or error(what .. ": this build has no module 'image' to "
    .. "write pictures with", 0)
end

return images
