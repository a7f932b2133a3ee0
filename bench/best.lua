-- best(name, call, warm, seconds): after 'warm' calls the least time of one
-- over that many seconds, batches of 2 ms or more; prints name and
-- microseconds. bench/peers/best.py does likewise.
return function(name, call, warm, seconds)
  for _ = 1, warm do call() end
  local start = os.clock()
  call()
  local inner = math.max(1, math.floor(0.002 / (os.clock() - start + 1e-7)))
  local least, stop = math.huge, os.clock() + seconds
  repeat
    local t = os.clock()
    for _ = 1, inner do call() end
    least = math.min(least, (os.clock() - t) / inner)
  until os.clock() > stop
  print(("%s\t%.2f"):format(name, least * 1e6))
end
