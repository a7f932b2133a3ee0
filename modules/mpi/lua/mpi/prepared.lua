-- lunarray.mpi.prepared: collective calls on the same memory again and again.
-- Arguments are looked at once; what is left of a call is little more than
-- MPI's own. It makes a difference for messages of some hundred bytes.
local raw = require "lunarray.mpi.load"
local tensors = require "lunarray.tensors"

-- Adds the methods to the class of groups; agree: the comparison of debug mode.
return function(Comm, plain, agree)
  local function check(x, name)
    if not tensors.is_tensor(x) or not plain(x) then
      error(("mpi.%s: a contiguous tensor without lazy bits expected, got %s")
        :format(name, tensors.is_tensor(x) and "another one" or type(x)), 3)
    end
    return x
  end

  -- A function without arguments and results that does all_reduce_(x, op)
  -- ("sum", "prod", "min", "max", "and", "or"). All ranks call it; it keeps x's
  -- memory. Debug mode compares the arguments here, not at each call.
  function Comm:all_reduce_init(x, op)
    check(x, "all_reduce_init")
    agree(self, "all_reduce_init", x, op or "sum")
    return raw.prepare_all_reduce(self.id, x, op or "sum")
  end

  -- The same for bcast(x, root).
  function Comm:bcast_init(x, root)
    check(x, "bcast_init")
    agree(self, "bcast_init", x, root or 1)
    return raw.prepare_bcast(self.id, x, root or 1)
  end

  -- The same for all_gather(x, {out = out}).
  function Comm:all_gather_init(x, out)
    check(x, "all_gather_init")
    check(out, "all_gather_init")
    agree(self, "all_gather_init", x)
    return raw.prepare_all_gather(self.id, x, out)
  end

  -- The same for all_to_all(x, {out = out}).
  function Comm:all_to_all_init(x, out)
    check(x, "all_to_all_init")
    check(out, "all_to_all_init")
    agree(self, "all_to_all_init", x)
    return raw.prepare_all_to_all(self.id, x, out)
  end
end
