-- lunarray.words.nn_function: activations and losses as modules. The format is
-- in lunarray.help.rows.
return [==[
== nn.ReLU
: nn.ReLU() -> module
max(x, 0): the first choice between layers.
> nn.ReLU()(la.tensor{-1., 2})
tensor([0., 2.])
see: relu, nn.LeakyReLU, nn.GELU
== nn.ReLU6
: nn.ReLU6() -> module
min(max(x, 0), 6). The limit suits numbers of few bits.
> nn.ReLU6()(la.tensor{-1., 2, 9})
tensor([0., 2., 6.])
see: relu6, nn.ReLU
== nn.LeakyReLU
: nn.LeakyReLU([negative_slope = 0.01]) -> module
x where it is positive, else negative_slope x. Its gradient is never zero.
> nn.LeakyReLU(0.5)(la.tensor{-1., 2})
tensor([-0.5000,  2.0000])
see: leaky_relu, nn.PReLU
== nn.PReLU
: nn.PReLU([num_parameters = 1, init = 0.25]) -> module
LeakyReLU whose slope is learned, one for all or one for each channel. It costs
few weights and is used in small vision nets.
> nn.PReLU()(la.tensor{-1., 2}):detach()
tensor([-0.2500,  2.0000])
source: He, Zhang, Ren, Sun (2015)
see: prelu, nn.LeakyReLU
== nn.ELU
: nn.ELU([alpha = 1]) -> module
x where it is positive, else alpha (exp(x) - 1). Its mean is near zero, which
helps deep nets without norms.
> nn.ELU()(la.tensor{-1., 2})
tensor([-0.6321,  2.0000])
source: Clevert, Unterthiner, Hochreiter (2015)
see: elu, nn.CELU, nn.SELU
== nn.CELU
: nn.CELU([alpha = 1]) -> module
x where it is positive, else alpha (exp(x / alpha) - 1): smooth for every alpha.
> nn.CELU(2)(la.tensor{-1., 2})
tensor([-0.7869,  2.0000])
source: Barron (2017)
see: celu, nn.ELU
== nn.SELU
: nn.SELU() -> module
1.0507 x where it is positive, else 1.7581 (exp(x) - 1). Deep nets of it keep
mean 0 and variance 1 without norms.
> nn.SELU()(la.tensor{-1., 1})
tensor([-1.1113,  1.0507])
source: Klambauer and others (2017)
see: selu, nn.AlphaDropout
== nn.GELU
: nn.GELU([approximate = "none"]) -> module
x times the normal distribution function of x; "tanh" is a quicker
approximation. Most transformers use it.
> nn.GELU()(la.tensor{-1., 0, 1})
tensor([-0.1587,  0.0000,  0.8413])
source: Hendrycks, Gimpel (2016)
see: gelu, nn.SiLU
== nn.GLU
: nn.GLU([dim = -1]) -> module
The first half of a dim times the sigmoid of the second half: a gate.
> nn.GLU()(la.tensor{2., 0})
tensor([1.])
source: Dauphin and others (2016)
see: glu
== nn.SiLU
: nn.SiLU() -> module
The layer gives x sigmoid(x), also named swish: a smooth relu, used by many
image and language models.
> nn.SiLU()(la.tensor{-1., 0, 1})
tensor([-0.2689,  0.0000,  0.7311])
see: silu, nn.GELU
== nn.Mish
: nn.Mish() -> module
The layer gives x tanh(log(1 + exp(x))): a smooth relu that lets small negative
values through.
> nn.Mish()(la.tensor{-1., 0, 1})
tensor([-0.3034,  0.0000,  0.8651])
source: Misra (2019)
see: mish
== nn.Sigmoid
: nn.Sigmoid() -> module
1 / (1 + exp(-x)), a probability. For training, leave it out and use
nn.BCEWithLogitsLoss.
> nn.Sigmoid()(la.tensor{0., 2})
tensor([0.5000, 0.8808])
see: sigmoid, nn.LogSigmoid
== nn.LogSigmoid
: nn.LogSigmoid() -> module
The layer gives log(sigmoid(x)) without loss of digits: log-likelihoods of two
classes.
> nn.LogSigmoid()(la.tensor{0., 2})
tensor([-0.6931, -0.1269])
see: logsigmoid
== nn.Tanh
: nn.Tanh() -> module
The hyperbolic tangent: between -1 and 1. For outputs in that range, as levels
of sound or actions.
> nn.Tanh()(la.tensor{0., 1})
tensor([0.0000, 0.7616])
see: tanh, nn.Sigmoid
== nn.Tanhshrink
: nn.Tanhshrink() -> module
The layer gives x - tanh(x): small values nearly vanish, large ones lose 1.
Sparse coding uses it.
> nn.Tanhshrink()(la.tensor{0., 1})
tensor([0.0000, 0.2384])
see: tanhshrink
== nn.Softplus
: nn.Softplus([beta = 1, threshold = 20]) -> module
log(1 + exp(beta x)) / beta; x itself where beta x is above the threshold. It is
positive, so use it for variances.
> nn.Softplus()(la.tensor{0., 30})
tensor([ 0.6931, 30.0000])
see: softplus, nn.ReLU
== nn.Softshrink
: nn.Softshrink([lambd = 0.5]) -> module
x moved toward 0 by lambd; 0 where |x| is at most lambd. For nets that denoise
or find sparse codes.
> nn.Softshrink()(la.tensor{-2., 0.2, 1})
tensor([-1.5000,  0.0000,  0.5000])
see: softshrink, nn.Hardshrink
== nn.Softsign
: nn.Softsign() -> module
The layer gives x / (1 + |x|): like tanh between -1 and 1, but it nears its
ends slowly.
> nn.Softsign()(la.tensor{-1., 3})
tensor([-0.5000,  0.7500])
see: softsign, nn.Tanh
== nn.Softmax
: nn.Softmax(dim) -> module
exp(x) / sum exp(x) along a dim, which gives probabilities. For training, leave
it out and use nn.CrossEntropyLoss.
> nn.Softmax(1)(la.tensor{0., 0})
tensor([0.5000, 0.5000])
see: softmax, nn.LogSoftmax
== nn.Softmin
: nn.Softmin(dim) -> module
Converts scores along a dim to shares that sum to 1, the smallest score getting
the largest share: the softmax of -x.
> nn.Softmin(1)(la.tensor{0., 0})
tensor([0.5000, 0.5000])
see: softmin, nn.Softmax
== nn.LogSoftmax
: nn.LogSoftmax(dim) -> module
log(softmax(x)) without loss of digits. nn.NLLLoss takes it.
> nn.LogSoftmax(1)(la.tensor{0., 0})
tensor([-0.6931, -0.6931])
see: log_softmax, nn.NLLLoss
== nn.Hardshrink
: nn.Hardshrink([lambd = 0.5]) -> module
The layer gives x outside of -lambd .. lambd and 0 inside: small coefficients
are taken for noise.
> nn.Hardshrink()(la.tensor{-2., 0.2, 1})
tensor([-2.,  0.,  1.])
see: hardshrink, nn.Softshrink
== nn.Hardsigmoid
: nn.Hardsigmoid() -> module
x / 6 + 1/2 between 0 and 1: the sigmoid by straight lines.
> nn.Hardsigmoid()(la.tensor{-4., 0, 1.5})
tensor([0.0000, 0.5000, 0.7500])
see: hardsigmoid, nn.Sigmoid
== nn.Hardswish
: nn.Hardswish() -> module
The layer gives x relu6(x + 3) / 6: silu in straight pieces, cheap on small
devices (MobileNetV3).
> nn.Hardswish()(la.tensor{-4., 1.5})
tensor([-0.0000, 1.1250])
source: Howard and others: Searching for MobileNetV3 (2019)
see: hardswish, nn.SiLU
== nn.Hardtanh
: nn.Hardtanh([min_val = -1, max_val = 1]) -> module
The layer cuts x to min_val .. max_val (-1 .. 1): tanh in straight pieces.
> nn.Hardtanh()(la.tensor{-3., 0.5})
tensor([-1.0000,  0.5000])
see: hardtanh, clamp
== nn.Threshold
: nn.Threshold(threshold, value) -> module
x where it is above the threshold, else value. To silence weak activations;
nn.ReLU is the case 0.
> nn.Threshold(0.5, 0)(la.tensor{0.2, 0.7})
tensor([0.0000, 0.7000])
see: threshold, nn.Hardshrink
== nn.MSELoss
: nn.MSELoss([{reduction = "mean"}]) -> module
(x - y)^2, for regression. All losses have the reductions "mean", "sum" and
"none".
> nn.MSELoss()(la.tensor{1., 2}, la.tensor{1., 4})
tensor(2.)
see: mse_loss, nn.L1Loss, nn.HuberLoss
== nn.L1Loss
: nn.L1Loss([{reduction = "mean"}]) -> module
|x - y|. Outliers have less influence than with squares.
> nn.L1Loss()(la.tensor{1., 2}, la.tensor{1., 4})
tensor(1.)
see: l1_loss, nn.SmoothL1Loss
== nn.SmoothL1Loss
: nn.SmoothL1Loss([{reduction = "mean", beta = 1}]) -> module
(x - y)^2 / (2 beta) where they differ by less than beta, else |x - y| - beta /
2.
> nn.SmoothL1Loss()(la.tensor{1., 2}, la.tensor{1., 4})
tensor(0.7500)
source: Girshick: Fast R-CNN (2015)
see: smooth_l1_loss, nn.HuberLoss
== nn.HuberLoss
: nn.HuberLoss([{reduction = "mean", delta = 1}]) -> module
(x - y)^2 / 2 where they differ by less than delta, else delta (|x - y| - delta
/ 2).
> nn.HuberLoss{delta = 2}(la.tensor{1., 2}, la.tensor{1., 6})
tensor(3.)
source: Huber (1964)
see: huber_loss, nn.SmoothL1Loss
== nn.NLLLoss
: nn.NLLLoss([{weight =, ignore_index =, reduction = "mean"}]) -> module
-x at the class of y (from 1), x being log-probabilities (N, C, ...). weight has
a factor for each class; the mean is over the weights.
> x = nn.LogSoftmax(2)(la.tensor{{0., 0}})
> nn.NLLLoss()(x, la.tensor{1})
tensor(0.6931)
see: nll_loss, nn.CrossEntropyLoss, nn.LogSoftmax
== nn.CrossEntropyLoss
: nn.CrossEntropyLoss([{weight =, ignore_index =, reduction = "mean",
  label_smoothing = 0}]) -> module
The loss for classes: log_softmax and nll_loss in one. x holds logits (N, C,
...), the target classes from 1, or probabilities of the same shape.
> nn.CrossEntropyLoss()(la.tensor{{0., 0}, {0, 0}}, la.tensor{1, 2})
tensor(0.6931)
! Class 0: classes count from 1.
see: cross_entropy, nn.NLLLoss, nn.BCEWithLogitsLoss
== nn.BCELoss
: nn.BCELoss([{weight =, reduction = "mean"}]) -> module
-(y log x + (1 - y) log(1 - x)), x being probabilities. For two classes after a
sigmoid; BCEWithLogitsLoss is safer.
> nn.BCELoss()(la.tensor{0.5}, la.tensor{1.})
tensor(0.6931)
! x outside 0 .. 1.
see: binary_cross_entropy, nn.BCEWithLogitsLoss
== nn.BCEWithLogitsLoss
: nn.BCEWithLogitsLoss([{weight =, reduction = "mean", pos_weight =}]) -> module
BCELoss of sigmoid(x) without loss of digits, for yes-or-no questions; a sample
may have several. pos_weight says how much more a "yes" counts.
> nn.BCEWithLogitsLoss()(la.tensor{0.}, la.tensor{1.})
tensor(0.6931)
see: binary_cross_entropy_with_logits, nn.CrossEntropyLoss
== nn.KLDivLoss
: nn.KLDivLoss([{reduction = "mean", log_target = false}]) -> module
y (log y - x), where x holds log-probabilities: how far a distribution is from
y. The divergence itself is the reduction "batchmean".
> nn.KLDivLoss{reduction = "sum"}(la.tensor{0.5, 0.5}:log(), la.tensor{0.5,
>>   0.5})
tensor(0.)
see: kl_div, nn.CrossEntropyLoss
== nn.SoftMarginLoss
: nn.SoftMarginLoss([{reduction = "mean"}]) -> module
The loss log(1 + exp(-y x)) of scores x and labels y, 1 or -1: logistic
regression for two classes.
> nn.SoftMarginLoss()(la.tensor{0.}, la.tensor{1.})
tensor(0.6931)
see: soft_margin_loss
== nn.HingeEmbeddingLoss
: nn.HingeEmbeddingLoss([{margin = 1, reduction = "mean"}]) -> module
x where y is 1, max(0, margin - x) where y is -1. x is the distance of two
things that are alike or not.
> nn.HingeEmbeddingLoss()(la.tensor{0.25, 0.25}, la.tensor{1., -1})
tensor(0.5000)
see: hinge_embedding_loss, nn.CosineEmbeddingLoss
== nn.MarginRankingLoss
: nn.MarginRankingLoss([{margin = 0, reduction = "mean"}]) -> module
max(0, -y (x1 - x2) + margin): y = 1 where x1 should be the larger, else -1.
Called with x1, x2, y.
> nn.MarginRankingLoss()(la.tensor{1.}, la.tensor{3.}, la.tensor{1.})
tensor(2.)
see: margin_ranking_loss
== nn.CosineEmbeddingLoss
: nn.CosineEmbeddingLoss([{margin = 0, reduction = "mean"}]) -> module
1 - cos(x1, x2) where y is 1, max(0, cos(x1, x2) - margin) where y is -1. For
pairs of vectors that should agree or not.
> nn.CosineEmbeddingLoss()(la.tensor{{1., 0}}, la.tensor{{0., 1}},
>>   la.tensor{1.})
tensor(1.)
see: cosine_embedding_loss, nn.CosineSimilarity
== nn.TripletMarginLoss
: nn.TripletMarginLoss([{margin = 1, p = 2, eps = 1e-6, swap = false,
  reduction = "mean"}]) -> module
max(0, d(anchor, positive) - d(anchor, negative) + margin): the anchor should be
nearer to the positive example. Called with anchor, positive, negative.
> loss = nn.TripletMarginLoss()
> loss(la.tensor{{0.}}, la.tensor{{1.}}, la.tensor{{1.}})
tensor(1.)
source: Schroff, Kalenichenko, Philbin: FaceNet (2015)
see: triplet_margin_loss
== nn.GaussianNLLLoss
: nn.GaussianNLLLoss([{full = false, eps = 1e-6, reduction = "mean"}]) -> module
(log(variance) + (x - y)^2 / variance) / 2, where a net predicts x and the
variance of y. Called with x, y, variance.
> nn.GaussianNLLLoss()(la.tensor{1.}, la.tensor{2.}, la.tensor{1.})
tensor(0.5000)
see: gaussian_nll_loss
== nn.PoissonNLLLoss
: nn.PoissonNLLLoss([{log_input = true, full = false, eps = 1e-8,
  reduction = "mean"}]) -> module
exp(x) - y x, where y is a count and x the logarithm of its mean. For counts:
visitors, photons, goals.
> nn.PoissonNLLLoss()(la.tensor{0.}, la.tensor{3.})
tensor(1.)
see: poisson_nll_loss
== nn.MultiMarginLoss
: nn.MultiMarginLoss([{p = 1, margin = 1, weight =, reduction = "mean"}]) ->
  module
sum over classes c other than y of max(0, margin - x[y] + x[c])^p, divided by
their number; classes count from 1.
> nn.MultiMarginLoss()(la.tensor{{0., 0}}, la.tensor{1})
tensor(0.5000)
see: multi_margin_loss, nn.CrossEntropyLoss
== nn.MultiLabelMarginLoss
: nn.MultiLabelMarginLoss([{reduction = "mean"}]) -> module
The hinge loss of several labels in a sample. y lists the labels, from 1; the
rest of its row is 0.
> nn.MultiLabelMarginLoss()(la.tensor{{0., 0}}, la.tensor{{1, 0}})
tensor(0.5000)
see: multilabel_margin_loss
== nn.MultiLabelSoftMarginLoss
: nn.MultiLabelSoftMarginLoss([{weight =, reduction = "mean"}]) -> module
The loss of several labels at once: the mean over labels of BCEWithLogits, with
targets of 0 and 1. For pictures that show a dog and a car.
> nn.MultiLabelSoftMarginLoss()(la.tensor{{0., 0}}, la.tensor{{1., 0}})
tensor(0.6931)
see: multilabel_soft_margin_loss, nn.BCEWithLogitsLoss
== nn.CTCLoss
: nn.CTCLoss([{blank = 1, reduction = "mean", zero_infinity = false}]) -> module
Connectionist temporal classification: log-probabilities (time, batch, classes)
against sequences of labels whose times are unknown. Called with log_probs,
targets, input_lengths, target_lengths.
> x = la.zeros(4, 1, 3):log_softmax(3)
> nn.CTCLoss()(x, la.tensor{{2, 3}}, la.tensor{4}, la.tensor{2})
tensor(0.8432)
source: Graves and others: Connectionist temporal classification (2006)
see: ctc_loss
== nn.CosineSimilarity
: nn.CosineSimilarity([{dim = 2, eps = 1e-8}]) -> module
The cosine of the angle between vectors along a dim. For embeddings, whose
length says nothing.
> nn.CosineSimilarity()(la.tensor{{1., 0}}, la.tensor{{1., 1}})
tensor([0.7071])
see: cosine_similarity
== nn.PairwiseDistance
: nn.PairwiseDistance([{p = 2, eps = 1e-6, keepdim = false}]) -> module
The p-norm of x1 - x2 along the last dim. For pairs that a net should tell apart
or bring together.
> nn.PairwiseDistance{eps = 0}(la.tensor{{0., 0}}, la.tensor{{3., 4}})
tensor([5.])
see: pairwise_distance, cdist
]==]
