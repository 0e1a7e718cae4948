// SPDX-License-Identifier: Apache-2.0
// Uses linnet.html as a person does, in headless Chromium: node --experimental-websocket page_test.mjs PAGE CSV MODEL.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [page, table, model, picture] = process.argv.slice(2);
const profile = mkdtempSync(join(tmpdir(), "linnet-page-"));
const browser = spawn("chromium", ["--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0",
                                   `--user-data-dir=${profile}`, "about:blank"], { stdio: ["ignore", "ignore", "pipe"] });

/** The address on which the browser listens, of this machine alone. */
const listening = new Promise((found) => {
  let text = "";
  browser.stderr.on("data", (piece) => {
    text += piece;
    const address = /DevTools listening on ws:\/\/([^/]+)\//.exec(text);
    if (address) found(address[1]);
  });
});

async function connect(host) {
  const pages = await (await fetch(`http://${host}/json/list`)).json();
  const socket = new WebSocket(pages.find(({ type }) => type === "page").webSocketDebuggerUrl);
  await new Promise((open) => (socket.onopen = open));
  const waiting = new Map();
  let last = 0;
  socket.onmessage = ({ data }) => {
    const { id, result, error } = JSON.parse(data);
    waiting.get(id)?.(error ? { error } : result);
  };
  return (method, params = {}) => new Promise((answer) => {
    waiting.set(++last, answer);
    socket.send(JSON.stringify({ id: last, method, params }));
  });
}

try {
  const call = await connect(await listening);
  const evaluate = async (expression) => {
    const { result, exceptionDetails } = await call("Runtime.evaluate", { expression, returnByValue: true, awaitPromise: true });
    assert.equal(exceptionDetails, undefined, JSON.stringify(exceptionDetails));
    return result.value;
  };
  const status = () => evaluate("document.getElementById('status')?.textContent ?? ''");
  const until = async (pattern) => {
    for (let i = 0; i < 600; ++i) {
      const text = await status();
      if (pattern.test(text)) return text;
      assert.equal(await evaluate("document.getElementById('status')?.className ?? ''"), "", await status());
      await new Promise((later) => setTimeout(later, 200));
    }
    return assert.fail(`the status stayed '${await status()}'`);
  };
  const choose = async (id, file) => {
    const { result } = await call("Runtime.evaluate", { expression: `document.getElementById('${id}')` });
    await call("DOM.setFileInputFiles", { files: [resolve(file)], objectId: result.objectId });
  };

  await call("Page.navigate", { url: pathToFileURL(resolve(page)).href });
  console.log(await until(/is ready/));

  await evaluate("document.getElementById('learn').click()");
  const learned = await until(/^Trained/);
  console.log(`digits: ${learned}`);
  assert.ok(Number(/accuracy ([0-9.]+) %/.exec(learned)[1]) > 90, learned);
  // A vertical line is a one.
  const box = await evaluate("(({x, y}) => ({x, y}))(document.getElementById('pad').getBoundingClientRect())");
  const mouse = (type, y) => call("Input.dispatchMouseEvent",
                                  { type, x: box.x + 140, y: box.y + y, button: "left", buttons: 1, clickCount: 1 });
  await mouse("mousePressed", 40);
  for (let y = 50; y <= 240; y += 10) await mouse("mouseMoved", y);
  await mouse("mouseReleased", 240);
  for (let i = 0; i < 50 && (await evaluate("document.querySelectorAll('#digits meter').length")) === 0; ++i) {
    await new Promise((later) => setTimeout(later, 100));
  }
  const shares = await evaluate("[...document.querySelectorAll('#digits meter')].map((meter) => meter.value)");
  console.log(`a vertical line: ${shares.map((share) => share.toFixed(2))}`);
  assert.equal(shares.length, 10);

  const text = JSON.stringify(readFileSync(table, "utf8"));
  await evaluate(`(() => {
    const dropped = new DataTransfer();
    dropped.items.add(new File([${text}], "dropped.csv", { type: "text/csv" }));
    document.getElementById("drop").dispatchEvent(new DragEvent("drop", { dataTransfer: dropped, cancelable: true }));
  })()`);
  console.log(await until(/dropped.csv has/));
  await evaluate("document.getElementById('train').click()");
  console.log(`table: ${await until(/^Trained/)}`);
  await new Promise((later) => setTimeout(later, 1000));
  assert.equal(await evaluate("document.querySelectorAll('#rows tr').length"), 21);

  await choose("model", model);
  console.log(await until(/^Opened/));
  console.log(await evaluate("document.getElementById('about').textContent"));
  if (picture) writeFileSync(picture, Buffer.from((await call("Page.captureScreenshot", {})).data, "base64"));
  console.log("1 passed, 0 failed");
} finally {
  const ended = new Promise((end) => browser.on("exit", end));
  browser.kill();
  await ended;
  rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
}
