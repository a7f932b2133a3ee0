-- lunarray.words.random: generators of random numbers.
-- The format is in lunarray.help.rows.
return [==[
== Generator
: Generator([seed], [{kind="philox"}])
A generator of its own (Philox): manual_seed(n), seed(), initial_seed(),
get_state(), set_state(t). Given as {generator = g}. g:jump([n]) skips
n * 2^42 words of its stream; g:fork() is a new one, seeded by where g is.
== manual_seed
: manual_seed(n)
Seed the default generator: the same numbers follow at any number of
threads.
== seed
: seed()
Seed the default generator by chance; returns the seed.
== initial_seed
: initial_seed()
The seed of the default generator.
== get_rng_state
: get_rng_state()
State of the default generator as a tensor of bytes.
== set_rng_state
: set_rng_state(state)
Go on from a state of get_rng_state.
== fork_rng
: fork_rng([f, ...])
f's results; what f draws leaves the default generator as it was. Without f
a scope: local _ <close> = la.fork_rng().
]==]
