deps:
	@tools/deps.sh build test
build-deps:
	@tools/deps.sh build

# The two commands of the README use every processor, unless -j was given.
JOBS = $(if $(filter -j% --jobserver%,$(MAKEFLAGS)),,-j$(shell nproc 2>/dev/null || echo 2))

ctests: $(CTESTS)
ctest: ctests
	@$(LUA) spec/run.lua ctest

lint: $(KERNEL_OBJ) $(CORE_OBJ)
	@$(LUA) spec/run.lua lint

check: all core ctests examples
	@$(LUA) spec/run.lua lint ctest specs

# Plants mistakes in a copy of the tree and runs the suite against each: hours,
# on one processor. MUTANTS="--seed 2 --count 100 --path src/grad"; the head of
# the program has all options.
.PHONY: mutants
mutants: all ctests
	@nice $(LUA) tools/mutants/run.lua $(MUTANTS)

# Random programs, eager and compiled, on every CPU path:
# N=100000 PROGRAMS="--first 5000 --paths avx2 --only none".
.PHONY: programs
programs: all
	@LUA_PATH='./?.lua;lua/?.lua;lua/?/init.lua;;' LUA_CPATH='$(BUILD)/?.so;;' $(LUA) spec/support/programs/run.lua --count $(or $(N),10000) $(PROGRAMS)

# Everything, in about ten minutes: each CPU path, and once with sanitizers.
test: deps
	@$(MAKE) $(JOBS) --no-print-directory all core ctests examples
	@$(MAKE) $(JOBS) --no-print-directory KIND=asan $(ASAN_CAPS) all ctests
	@$(MAKE) $(JOBS) --no-print-directory CC=clang KIND=debug all ctests
	@$(LUA) spec/run.lua lint ctest clang specs-each-path modules asan rock packages cross sizes instructions embed

# On Lua 5.5 (tools/lua55.sh), and what make release makes, installed into empty
# trees: both take as long as all paths of the processor.
lua55-check: all
	@$(LUA) spec/run.lua lua55
release-check: all
	@$(LUA) spec/run.lua release

# The sources are the same on every CPU path: under sanitizers two do, one of
# scalar and one of wide vectors, and the build takes half the time.
ASAN_CAPS := CAPS="default avx2"

asan ubsan tsan debug:
	@$(MAKE) --no-print-directory KIND=$@ $(if $(filter debug,$@),,$(ASAN_CAPS)) all ctests
clang-check:
	@$(MAKE) --no-print-directory CC=clang KIND=debug all ctests
	@$(LUA) spec/run.lua clang
asan-check: asan
	@$(LUA) spec/run.lua asan
tsan-check: tsan
	@$(LUA) spec/run.lua tsan
ubsan-check: ubsan
	@$(LUA) spec/run.lua ubsan
valgrind: debug
	@$(LUA) spec/run.lua valgrind
