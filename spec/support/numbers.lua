-- Numbers of reference records: decoding, rounding to a dtype, closeness.
local numbers = {}

-- Bits of the fraction and the smallest normal exponent.
local FORMATS = {
  float16 = {10, -14}, bfloat16 = {7, -126},
  float32 = {23, -126}, float64 = {52, -1022},
}
local PARTS = {
  complex32 = "float16", complex64 = "float32", complex128 = "float64",
}
local INF = math.huge
-- 0/0 has its sign bit set on x86
local NAN = string.unpack("<d", string.pack("<I8", 0x7ff8 << 48))
local WORDS = {nan = NAN, inf = INF, ["-inf"] = -INF}

-- The dtype of the parts of a complex dtype, or nil.
function numbers.part_of(dtype) return PARTS[dtype] end

function numbers.is_float(dtype) return FORMATS[dtype] ~= nil end

function numbers.decode(v)
  local x = WORDS[v] or v
  return math.type(x) == "integer" and x + 0.0 or x
end

local function is_finite(x) return x == x and x ~= INF and x ~= -INF end

local function exponent_of(x)
  local bits = string.unpack("<I8", string.pack("<d", x))
  local e = bits >> 52 & 0x7ff
  return e == 0 and -1022 or e - 1023
end

-- The step between neighbours of the dtype at x.
function numbers.ulp(x, dtype)
  local fraction, least = FORMATS[dtype][1], FORMATS[dtype][2]
  if x == 0 or not is_finite(x) then return 2.0 ^ (least - fraction) end
  return 2.0 ^ (math.max(exponent_of(x), least) - fraction)
end

-- x rounded to nearest even in the dtype.
function numbers.round(x, dtype)
  if dtype == "float64" or x == 0 or not is_finite(x) then return x end
  local step = numbers.ulp(x, dtype)
  local whole = x / step
  local below = math.floor(whole)
  local rest = whole - below
  if rest > 0.5 or (rest == 0.5 and below % 2 == 1) then below = below + 1 end
  return below * step
end

local function same_sign(a, b) return 1 / a == 1 / b end

-- tol: atol, rtol, ulp, and sz where the sign of zero counts; 'extra' widens.
function numbers.close(got, want, dtype, tol, extra)
  if want ~= want or got ~= got then return want ~= want and got ~= got end
  if got == want then
    return not tol.sz or want ~= 0 or same_sign(got, want)
  end
  if not is_finite(got) or not is_finite(want) then return false end
  local limit = (tol.atol or 0) + (tol.rtol or 0) * math.abs(want)
  if tol.ulp then
    limit = math.max(limit, tol.ulp * numbers.ulp(want, dtype))
  end
  return math.abs(got - want) <= limit + (extra or 0)
end

-- What a part of a complex number may be off: the tolerance of its modulus.
function numbers.modulus_slack(re, im, dtype, tol)
  local m = math.sqrt(re * re + im * im)
  if not is_finite(m) then return 0 end
  return (tol.rtol or 0) * m + (tol.ulp or 0) * numbers.ulp(m, dtype)
end

function numbers.show(x)
  if math.type(x) ~= "float" then return tostring(x) end
  local text = ("%.17g"):format(x)
  return text:find("^%-?%d+$") and text .. ".0" or text
end

return numbers
