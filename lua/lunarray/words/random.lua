-- lunarray.words.random: random numbers. The format is in lunarray.help.rows.
return [==[
== manual_seed
: la.manual_seed(n) -> generator
Seeds the default generator. The same numbers follow with any number of threads
and on every processor.
> la.manual_seed(7)
> a = la.rand(2)
> la.manual_seed(7)
> a == la.rand(2)
true
see: Generator, seed, fork_rng
== Generator
: la.Generator([seed, {kind = "philox"}]) -> generator
Makes a generator of your own, given to functions as {generator = g}: a stream
for a player, a world, a worker. Its methods: manual_seed(n), seed(),
initial_seed(), get_state(), set_state(t); jump([n]) skips n * 2^42 words of the
stream, fork() gives a new generator, seeded by the present position.
> g = la.Generator(7)
> la.randint(6, {3}, {generator = g})
>>   == la.randint(6, {3}, {generator = la.Generator(7)})
true
source: Salmon and others, Parallel random numbers: as easy as 1, 2, 3, 2011.
see: manual_seed, get_rng_state
== seed
: la.seed() -> integer
Seeds the default generator at random and returns the seed, so that a run can be
repeated.
> math.type(la.seed())
integer
see: manual_seed
== initial_seed
: la.initial_seed() -> integer
The number that the default generator was last seeded with. To write down with
which seed a run can be repeated.
> la.initial_seed()
1
see: manual_seed
== get_rng_state
: la.get_rng_state() -> tensor
The state of the default generator: bytes for set_rng_state, or for a file.
> state = la.get_rng_state()
> a = la.rand(2)
> la.set_rng_state(state)
> a == la.rand(2)
true
see: set_rng_state, fork_rng
== set_rng_state
: la.set_rng_state(state)
Makes the default generator go on from a state that get_rng_state gave, so that
the same numbers follow.
> la.manual_seed(7)
> state, a = la.get_rng_state(), la.rand(2)
> la.set_rng_state(state)
> la.rand(2):equal(a)
true
see: get_rng_state
== fork_rng
: la.fork_rng([f, ...]) -> ...
Calls f and returns its results; the default generator stays as it was, whatever
f draws. Without f it returns a scope: local _ <close> = la.fork_rng().
> state = la.get_rng_state()
> la.fork_rng(function() return la.rand(2).shape end)
{2}
> state == la.get_rng_state()
true
see: get_rng_state, Generator
== rand
> la.rand(2, 3)
tensor([[0.8903, 0.6720, 0.2474],
        [0.7576, 0.2478, 0.1603]])
see: randn, randint, uniform_, manual_seed
== randn
> la.randn(3)
tensor([ 0.3804,  0.6269, -1.5672])
> la.randn(1000):mean():abs():item() < 0.1
true
see: rand, normal, randn_like
== randint
Counts as math.random does. Without a low end, give the sizes as a list:
la.randint(6, {3}) differs from la.randint(1, 6, 3).
> la.randint(6, {5})
tensor([5, 5, 1, 3, 2])
> la.randint(10, 20, 2, 2)
tensor([[12, 12],
        [19, 14]])
see: randperm, random_, choice
== rand_like
> la.ones(2, {dtype = "float64"}):rand_like().dtype
float64
see: rand
== randn_like
> la.ones(2, 3):randn_like().shape
{2, 3}
see: randn
== randint_like
> la.zeros(2, 2):randint_like(5, 5)
tensor([[5., 5.],
        [5., 5.]])
see: randint
== randperm
As positions, x[la.randperm(#x)] is x in random order.
> la.randperm(5):sort()
tensor([1, 2, 3, 4, 5])    tensor([4, 5, 3, 1, 2])
> x = la.tensor{10, 20, 30}
> x[la.randperm(3)]:sum()
tensor(60)
see: shuffle, choice
== normal
> la.normal(10, 0.1, {1000}):mean():round()
tensor(10.)
see: randn, normal_, truncated_normal
== normal_
> la.zeros(1000):normal_(5, 0.1):mean():round()
tensor(5.)
see: normal, nn.init
== uniform_
> x = la.zeros(1000):uniform_(2, 3)
> x:ge(2):all(), x:lt(3):all()
true    true
see: rand, nn.init
== random_
> la.zeros(3, {dtype = "int64"}):random_(5, 5)
tensor([5, 5, 5])
see: randint
== bernoulli_
> la.zeros(4):bernoulli_(1)
tensor([1., 1., 1., 1.])
see: bernoulli
== bernoulli
> la.tensor{0., 1, 1}:bernoulli()
tensor([0., 1., 1.])
> la.bernoulli(0.3, {1000}):mean():item() < 0.4
true
see: binomial, dropout
== exponential_
For the time until the next event of a steady stream.
> la.zeros(10000):exponential_(2):mean():sub(0.5):abs():item() < 0.05
true
see: poisson
== cauchy_
> la.zeros(1001):cauchy_(3):median():round()
tensor(3.)
see: student_t
== geometric_
> la.zeros(3):geometric_(0.5):ge(1):all()
true
see: bernoulli
== log_normal_
> la.zeros(3):log_normal_(0, 0)
tensor([1., 1., 1.])
see: normal_
== poisson
> la.full({1000}, 4.):poisson():mean():round()
tensor(4.)
source: Hoermann, The transformed rejection method for Poisson variables, 1993.
see: binomial, exponential_
== binomial
> la.binomial(10, 0.5, {1000}):mean():round()
tensor(5.)
source: Hoermann, The generation of binomial random variates, 1993.
see: bernoulli, poisson
== gamma
> la.gamma(3, 2, {10000}):mean():round()
tensor(6.)
source: Marsaglia and Tsang, A simple method for generating gamma variables,
  2000.
see: beta, chisquare, dirichlet
== beta
For probabilities that are themselves uncertain, such as rates of success.
> la.beta(2, 2, {10000}):mean():sub(0.5):abs():item() < 0.05
true
see: gamma, dirichlet
== laplace
For noise with more outliers than the normal one.
> la.laplace(5, 0.1, {1000}):mean():round()
tensor(5.)
see: normal
== gumbel
> la.gumbel(0, 1, {10000}):mean():sub(0.5772):abs():item() < 0.05
true
see: gumbel_softmax
== weibull
> la.weibull(1, 2, {3}):gt(0):all()
true
see: exponential_
== chisquare
> la.chisquare(4, {10000}):mean():round()
tensor(4.)
see: gamma
== truncated_normal
> x = la.truncated_normal(0, 1, 3, 4, {100})
> x:ge(3):all(), x:le(4):all()
true    true
see: normal, trunc_normal_
== student_t
> la.student_t(5, {3}).shape
{3}
see: normal, cauchy_
== trunc_normal_
> la.zeros(100):trunc_normal_(0, 1, -1, 1):abs():le(1):all()
true
see: truncated_normal, nn.init
== dirichlet
> la.dirichlet(la.tensor{1., 1, 1}):sum()
tensor(1.0000)
see: gamma, multinomial
== multivariate_normal
> cov = la.tensor{{1., 0.9}, {0.9, 1}}
> x = la.multivariate_normal(la.zeros(2), cov, {5000})
> x:t():corrcoef()[{1, 2}]:sub(0.9):abs():item() < 0.02
true
see: cholesky, randn
== multinomial
> la.tensor{0., 1, 0}:multinomial(3, true)
tensor([2, 2, 2])
> la.tensor{1., 1, 1}:multinomial(3):sort()
tensor([1, 2, 3])    tensor([3, 2, 1])
see: categorical, choice
== categorical
> la.tensor{-1e4, 0, -1e4}:categorical()
tensor(2)
see: multinomial, gumbel_softmax
== shuffle
For a new order of samples in each epoch.
> la.tensor{3, 3, 3}:shuffle()
tensor([3, 3, 3])
see: randperm, choice
== choice
> la.choice(la.tensor{7, 7}, 3)
tensor([7, 7, 7])
see: randperm, multinomial
== dropout
> la.ones(4):dropout(0.5, false)
tensor([1., 1., 1., 1.])
> la.ones(1000):dropout(0.5):unique_values()
tensor([0., 2.])
source: Srivastava and others, Dropout, 2014.
see: nn.Dropout, bernoulli
== dropout1d, dropout2d, dropout3d
> la.ones(1, 3, 4):dropout1d(0.5, false).shape
{1, 3, 4}
see: dropout, nn.Dropout2d
== alpha_dropout
> la.ones(3):alpha_dropout(0.5, false)
tensor([1., 1., 1.])
see: selu, nn.AlphaDropout
== feature_alpha_dropout
> la.ones(1, 2, 2):feature_alpha_dropout(0.5, false).shape
{1, 2, 2}
see: alpha_dropout
== gumbel_softmax
> la.tensor{1., 2, 3}:gumbel_softmax{hard = true}:sum()
tensor(1.)
source: Jang, Gu and Poole, Categorical reparameterization, 2016.
see: softmax, categorical
]==]
