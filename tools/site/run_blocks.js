// node --no-experimental-fetch run_blocks.js WASM SITE: what the Run buttons do,
// without a browser. Every block of every page of the folder SITE runs in the
// library of the folder WASM after the blocks before it, as site.js does it, and
// prints what its comments say. Says how many; what differs, and 1, else.
const fs = require("fs"), path = require("path");
const [folder, site] = process.argv.slice(2).map((p) => path.resolve(p));

const ENTITIES = {"&lt;": "<", "&gt;": ">", "&quot;": '"', "&amp;": "&"};
const plain = (html) => html.replace(/<[^>]*>/g, "")
  .replace(/&\w+;/g, (e) => ENTITIES[e] || e);
const BLOCK = new RegExp('<script type="text/x-lua">([^]*?)</script>|' +
  '<div class="code" data-run=""><pre><code>([^]*?)</code>', "g");

// '...' stands for anything.
function agrees(text, expected) {
  const trim = (s) => s.replace(/[ \t]+$/gm, "").trim();
  const pattern = trim(expected).replace(/[.*+?^${}()|[\]\\]/g, "\\$&")
    .replace(/\\\.\\\.\\\./g, "[^]*");
  return new RegExp("^" + pattern + "$").test(trim(text));
}

function check(lib, page) {
  const html = fs.readFileSync(path.join(site, page), "utf8");
  const parts = ['la = require "lunarray"'], wrong = [];
  let count = 0;
  for (const [, hidden, shown] of html.matchAll(BLOCK)) {
    if (hidden !== undefined) {
      parts.push(hidden);
      continue;
    }
    const code = plain(shown);
    lib.ccall("lunarray_start", "number", ["number"], [0]);
    const text = lib.ccall("lunarray_run", "string", ["string"],
      [parts.join("\n") + "\nio.write('\\001')\n" + code]);
    const said = text.slice(text.indexOf("\u0001") + 1);
    const lines = [...code.matchAll(/--> ?(.*)/g)].map((m) => m[1]);
    count++;
    if (/(^|\n)error: /.test(said) ||
        lines.length && !agrees(said, lines.join("\n")))
      wrong.push(`${page}, block ${count}:\n${said}`);
    parts.push(code);
  }
  return [count, wrong];
}

async function main() {
  const lib = await require(path.join(folder, "lunarray.js"))({
    wasmBinary: fs.readFileSync(path.join(folder, "lunarray.wasm")),
  });
  let count = 0, wrong = [];
  for (const page of fs.readdirSync(site).filter((n) => /\.html$/.test(n))) {
    const [n, found] = check(lib, page);
    count += n;
    wrong = wrong.concat(found);
  }
  console.log(`${count} blocks ran, ${wrong.length} differ`);
  if (wrong.length) console.log(wrong.join("\n"));
  process.exit(wrong.length ? 1 : 0);
}
main().catch((error) => { console.error(error); process.exit(1); });
