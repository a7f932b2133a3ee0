-- lunarray.nn.losses: losses as modules; the options are the operation's.
local la = require "lunarray"
local nn = require "lunarray.nn.module"
local check_arg = require "lunarray.tensors".check

-- class, operation, options in PyTorch's order, number of inputs (2)
local losses = {
  {"MSELoss", "mse_loss", {"reduction"}},
  {"L1Loss", "l1_loss", {"reduction"}},
  {"SmoothL1Loss", "smooth_l1_loss", {"reduction", "beta"}},
  {"HuberLoss", "huber_loss", {"reduction", "delta"}},
  {"NLLLoss", "nll_loss", {"weight", "ignore_index", "reduction"}},
  {"CrossEntropyLoss", "cross_entropy", {"weight", "ignore_index",
    "reduction", "label_smoothing"}},
  {"BCELoss", "binary_cross_entropy", {"weight", "reduction"}},
  {"BCEWithLogitsLoss", "binary_cross_entropy_with_logits", {"weight",
    "reduction", "pos_weight"}},
  {"KLDivLoss", "kl_div", {"reduction", "log_target"}},
  {"SoftMarginLoss", "soft_margin_loss", {"reduction"}},
  {"HingeEmbeddingLoss", "hinge_embedding_loss", {"margin", "reduction"}},
  {"MarginRankingLoss", "margin_ranking_loss", {"margin", "reduction"}, 3},
  {"CosineEmbeddingLoss", "cosine_embedding_loss", {"margin", "reduction"}, 3},
  {"TripletMarginLoss", "triplet_margin_loss", {"margin", "p", "eps", "swap",
    "reduction"}, 3},
  {"GaussianNLLLoss", "gaussian_nll_loss", {"full", "eps", "reduction"}, 3},
  {"PoissonNLLLoss", "poisson_nll_loss", {"log_input", "full", "eps",
    "reduction"}},
  {"MultiMarginLoss", "multi_margin_loss", {"p", "margin", "weight",
    "reduction"}},
  {"MultiLabelMarginLoss", "multilabel_margin_loss", {"reduction"}},
  {"MultiLabelSoftMarginLoss", "multilabel_soft_margin_loss", {"weight",
    "reduction"}},
  {"CTCLoss", "ctc_loss", {"blank", "reduction", "zero_infinity"}, 4},
  {"CosineSimilarity", "cosine_similarity", {"dim", "eps"}},
  {"PairwiseDistance", "pairwise_distance", {"p", "eps", "keepdim"}},
}

-- Options that are tensors are buffers, so that they move with the module.
for _, row in ipairs(losses) do
  local name, run, names, inputs = row[1], la[row[2]], row[3], row[4]
  local Loss = nn.class(name)
  nn[name] = Loss
  function Loss:init(...)
    local o, plain = nn._options(name, names, {}, ...), {}
    for key, value in pairs(o) do
      if nn._is_tensor(value) then self:register_buffer(key, value)
      else plain[key] = value end
    end
    rawset(self, "options", plain)
  end
  local function options_of(self)
    if not self.weight and not self.pos_weight then return self.options end
    local all = {weight = self.weight, pos_weight = self.pos_weight}
    for key, value in pairs(self.options) do all[key] = value end
    return all
  end
  if inputs == 4 then
    function Loss:forward(a, b, c, d)
      return run(a, b, c, d, options_of(self))
    end
  elseif inputs == 3 then
    function Loss:forward(a, b, c) return run(a, b, c, options_of(self)) end
  else
    function Loss:forward(x, y) return run(x, y, options_of(self)) end
  end
end

-- ---- limits on gradients ----

local function grads_of(list)
  if nn._is_tensor(list) then list = {list} end
  local out = {}
  for _, p in ipairs(list) do
    if p.grad then out[#out + 1] = p.grad end
  end
  return out
end

-- Scales all gradients so that their norm together is at most 'most'; returns
-- the norm before (a 0-dim tensor).
function nn.clip_grad_norm_(list, most, norm_type)
  check_arg("clip_grad_norm_", 1, list, "tensors")
  check_arg("clip_grad_norm_", 2, most, "number")
  if norm_type ~= nil then
    check_arg("clip_grad_norm_", 3, norm_type, "number")
  end
  return la.no_grad(function()
    local grads, norms = grads_of(list), {}
    if #grads == 0 then return la.tensor(0.0) end
    norm_type = norm_type or 2
    for k, g in ipairs(grads) do norms[k] = g:vector_norm(norm_type) end
    local total = la.stack(norms):vector_norm(norm_type)
    local factor = (most / (total + 1e-6)):clamp{max = 1}
    for _, g in ipairs(grads) do g:mul_(factor:to(g.dtype)) end
    return total
  end)
end

function nn.clip_grad_value_(list, most)
  check_arg("clip_grad_value_", 1, list, "tensors")
  check_arg("clip_grad_value_", 2, most, "number")
  la.no_grad(function()
    for _, g in ipairs(grads_of(list)) do g:clamp_(-most, most) end
  end)
end

-- The same functions by both names: those of the table only load this module.
la.clip_grad_norm_ = nn.clip_grad_norm_
la.clip_grad_value_ = nn.clip_grad_value_

return nn
