#!/bin/sh
# The first hour of a new person, timed: from unpacked sources to a plot, help,
# a mended typing error, a trained net and an installed library. Prints a table;
# the status is 1 when a task did not give what it should.
#
#   tools/newcomer.sh [-k] [FOLDER]
#
# FOLDER is a copy of the sources without a build (else one is made of this
# tree, and removed at the end; -k keeps it). Packages that are missing are
# installed, as 'make demo' does it: in a bare image (debootstrap
# --variant=minbase, as root in its chroot) that is part of the time.
set -u
keep=""
[ "${1:-}" = -k ] && keep=1 && shift
here=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap '[ -n "$keep" ] || rm -rf "$work"' EXIT
if [ $# -gt 0 ]; then
    cd "$1" || exit 2
else
    mkdir "$work/source"
    (cd "$here" && tar -cf - --exclude=./build --exclude=./.git .) |
        tar -xf - -C "$work/source"
    cd "$work/source" || exit 2
fi
export XDG_CONFIG_HOME="$work" XDG_STATE_HOME="$work" NO_COLOR=1
failed=0

now() { date +%s.%N; }

# task NAME TEXT COMMAND: times the command, whose output must have the text.
task() {
    begun=$(now)
    sh -c "$3" > "$work/out" 2>&1 < /dev/null
    ended=$(now)
    verdict=""
    grep -qF -e "$2" "$work/out" || {
        verdict="  FAILED: no '$2' in what came out:"
        failed=1
    }
    printf '%-58s %8.2f s%s\n' "$1" \
        "$(echo "$ended $begun" | awk '{print $1 - $2}')" "$verdict"
    [ -z "$verdict" ] || tail -n 15 "$work/out"
}

lunarray=build/lunarray
# The command that types a line at the prompt, in a terminal made by script.
typed() {
    printf '{ sleep 0.3; printf "%%s\\n" "%s"; sleep 0.5; } |
        TERM=xterm script -qec %s /dev/null' "$1" "$lunarray"
}
# ... that sends it through a pipe.
prompt() { printf 'printf "%%s\\n" "%s" | %s -i' "$1" "$lunarray"; }

first=$(now)
task "make, where it is missing" done 'command -v make || {
    apt-get update -qq
    apt-get install -y -qq --no-install-recommends make; }; echo done'
task "packages to build with" done 'sh tools/deps.sh build && echo done'
task "build" done 'make -s -j"$(nproc)" all && echo done'
task "first tensor at the prompt" "tensor([[1., 1., 1.]," \
    "$(prompt "la.ones(2, 3)")"
task "first plot" "sine" "$lunarray -e \
    'print(la.plot.line(la.linspace(0, 6, 100):sin(), {title = \"sine\"}))'"
task "help found: ?softmax" "softmax(dim" "$(prompt "?softmax")"
task "help searched: ?fourier" "fft." "$(prompt "?fourier")"
task "a wrong shape, understood" "must match the size of tensor b" \
    "$(prompt "la.ones(2, 3) + la.ones(2)")"
task "a wrong name, corrected (0.8 s of it typing)" "did you mean softmax" \
    "$(typed "la.ones(2):sofmax(1)")"
task "a name of NumPy, answered" "la.tensor(table) makes a tensor" \
    "$(prompt "la.asanyarray(3)")"
task "a net trained to read digits, 3 times" "mean accuracy" \
    "$lunarray examples/digits.lua $work/weights.npy"
task "a checkpoint written and read" "3 true" "$lunarray -e '
    local nn = require \"lunarray.nn\"
    local net = nn.Linear(3, 2)
    la.save({epoch = 3, net = net:state_dict()}, \"$work/c.safetensors\")
    local c = la.load(\"$work/c.safetensors\")
    net:load_state_dict(c.net)
    print(c.epoch .. \" \" .. tostring(c.net.weight == net.weight:detach()))'"
task "where the time goes: :profile" "operation" \
    "program=$PWD/$lunarray; cd $work &&
     printf ':profile la.rand(300, 300):exp():sum()\\n' | \$program -i"
task "installed, and used by Lua" "tensor" "make -s install DESTDIR=$work/to \
    PREFIX=/usr && LUA_CPATH=\$(find $work/to -name lunarray.so |
    sed 's/lunarray.so/?.so/') lua5.4 -e \
    'print(require \"lunarray\".ones(2))'"
printf '%-58s %8.2f s\n' "all" \
    "$(echo "$(now) $first" | awk '{print $1 - $2}')"
exit $failed
