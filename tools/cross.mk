# For other systems, with their tests, in build/cross: under qemu, wine, natively,
# under node.
cross: cross-aarch64 cross-mingw cross-musl cross-wasm cross-macos cross-wasi
cross-aarch64 cross-mingw cross-musl cross-wasm: cross-%:
	@tools/deps.sh $*
	@tools/cross/build.sh $* $(JOBS)
# No more than a syntax check: Debian has no SDK for it.
cross-macos:
	@tools/deps.sh macos
	@tools/cross/macos.sh
# The same for WebAssembly, kernels as well, where emscripten is too large: by
# clang and 2 MB of headers, in seconds.
cross-wasi:
	@tools/deps.sh wasi
	@tools/cross/wasi.sh

# build/wasm/lunarray.js and lunarray.wasm: the library for web pages.
wasm:
	@tools/deps.sh wasm
	@PAGE_ONLY=1 tools/cross/build.sh wasm $(JOBS)
	@ls -l build/wasm
