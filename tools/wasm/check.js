// node check.js FOLDER: what a page does with lunarray.js and lunarray.wasm of
// the folder. Node's fetch takes no paths: the bytes are given.
const fs = require("fs"), path = require("path"), assert = require("assert");
const folder = path.resolve(process.argv[2]);
const smoke = fs.readFileSync("spec/embed/smoke.lua", "utf8");

async function check() {
  const lib = await require(path.join(folder, "lunarray.js"))({
    wasmBinary: fs.readFileSync(path.join(folder, "lunarray.wasm")),
  });
  const run = lib.cwrap("lunarray_run", "string", ["string"]);
  const start = lib.cwrap("lunarray_start", "number", ["number"]);
  const gives = (source, text) => assert.strictEqual(run(source), text);

  gives("1 + 1, 'ä'", "2\tä\n");
  gives("la = require 'lunarray'; x = la.arange(3.0)", "");
  gives("print(x + 1) return x:sum():item()",
        "tensor([1., 2., 3.])\n3.0\n");
  gives("error('no', 0)", "error: no\n");
  assert.match(run("error({})"), /^error: table: 0x/);
  assert.match(run("x +"), /^error: script:1: syntax error near/);
  assert.match(run("x:reshape(7)"), /^error: script:1: .*invalid for input of size 3/);
  assert.match(run("la.ones(1 << 27)"), /more than 2\^28 bytes/);
  assert.match(run("la.load 'x.npy'"), /^error: /);
  assert.match(run("require('lunarray.nn').Linear(2, 3)"), /Linear/);
  assert.match(run("for i = 1, 99999 do print(('x'):rep(99)) end"),
               /\n\(more was printed\)\n$/);
  gives("2", "2\n");
  assert.match(run(smoke), /^12 present, 0 absent, default\n/m);

  // sandboxes end
  assert.strictEqual(start(0.2), 0);
  assert.match(run("while true do pcall(error) end"), /^error: .*deadline/);
  gives("x", "nil\n");

  // files of the page, all of Lua's libraries
  assert.strictEqual(start(0), 0);
  gives("la = require 'lunarray'; la.save({la.ones(2)}, 'a.npz') " +
        "io.write(la.load('a.npz')[1]:sum():item(), 'é')", "2.0é");
  console.log("the page's library: passed");
}
check().catch((error) => { console.error(error); process.exit(1); });
