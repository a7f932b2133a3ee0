-- lunarray.words.activation: activations of networks, as functions; layers of
-- the same names are in nn. The format is in lunarray.help.rows.
return [==[
== relu
The first choice between layers.
> la.tensor{-1., 0, 2}:relu()
tensor([0., 0., 2.])
see: leaky_relu, gelu, silu, nn.ReLU
== relu6
relu that stops at 6, so that low precision holds every value: networks for
phones use it.
> la.tensor{-1., 3, 9}:relu6()
tensor([0., 3., 6.])
see: relu, hardtanh
== leaky_relu
For nets whose relu units die: below zero a small gradient stays.
> la.tensor{-1., 2}:leaky_relu(0.1)
tensor([-0.1000,  2.0000])
source: Maas, Hannun and Ng, Rectifier nonlinearities improve neural network
  acoustic models, 2013.
see: relu, prelu
== prelu
> la.tensor{-1., 2}:prelu(la.tensor{0.25})
tensor([-0.2500,  2.0000])
source: He and others, Delving deep into rectifiers, 2015.
see: leaky_relu, nn.PReLU
== rrelu
> la.tensor{-1., 2}:rrelu(0.25, 0.25)
tensor([-0.2500,  2.0000])
see: leaky_relu
== hardtanh
A tanh that costs two comparisons.
> la.tensor{-3., 0.5, 3}:hardtanh()
tensor([-1.0000,  0.5000,  1.0000])
see: clamp, tanh
== threshold
> la.tensor{0.5, 2}:threshold(1, -9)
tensor([-9.,  2.])
see: relu
== sigmoid
Makes scores probabilities of yes or no. For a loss, give the scores to
binary_cross_entropy_with_logits instead: it is more exact.
> la.tensor{-2., 0, 2}:sigmoid()
tensor([0.1192, 0.5000, 0.8808])
see: logit, softmax, tanh
== silu
A smooth relu that dips below zero: many image and language models use it.
> la.tensor{-1., 1}:silu()
tensor([-0.2689,  0.7311])
source: Elfwing, Uchibe and Doya, Sigmoid-weighted linear units, 2018.
see: gelu, mish, nn.SiLU
== mish
A smooth relu that lets small negative values through; some detectors of
objects use it.
> la.tensor{-1., 1}:mish()
tensor([-0.3034,  0.8651])
source: Misra, Mish, 2019.
see: silu
== gelu
The activation of most transformers.
> la.tensor{-1., 1}:gelu()
tensor([-0.1587,  0.8413])
source: Hendrycks and Gimpel, Gaussian error linear units, 2016.
see: silu, relu, nn.GELU
== hardswish
silu in straight pieces, cheap on small devices (MobileNetV3).
> la.tensor{-1., 1}:hardswish()
tensor([-0.3333,  0.6667])
source: Howard and others, Searching for MobileNetV3, 2019.
see: silu, hardsigmoid
== hardsigmoid
A sigmoid in straight pieces: 0 below -3, 1 above 3, a line between. Cheap on
small devices.
> la.tensor{-1., 1}:hardsigmoid()
tensor([0.3333, 0.6667])
see: sigmoid
== logsigmoid
For the logarithm of a probability that a sigmoid gives.
> la.tensor{-100., 0}:logsigmoid()
tensor([-100.0000,   -0.6931])
see: sigmoid, softplus
== softsign
Like tanh between -1 and 1, but it nears its ends slowly, so that gradients
last longer.
> la.tensor{-1., 3}:softsign()
tensor([-0.5000,  0.7500])
see: tanh
== tanhshrink
Small values nearly vanish, large ones lose 1: a smooth kin of softshrink for
sparse codes.
> la.tensor{1.}:tanhshrink()
tensor([0.2384])
see: softshrink
== elu
> la.tensor{-1., 2}:elu()
tensor([-0.6321,  2.0000])
source: Clevert, Unterthiner and Hochreiter, Exponential linear units, 2015.
see: selu, celu
== selu
> la.tensor{-1., 1}:selu()
tensor([-1.1113,  1.0507])
source: Klambauer and others, Self-normalizing neural networks, 2017.
see: elu, nn.AlphaDropout
== celu
> la.tensor{-1., 2}:celu(2)
tensor([-0.7869,  2.0000])
see: elu
== softplus
A smooth relu; it makes any number positive, a variance for example.
> la.tensor{-5., 0, 5}:softplus()
tensor([0.0067, 0.6931, 5.0067])
see: relu, exp
== hardshrink
Small coefficients are taken for noise and vanish, large ones stay as they are;
softshrink moves those too.
> la.tensor{-1., 0.2, 1}:hardshrink()
tensor([-1.,  0.,  1.])
see: softshrink
== softshrink
It makes small coefficients 0: the step of sparse models (lasso).
> la.tensor{-1., 0.2, 1}:softshrink()
tensor([-0.5000,  0.0000,  0.5000])
see: hardshrink
== glu
For gates: the net decides how much of each value passes.
> la.tensor{1., 2, 0, 0}:glu()
tensor([0.5000, 1.0000])
source: Dauphin and others, Language modeling with gated convolutional networks,
  2017.
see: sigmoid
== softmax
Makes scores along a dim probabilities that sum to 1. Where you need their
logarithm, use log_softmax or cross_entropy.
> la.tensor{1., 2, 3}:softmax(1)
tensor([0.0900, 0.2447, 0.6652])
see: log_softmax, cross_entropy, gumbel_softmax
== log_softmax
The logarithm of softmax without its overflow: nll_loss takes it, and
cross_entropy does both.
> la.tensor{1., 2, 3}:log_softmax(1)
tensor([-2.4076, -1.4076, -0.4076])
see: softmax, nll_loss
== softmin
The smallest element gets the largest weight: costs or distances become
weights that add up to 1.
> la.tensor{1., 2}:softmin(1)
tensor([0.7311, 0.2689])
see: softmax
]==]
