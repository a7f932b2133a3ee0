-- lunarray.signal.complex: complex numbers as pairs {real, imaginary}, for the
-- few poles and zeros of a filter's design.
local complex = {}

function complex.add(a, b) return {a[1] + b[1], a[2] + b[2]} end

function complex.sub(a, b) return {a[1] - b[1], a[2] - b[2]} end

function complex.mul(a, b)
  return {a[1] * b[1] - a[2] * b[2], a[1] * b[2] + a[2] * b[1]}
end

function complex.scale(a, s) return {a[1] * s, a[2] * s} end

function complex.conj(a) return {a[1], -a[2]} end

-- By R. L. Smith's method (1962): nothing overflows before the result does.
function complex.div(a, b)
  if math.abs(b[1]) >= math.abs(b[2]) then
    local r = b[2] / b[1]
    local d = b[1] + b[2] * r
    return {(a[1] + a[2] * r) / d, (a[2] - a[1] * r) / d}
  end
  local r = b[1] / b[2]
  local d = b[1] * r + b[2]
  return {(a[1] * r + a[2]) / d, (a[2] * r - a[1]) / d}
end

function complex.abs(a)
  local x, y = math.abs(a[1]), math.abs(a[2])
  if x < y then x, y = y, x end
  if x == 0 then return 0.0 end
  return x * math.sqrt(1 + (y / x) ^ 2)
end

-- The root with a real part that is not negative.
function complex.sqrt(a)
  local r = complex.abs(a)
  if r == 0 then return {0.0, 0.0} end
  local t = math.sqrt((r + math.abs(a[1])) / 2)
  local sign = a[2] < 0 and -1 or 1
  if a[1] >= 0 then return {t, a[2] / (2 * t)} end
  return {math.abs(a[2]) / (2 * t), sign * t}
end

-- The product of all, times a real start.
function complex.product(list, start)
  local p = {start or 1, 0.0}
  for _, v in ipairs(list) do p = complex.mul(p, v) end
  return p
end

-- The coefficients of the polynomial with these roots, highest power first,
-- real where the roots are real or in conjugate pairs.
function complex.polynomial(roots)
  local c = {{1.0, 0.0}}
  for n, r in ipairs(roots) do
    c[n + 1] = {0.0, 0.0}
    for k = n + 1, 2, -1 do
      c[k] = complex.sub(c[k], complex.mul(r, c[k - 1]))
    end
  end
  local real = {}
  for k, v in ipairs(c) do real[k] = v[1] end
  return real
end

return complex
