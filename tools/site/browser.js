// node browser.js PROFILE ADDRESS EXPRESSION [WIDTH]: opens the page in a
// headless Chromium, in a window of so many pixels, and prints the value of the
// expression as JSON; a promise is waited for. PROFILE is a folder for the browser's files. It talks to Chromium over
// its pipe of the DevTools protocol: messages in JSON, each ended by a zero.
const {spawn} = require("child_process");
const [profile, address, expression, width] = process.argv.slice(2);

const browser = spawn("chromium", ["--headless=new", "--no-sandbox",
  "--disable-gpu", "--remote-debugging-pipe", "--user-data-dir=" + profile],
  {stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"]});
const waiting = new Map();
let count = 0, rest = "";

function call(method, params, sessionId) {
  const id = ++count;
  browser.stdio[3].write(JSON.stringify({id, method, params, sessionId}) +
    "\0");
  return new Promise((done, failed) => waiting.set(id, {done, failed}));
}

browser.stdio[4].setEncoding("utf8");
browser.stdio[4].on("data", (data) => {
  const messages = (rest + data).split("\0");
  rest = messages.pop();
  for (const message of messages.map((m) => JSON.parse(m))) {
    const asked = waiting.get(message.id);
    if (!asked) continue;
    waiting.delete(message.id);
    if (message.error) asked.failed(new Error(message.error.message));
    else asked.done(message.result);
  }
});

async function main() {
  const {targetId} = await call("Target.createTarget", {url: "about:blank"});
  const {sessionId} = await call("Target.attachToTarget",
    {targetId, flatten: true});
  await call("Page.enable", {}, sessionId);
  if (width) await call("Emulation.setDeviceMetricsOverride", {width: +width,
    height: 900, deviceScaleFactor: 1, mobile: width < 500}, sessionId);
  await call("Page.navigate", {url: address}, sessionId);
  const ready = `new Promise((done) => document.readyState === "complete"
    ? done() : addEventListener("load", done))`;
  const evaluate = (text) => call("Runtime.evaluate", {expression: text,
    awaitPromise: true, returnByValue: true}, sessionId);
  await evaluate(ready);
  const {result, exceptionDetails} = await evaluate(expression);
  if (exceptionDetails)
    throw new Error(result.description || exceptionDetails.text);
  console.log(JSON.stringify(result.value));
}

main().catch((error) => {
  console.error(error.message);
  process.exitCode = 1;
}).finally(() => browser.kill());
setTimeout(() => { browser.kill(); process.exit(1); }, 300000).unref();
