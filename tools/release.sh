#!/bin/sh
# release.sh TAG VERSION: what is published of a version, in build/release, from
# a clone of TAG: the rockspec and its source, the library in one C file; binary
# rocks for the Lua versions that are here; Debian packages; the manual; notes
# and checksums. The Makefile (tools/release.mk) sets REPOSITORY and MAINTAINER;
# PARTS leaves some out, ROCK_CAPS and ROCK_FLAGS make rocks compile quicker,
# COMPILED names a build folder whose objects serve what is the same there.
set -eu
tag=$1 version=$2
: "${REPOSITORY:?}" "${MAINTAINER:?}"
parts=${PARTS:-source rocks debs manual}
make="env -u MAKEFLAGS -u MFLAGS make --no-print-directory"
make="$make -j${JOBS_AT_A_TIME:-$(nproc)}"
cd "$(dirname "$0")/.."
top=$PWD out=$PWD/build/release
has() { case " $parts " in *" $1 "*) return 0 ;; esac; return 1; }

git rev-parse -q --verify "$tag^{commit}" > /dev/null || {
    echo "There is no tag $tag: git tag -a $tag, or TAG=HEAD for a try." >&2
    exit 1
}
case $REPOSITORY in
*.invalid/*) echo "REPOSITORY is $REPOSITORY: files to try, not to publish." ;;
esac
rm -rf "$out"
mkdir -p "$out"
git clone -q . "$out/clone"
git -C "$out/clone" -c advice.detachedHead=false checkout -q "$tag^{commit}"
when=$(git log -1 --format=%ct "$tag^{commit}")
# Sources older than the objects: only what differs is compiled again.
if [ -n "${COMPILED:-}" ]; then
    git -C "$out/clone" ls-files -z |
        (cd "$out/clone" && xargs -0 touch -h -d 2000-01-01)
    git diff --name-only --relative -z "$tag^{commit}" |
        (cd "$out/clone" && xargs -0 -r touch -c)
    mkdir "$out/clone/build"
    cp -a "$COMPILED/obj" "$out/clone/build"
fi
cd "$out/clone"
grep -q "LA_VERSION " include/lunarray.h

fill() {
    sed -e "s|@VERSION@|$version|g" -e "s|@TAG@|$tag|g" \
        -e "s|@REPOSITORY@|$REPOSITORY|g" -e "s|@MAINTAINER@|$MAINTAINER|g" \
        "$1"
}
# The same bytes whenever it is made.
archive() {
    tar --sort=name --mtime="@$when" --owner=0 --group=0 --numeric-owner \
        -C "$1" -cf - "$2" | gzip -9n
}

if has source; then
    dir=$out/source/lunarray-$version
    mkdir -p "$dir/doc"
    $make embed EMBED="$dir" COPIES=all ${ROCK_CAPS:+CAPS="$ROCK_CAPS"}
    cp LICENSE "$dir"
    cp README.md CHANGELOG.md LICENSE "$dir/doc"
    archive "$out/source" "lunarray-$version" > "$out/lunarray-$version.tar.gz"
    fill packaging/lunarray.rockspec.in > "$out/lunarray-$version-1.rockspec"
    (cd "$out" && zip -qX "lunarray-$version-1.src.rock" \
        "lunarray-$version-1.rockspec" "lunarray-$version.tar.gz")
    rm -rf "$out/source"
fi

# One binary rock: $1 is the version of Lua, the rest what luarocks is told.
rock() {
    lua=$1
    shift
    mkdir -p "$out/lua$lua"
    luarocks --lua-version "$lua" --tree "$out/tree$lua" "$@" install \
        --no-doc "$out/lunarray-$version-1.src.rock" \
        CFLAGS="${ROCK_FLAGS:--O2 -fPIC}" > "$out/rock.log" 2>&1 &&
    (cd "$out/lua$lua" && luarocks --lua-version "$lua" \
        --tree "$out/tree$lua" "$@" pack lunarray) >> "$out/rock.log" 2>&1 || {
        cat "$out/rock.log" >&2
        exit 1
    }
    rm -rf "$out/tree$lua" "$out/rock.log"
}
if has rocks; then
    rock 5.4
    if (cd "$top" && tools/lua55.sh build/lua55); then
        rock 5.5 --lua-dir "$top/build/lua55"
    else
        echo "no binary rock for Lua 5.5"
    fi
fi

if has debs; then
    $make all
    $make deb > "$out/deb.log" 2>&1 || { cat "$out/deb.log" >&2; exit 1; }
    rm "$out/deb.log"
    cp build/deb/*.deb "$out"
fi

if has manual; then
    $make all
    $make docs > /dev/null
    mv build/docs "build/lunarray-$version-manual"
    archive build "lunarray-$version-manual" \
        > "$out/lunarray-$version-manual.tar.gz"
fi

# The version's own part of the changelog.
awk -v version="$version" '
    /^## / { inside = $2 == version; next }
    inside { print }' CHANGELOG.md > ../notes-file
cd "$out"
mv notes-file notes-$version.txt
rm -rf clone
find . -type f ! -name SHA256SUMS | sed 's|^\./||' | sort |
    xargs sha256sum > SHA256SUMS
cat SHA256SUMS
