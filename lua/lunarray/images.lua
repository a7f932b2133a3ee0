-- lunarray.images: la.image for parts of the core that write pictures (figures,
-- the notebook). A build may be without it.
local la = require "lunarray"

-- 'what' begins the message where there is none.
return function(what)
  return la.image or error(what .. ": this build has no module 'image' to "
    .. "write pictures with", 0)
end
