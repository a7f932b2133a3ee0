-- Values of scipy.signal.savgol_filter (1.17).
local la = require "lunarray"

describe("savgol_filter", function()
  local x = la.tensor({1, 4, 2}, {dtype = "float64"})
  for mode, want in pairs{
    mirror = {2.60839160839, 2.92773892774, 2.53613053613},
    wrap = {2.17482517483, 2.53146853147, 2.29370629371},
    nearest = {1.78787878788, 2.01864801865, 2.19114219114},
    constant = {1.31235431235, 1.41724941725, 1.35897435897},
  } do
    it("with mode " .. mode .. " goes beyond the signal", function()
      local y = la.signal.savgol_filter(x, 11, 2, {mode = mode})
      la.testing.assert_close(y, la.tensor(want, {dtype = "float64"}),
        {rtol = 1e-10, atol = 1e-10})
      local one = la.signal.savgol_filter(x[{{1, 1}}], 5, 2, {mode = mode})
      if mode ~= "constant" then
        la.testing.assert_close(one, x[{{1, 1}}])
      end
    end)
  end
end)
