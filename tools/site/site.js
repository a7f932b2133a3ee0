// The manual's search box, copy buttons and, where the library for the browser
// is, Run buttons. No network: the index is search.js.
(function () {
"use strict";

const $ = (id) => document.getElementById(id);
const make = (tag, text, parent, cls) => {
  const e = document.createElement(tag);
  if (text !== null) e.textContent = text;
  if (cls) e.className = cls;
  parent.appendChild(e);
  return e;
};

// ---- search: every word must be there, as a word or the beginning of one ----

const box = $("search"), results = $("results");
let found = [], chosen = 0;
const lower = window.SEARCH.map((row) => row.map((s) => s.toLowerCase()));
const words = (text) => text.toLowerCase().split(/[^\p{L}\p{N}_.]+/u)
  .filter((w) => w);
const escaped = (w) => w.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

// Words in a heading or a title count more than in the text; whole words more
// than beginnings.
function score(row, wanted) {
  let total = 0;
  for (const w of wanted) {
    const begin = new RegExp("(^|[^\\p{L}\\p{N}])" + escaped(w), "u");
    const whole = new RegExp(begin.source + "($|[^\\p{L}\\p{N}_])", "u");
    let best = 0;
    if (row[1] === w) best = 30;
    [[1, 12], [0, 6], [3, 2]].forEach(([field, weight]) => {
      if (begin.test(row[field])) best = Math.max(best, weight);
      if (whole.test(row[field])) best = Math.max(best, weight + 3);
    });
    if (!best) return 0;
    total += best;
  }
  return total;
}

function excerpt(text, w) {
  const at = Math.max(0, text.toLowerCase().indexOf(w));
  const from = Math.max(0, at - 60);
  return (from ? "\u2026" : "") + text.slice(from, at + 90);
}

function search() {
  const wanted = words(box.value);
  results.replaceChildren();
  results.hidden = !wanted.length;
  if (!wanted.length) return;
  found = lower.map((row, i) => [score(row, wanted), i])
    .filter(([s]) => s).sort((a, b) => b[0] - a[0] || a[1] - b[1])
    .slice(0, 20);
  found.forEach(([, i], k) => {
    const [title, heading, address, text] = window.SEARCH[i];
    const a = make("a", heading, results, k ? "" : "chosen");
    a.href = address;
    make("small", title + ": " + excerpt(text, wanted[0]), a);
  });
  if (!found.length) make("p", "Nothing was found.", results);
  chosen = 0;
}

function choose(step) {
  const rows = results.querySelectorAll("a");
  if (!rows.length) return;
  rows[chosen].className = "";
  chosen = (chosen + step + rows.length) % rows.length;
  rows[chosen].className = "chosen";
  rows[chosen].scrollIntoView({block: "nearest"});
}

box.addEventListener("input", search);
box.addEventListener("keydown", (e) => {
  if (e.key === "ArrowDown") choose(1);
  else if (e.key === "ArrowUp") choose(-1);
  else if (e.key === "Escape") { box.value = ""; search(); }
  else if (e.key === "Enter") {
    const a = results.querySelectorAll("a")[chosen];
    if (a) { results.hidden = true; location.href = a.href; }
  } else return;
  e.preventDefault();
});
document.addEventListener("keydown", (e) => {
  if (e.key === "/" && document.activeElement === document.body) {
    e.preventDefault();
    box.focus();
  }
});
document.addEventListener("click", (e) => {
  if (!results.contains(e.target) && e.target !== box) results.hidden = true;
});
const asked = new URLSearchParams(location.search).get("q");
if (asked) { box.value = asked; search(); }

$("menu").addEventListener("click", () => $("pages").classList.toggle("open"));
const here = document.querySelector("nav .here");
if (here) here.scrollIntoView({block: "nearest"});

// ---- Run: the blocks of a page up to this one are one program ----

const wasm = document.body.dataset.wasm;
let library = null;

function load(address) {
  return new Promise((ready, failed) => {
    const script = document.createElement("script");
    script.src = address;
    script.onload = ready;
    script.onerror = () => failed(new Error(address + " was not loaded"));
    document.head.appendChild(script);
  });
}

// Loaded with the first click. From a disk nothing can be fetched: there the
// bytes come as a script.
async function opened() {
  await load(wasm);
  if (location.protocol !== "file:") return window.lunarray();
  await load(wasm.replace(/js$/, "bytes.js"));
  const text = atob(window.LUNARRAY_BYTES);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return window.lunarray({wasmBinary: bytes});
}

// What stands before the block on its page, hidden code included. As in the
// program, 'la' is there.
function before(block) {
  const parts = ['la = require "lunarray"'];
  for (const e of document.querySelectorAll(
    'main script[type="text/x-lua"], main .code[data-run]')) {
    if (e === block) break;
    parts.push((e.querySelector("code") || e).textContent);
  }
  return parts.join("\n");
}

// A session at the prompt: its steps, each shown with what it gives.
const PROMPT = `
la = require "lunarray"
for _, name in ipairs{"nn", "optim", "data", "plot"} do
  _G[name] = require("lunarray." .. name)
end
la.manual_seed(1)
la.set_printoptions{linewidth = 75}
local pretty = require "lunarray.repl.pretty"
local function step(code)
  io.write("> ", (code:gsub("\\n", "\\n>> ")), "\\n")
  local f, message = load("return " .. code, "=stdin")
  if not f then f, message = load(code, "=stdin") end
  local results = table.pack(pcall(f or error, message))
  for k = 2, results.n do
    results[k - 1] = results[1] and pretty.text(results[k], {width = 75,
      style = function(_, text) return text end}) or tostring(results[k])
  end
  if results.n > 1 then
    print(table.concat(results, "\\t", 1, results.n - 1))
  end
end
`;

function session(block) {
  const steps = [];
  for (const line of block.querySelector("code").textContent.split("\n")) {
    if (line.startsWith("> ")) steps.push(line.slice(2));
    else if (line.startsWith(">> ")) steps[steps.length - 1] += "\n" +
      line.slice(3);
  }
  return PROMPT + steps.map((s) => "step([=====[\n" + s + "]=====])")
    .join("\n");
}

// A program of the gallery: its arguments, the last of which is the picture,
// and the files that it reads.
const PICTURE = "picture.png";

async function example(lib, block) {
  const FS = lib.FS, code = block.querySelector("code").textContent;
  if (!window.LUNARRAY_DATA) await load(wasm.replace(/js$/, "data.js"));
  FS.mkdirTree("examples/data");
  for (const [path, text] of Object.entries(window.LUNARRAY_DATA))
    FS.writeFile(path, Uint8Array.from(atob(text), (c) => c.charCodeAt(0)));
  if (FS.analyzePath(PICTURE).exists) FS.unlink(PICTURE);
  const words = block.dataset.example.split(" ").concat(PICTURE);
  return "arg = {" + words.map((w) => JSON.stringify(w)).join(", ") + "} " +
    "local function main(...) " + code + "\nend main()";
}

function picture(lib, out) {
  if (!lib.FS.analyzePath(PICTURE).exists) return;
  const image = document.createElement("img");
  image.src = URL.createObjectURL(new Blob([lib.FS.readFile(PICTURE)],
    {type: "image/png"}));
  out.append("\n", image);
}

async function run(block) {
  let out = block.nextElementSibling;
  if (!out || !out.classList.contains("output")) {
    out = document.createElement("pre");
    out.className = "output";
    block.after(out);
  }
  out.textContent = library ? "Running \u2026" : "Loading \u2026";
  await new Promise((drawn) => setTimeout(drawn, 20));
  try {
    library = library || opened();
    const lib = await library;
    lib.ccall("lunarray_start", "number", ["number"], [0]);
    let first = "", source;
    if ("prompt" in block.dataset) source = session(block);
    else if ("example" in block.dataset) source = await example(lib, block);
    else {
      first = before(block) + "\nio.write('\\001')\n";
      source = first + block.querySelector("code").textContent;
    }
    const text = lib.ccall("lunarray_run", "string", ["string"], [source]);
    const skipped = first.split("\n").length - 1;
    out.textContent = text.slice(text.indexOf("\u0001") + 1)
      .replace(/script:(\d+):/g, (all, n) =>
        n > skipped ? "line " + (n - skipped) + ":" : all)
      || "(nothing was printed)";
    if ("example" in block.dataset) picture(lib, out);
  } catch (error) {
    library = null;
    out.textContent = String(error);
  }
  out.dataset.done = "";
  out.scrollIntoView({block: "nearest"});
}

// ---- buttons ----

document.querySelectorAll(".code").forEach((block) => {
  const tools = make("div", null, block, "tools");
  if (wasm && Object.keys(block.dataset).length) {
    block.querySelector("code").contentEditable = "plaintext-only";
    block.querySelector("code").spellcheck = false;
    make("button", "Run", tools).addEventListener("click", () => run(block));
  }
  const copy = make("button", "Copy", tools);
  copy.addEventListener("click", () => {
    navigator.clipboard.writeText(block.querySelector("code").textContent)
      .then(() => { copy.textContent = "Copied"; },
        () => { copy.textContent = "Not allowed"; })
      .then(() => setTimeout(() => { copy.textContent = "Copy"; }, 1200));
  });
});
})();
