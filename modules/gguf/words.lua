-- lunarray.words.gguf: GGUF files. The format is in lunarray.help.rows.
return [==[
= Quantized models
== gguf
: la.gguf
GGUF files, in which language models are stored. Their tensors are mapped, and
quantized ones multiply as they are.
> ones = {w = la.ones(2)}
> la.gguf.save({metadata = {name = "m"}, tensors = ones}, "m.gguf")
> file = la.gguf.load("m.gguf")
> file.metadata.name, file.tensors.w
m    tensor([1., 1.])
see: gguf.load, gguf.info, quantized_matmul
== gguf.load
: la.gguf.load(path) -> {metadata = {...}, tensors = {name = tensor or
  quantized}}
Maps a GGUF file of version 2 or 3. Of a split file the first part is named,
and the others are found in its folder. A quantized object has type ("Q4_K"),
shape, blocks (its bytes) and the methods dequantize(), rows(ids), numel() and
nbytes(); la.quantized_matmul(x, object[, fast]) takes it, fast with x in 8
bits. The tensors are read-only.
> w = la.gguf.quantized(la.zeros(2, 18, {dtype = "uint8"}), "Q4_0")
> la.gguf.save({tensors = {w = w}}, "w.gguf")
> w = la.gguf.load("w.gguf").tensors.w
> w, w:dequantize().shape
quantized({2, 32}, Q4_0)    {2, 32}
! A damaged file: the message says at which byte, key or tensor.
see: gguf.info, gguf.decode, quantized_matmul
== gguf.info
: la.gguf.info(path) -> {version =, metadata =, layout =}
What a file says without its tensors. layout lists them in the file's order:
name, type, shape, offset and bytes.
> la.gguf.save({metadata = {n = 3}, tensors = {w = la.ones(2)}}, "m.gguf")
> info = la.gguf.info("m.gguf")
> info.version, info.metadata.n, info.layout[1].type
3    3    F32
see: gguf.load
== gguf.decode
: la.gguf.decode(bytes[, name]) -> {metadata =, tensors =}
As load, from a string or a uint8 tensor with the bytes of a file; errors show
the name.
> la.gguf.decode(la.gguf.encode{tensors = {w = la.ones(2)}}).tensors.w
tensor([1., 1.])
see: gguf.encode, gguf.load
== gguf.encode
: la.gguf.encode{metadata =, tensors =} -> string
Gives the bytes of the file that gguf.save would write.
> #la.gguf.encode{}
32
see: gguf.save, gguf.decode
== gguf.save
: la.gguf.save({metadata =, tensors =}, path)
Writes a GGUF file of version 3. Values are booleans, numbers, strings and lists
of one kind; tensors are floats, signed integers and quantized objects.
> la.gguf.save({metadata = {tags = {"a", "b"}}}, "m.gguf")
> la.gguf.info("m.gguf").metadata.tags[2]
b
see: gguf.load, save
== gguf.quantized
: la.gguf.quantized(blocks, type) -> quantized
The object for rows of blocks: uint8 {..., bytes}, and a word like "Q8_0".
> q = la.gguf.quantized(la.zeros(1, 34, {dtype = "uint8"}), "Q8_0")
> q.shape[2], q:dequantize():sum()
32    tensor(0.)
see: gguf.load, gguf.unpack
== gguf.is_quantized
: la.gguf.is_quantized(x) -> boolean
Tells whether the value is a tensor in blocks of few bits, as GGUF files have.
> la.gguf.is_quantized(la.ones(2))
false
see: gguf.quantized
== gguf.parse
: la.gguf.parse(bytes, name) -> metadata: table, layout: table, version: integer
What load is made of: the metadata and the descriptions of the tensors of a file
whose bytes are a uint8 tensor.
> text = la.gguf.encode{tensors = {w = la.ones(2)}}
> _, layout = la.gguf.parse(la.from_raw(text, "uint8", {#text}), "text")
> layout[1].name
w
see: gguf.info, gguf.map
== gguf.map
: la.gguf.map(path) -> tensor
The bytes of a file as a read-only uint8 tensor, mapped. For models larger than
memory: pages are read when they are used.
> la.gguf.save({}, "none.gguf")
> la.gguf.map("none.gguf").shape
{32}
see: gguf.parse, mmap
== gguf.types
: la.gguf.types() -> {word = number}
The types of tensors that are read, with their numbers in a file.
> la.gguf.types().Q4_K
12
see: gguf.load
== gguf.unpack
> blocks = la.zeros(2, 34, {dtype = "uint8"})
> la.gguf.unpack(blocks, "Q8_0").shape
{2, 32}
see: gguf.quantized, dequantize
== gguf.product
> blocks = la.zeros(2, 34, {dtype = "uint8"})
> la.gguf.product(la.ones(1, 32), blocks, "Q8_0")
tensor([[0., 0.]])
see: quantized_matmul, gguf.unpack
]==]
