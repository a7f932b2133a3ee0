#!/bin/sh
# An initramfs that checks matrix products and switches off: for an emulator of
# a processor that is not at hand (AMX: Bochs with --enable-amx, model
# sapphire_rapids). Boot it with any kernel that has the processor's state
# enabled and its console on the serial line.
#   BUSYBOX=/bin/busybox tools/initramfs.sh OUT.cpio PATH...
# PATH: values for LUNARRAY_CPU, each of which runs the C test of products and
# spec/support/values/extension_products.lua. BUSYBOX: a static one. Needs cpio.
set -e
if [ $# -lt 2 ]; then
    echo "usage: tools/initramfs.sh OUT.cpio PATH..." >&2
    exit 2
fi
out=$1
shift
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
mkdir -p "$root/bin" "$root/proc" "$root/dev" "$root/build" \
    "$root/spec/support/values"
cp "${BUSYBOX:-/bin/busybox}" "$root/bin/busybox"
lua=$(command -v lua5.4)
cp "$lua" "$root/bin/lua5.4"
strip -o "$root/build/lunarray.so" build/lunarray.so
strip -o "$root/build/test_gemm" build/ctest/test_gemm
cp spec/support/values/extension_products.lua \
    spec/support/values/product_bits.lua "$root/spec/support/values"
for file in "$lua" build/lunarray.so build/ctest/test_gemm; do
  ldd "$file" | grep -o '/[^ ]*' | while read -r library; do
    mkdir -p "$root$(dirname "$library")"
    cp -n "$library" "$root$library" || true
  done
done
cat > "$root/init" <<END
#!/bin/busybox sh
export LUA_CPATH='/build/?.so'
for path in $*; do
  export LUNARRAY_CPU=\$path
  echo "== \$path"
  lua5.4 -e 'local c = require "lunarray".config()
    print(table.concat(c.cpu_leaves, " "), c.cpu_note)'
  lua5.4 spec/support/values/extension_products.lua
  lua5.4 spec/support/values/product_bits.lua 1 > /one
  lua5.4 spec/support/values/product_bits.lua 2 > /two
  /bin/busybox cmp /one /two && echo "bits are the same"
  /build/test_gemm
done 2>&1
echo "== end"
/bin/busybox sleep 2
/bin/busybox poweroff -f
END
chmod +x "$root/init"
(cd "$root" && find . | cpio -o -H newc --quiet) > "$out"
