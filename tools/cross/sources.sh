# Sourced: Lua and zlib for the target, built of Debian's source packages in
# $top; libraries and headers are in $out.

# The sources of the distribution that this machine is of: its package lists,
# with "deb-src" for "deb", in a folder of their own.
fetch() {
    mkdir -p "$top/apt/lists/partial" "$top/apt/parts" "$top/sources"
    for list in /etc/apt/sources.list /etc/apt/sources.list.d/*; do
        case $list in
        *.sources) grep -q /debian "$list" &&
            sed 's/^Types:.*/Types: deb-src/' "$list" \
                > "$top/apt/parts/$(basename "$list")" ;;
        *.list) [ ! -f "$list" ] || sed -n '/\/debian/s/^deb /deb-src /p' \
            "$list" > "$top/apt/parts/$(basename "$list")" ;;
        esac || :
    done
    apt="-qq -o Dir::Etc::SourceList=/dev/null
         -o Dir::Etc::SourceParts=$top/apt/parts
         -o Dir::State::Lists=$top/apt/lists -o APT::Sandbox::User=root"
    apt-get $apt update
    (cd "$top/sources" && apt-get $apt source --download-only lua5.4 zlib)
    for name in lua zlib; do
        rm -rf "$top/$name.new"
        mkdir "$top/$name.new"
        tar xf "$top"/sources/${name}*.orig.tar.* -C "$top/$name.new" \
            --strip-components=1
    done
    for name in lua zlib; do
        mv "$top/$name.new" "$top/$name"
    done
}

# library NAME FOLDER FLAGS SOURCES...: a static library for the target, unless
# it is there
library() {
    name=$1 folder=$2 flags_of=$3
    shift 3
    [ ! -f "$out/lib$name.a" ] || return 0
    objects=$out/$name.objects
    rm -rf "$objects"
    mkdir "$objects"
    for source in "$@"; do
        $cc -O2 -fPIC $flags_of -c "$folder/$source".c \
            -o "$objects/$source".o
    done
    $ar rcs "$objects/lib$name.a" "$objects"/*.o
    mv "$objects/lib$name.a" "$out"
}

# Their headers keep their times, as what includes them is compiled anew if not.
libraries() {
    (
        flock 8
        [ -d "$top/zlib" ] || fetch
    ) 8> "$top/lock"
    library lua "$top/lua/src" "$lua" lapi lauxlib lbaselib lcode lcorolib \
        lctype ldblib ldebug ldo ldump lfunc lgc linit liolib llex lmathlib \
        lmem loadlib lobject lopcodes loslib lparser lstate lstring lstrlib \
        ltable ltablib ltm lundump lutf8lib lvm lzio
    library z "$top/zlib" "-DHAVE_UNISTD_H" adler32 compress crc32 deflate \
        inffast inflate inftrees trees uncompr zutil
    mkdir -p "$out/include"
    ln -sfn /usr/include/stb "$out/include/stb"
    cp -p "$top"/lua/src/*.h "$top"/zlib/z*.h "$out/include"
}
