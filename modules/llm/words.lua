-- lunarray.words.llm: language models. The format is in lunarray.help.rows.
return [==[
= Language models
== llm
: la.llm
Language models that run in a program or a game: la.llm.load, sessions that
share weights and what was said so far, and a budget for each frame.
see: llm.load, tokenizer, gguf
> la.llm.attention ~= nil
true
== llm.load
: la.llm.load(path[, {context = 2048, fast = false, template =}]) -> llm
A model of a GGUF file, or of a folder with config.json, model.safetensors and
tokenizer.json: llama, qwen2, qwen3, gemma, phi, smollm. context is how many
tokens a session holds; fast multiplies with activations in 8 bits; template, a
function of messages, replaces the file's chat template.
m:chat(messages, options) iterates over pieces of the answer. Options: max,
temperature (0: the most probable token), top_k, top_p, min_p, repeat_penalty,
seed, stop (a list of texts), session, template, progress (a function of the
prompt's tokens that are done, and of all), and allow, a function of the ids so
far and of a bool mask {vocabulary}, which it changes; or it returns a list of
ids.
m:complete(text, options) goes on with a text. m:render(messages) is what the
template makes.
s = m:session() holds what was fed: s:feed(ids), s:logits(), s:sample(options),
s:fork() (keys and values are shared until one of both writes), s:length(),
s:truncate(n), s:save(path) (m:session(path) reads it), s:close().
s:queue(ids) and s:advance(microseconds, options) work in pieces: advance gives
a token when one is ready, else nil.
> pcall(la.llm.load, "m.gguf", {size = 1})
false    llm.load: size: no such option (context, fast, template)
! A family that is not known, weights that are missing, a damaged file.
see: gguf.load, tokenizer.load
== llm.attention
> pages = {la.zeros(1, 2, 4, 1, 2)}
> la.llm.attention(la.ones(1, 2, 2), pages, 1, 0, 1.0).shape
{1, 2, 2}
see: llm.load, scaled_dot_product_attention
== llm.rotate
> table = la.tensor{{{0.}, {1.}}}
> la.llm.rotate(la.tensor{{{1., 2}}}, table)
tensor([[[-2.,  1.]]])
see: rope, llm.attention
]==]
