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

// ---- buttons ----

document.querySelectorAll(".code").forEach((block) => {
  const tools = make("div", null, block, "tools");
  const copy = make("button", "Copy", tools);
  copy.addEventListener("click", () => {
    navigator.clipboard.writeText(block.querySelector("code").textContent)
      .then(() => { copy.textContent = "Copied"; },
        () => { copy.textContent = "Not allowed"; })
      .then(() => setTimeout(() => { copy.textContent = "Copy"; }, 1200));
  });
});
})();
