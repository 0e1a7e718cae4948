// SPDX-License-Identifier: Apache-2.0
const $ = (id) => document.getElementById(id);
const textOf = (id) => $(id).textContent;

// Everything is in this file: a page that is opened from a disk may load no other one.
const source = new Blob([textOf("library"), textOf("commands")], { type: "text/javascript" });
const worker = new Worker(URL.createObjectURL(source));
const waiting = new Map();
worker.onmessage = ({ data: { id, result, progress, error } }) => {
  const call = waiting.get(id);
  if (progress) return call.hear(progress);
  waiting.delete(id);
  if (error === undefined) call.resolve(result);
  else call.reject(new Error(error));
};
worker.onerror = (event) => say(event.message ?? "the worker cannot start", true);

function ask(command, values = {}, hear = () => {}) {
  const id = crypto.randomUUID?.() ?? String(Math.random());
  return new Promise((resolve, reject) => {
    waiting.set(id, { resolve, reject, hear });
    worker.postMessage({ id, command, values });
  });
}

function say(text, isError = false) {
  $("status").textContent = text;
  $("status").className = isError ? "error" : "";
}
/** Runs what a click or a file began; its error is shown. */
const shown = (f) => async (...of) => {
  try {
    await f(...of);
  } catch (error) {
    say(error.message, true);
  }
};

const percent = (share) => `${(100 * share).toFixed(1)} %`;
const hear = ({ epoch, epochs, loss, accuracy }) =>
  say(`Epoch ${epoch} of ${epochs}: loss ${loss?.toFixed(4)}${accuracy === null ? "" : `, accuracy ${percent(accuracy)}`}`);
function summary(report, seconds) {
  const accuracy = report.testAccuracy ?? report.validationAccuracy ?? report.accuracy;
  const loss = report.testLoss ?? report.validationLoss ?? report.loss;
  const of = report.testLoss !== null ? "test rows" : report.validationLoss !== null ? "validation samples" : "training samples";
  return `Trained in ${seconds.toFixed(1)} s: ${accuracy === null ? `loss ${loss.toFixed(4)}` : `accuracy ${percent(accuracy)}`} on ${of}.`;
}
async function timed(command, values) {
  const begin = performance.now();
  const { report, about } = await ask(command, values, hear);
  describe(about);
  say(summary(report, (performance.now() - begin) / 1000));
}

// --- digits

const FONTS = ["sans-serif", "serif", "monospace", "cursive"];
const random = (low, high) => low + (high - low) * Math.random();

/** Draws digits, each of another size, place and slope. */
function drawnDigits(count) {
  const canvas = new OffscreenCanvas(28, 28);
  const pen = canvas.getContext("2d", { willReadFrequently: true });
  const pixels = new Float32Array(count * 784);
  const labels = new Int32Array(count);
  for (let i = 0; i < count; ++i) {
    labels[i] = i % 10;
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.clearRect(0, 0, 28, 28);
    pen.setTransform(random(0.8, 1.1), random(-0.2, 0.2), random(-0.3, 0.2), random(0.8, 1.1), random(12, 16), random(12, 16));
    pen.font = `${Math.random() < 0.6 ? "bold " : ""}${random(20, 25)}px ${FONTS[Math.floor(random(0, 4))]}`;
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    pen.fillText(labels[i], 0, 1);
    const image = pen.getImageData(0, 0, 28, 28).data;
    for (let p = 0; p < 784; ++p) pixels[784 * i + p] = image[4 * p + 3] / 255;
  }
  return { pixels, labels };
}

const pad = $("pad").getContext("2d", { willReadFrequently: true });
pad.lineWidth = 22;
pad.lineCap = pad.lineJoin = "round";
let knowsDigits = false;

/** What was drawn, 20 pixels high or wide, in the middle of 28x28; null: nothing. */
function drawn() {
  const { data } = pad.getImageData(0, 0, 280, 280);
  let [left, top, right, bottom] = [280, 280, -1, -1];
  for (let y = 0; y < 280; ++y) {
    for (let x = 0; x < 280; ++x) {
      if (data[4 * (280 * y + x) + 3] === 0) continue;
      [left, right] = [Math.min(left, x), Math.max(right, x)];
      [top, bottom] = [Math.min(top, y), Math.max(bottom, y)];
    }
  }
  if (right < 0) return null;
  const scale = 20 / Math.max(right - left + 1, bottom - top + 1);
  const small = new OffscreenCanvas(28, 28).getContext("2d");
  small.setTransform(scale, 0, 0, scale, 14 - scale * (left + right) / 2, 14 - scale * (top + bottom) / 2);
  small.imageSmoothingQuality = "high";
  small.drawImage($("pad"), 0, 0);
  const image = small.getImageData(0, 0, 28, 28).data;
  return Float32Array.from({ length: 784 }, (_, p) => image[4 * p + 3] / 255);
}

const guess = shown(async () => {
  const values = drawn();
  if (!knowsDigits || values === null) return;
  const shares = await ask("predict", { values });
  $("digits").replaceChildren(...Array.from(shares, (share, digit) => {
    const line = document.createElement("div");
    const meter = Object.assign(document.createElement("meter"), { value: share });
    line.append(`${digit} `, meter, ` ${percent(share)}`);
    return line;
  }));
});

function at(event) {
  const box = $("pad").getBoundingClientRect();
  return [(event.clientX - box.left) * 280 / box.width, (event.clientY - box.top) * 280 / box.height];
}
$("pad").onpointerdown = (event) => {
  $("pad").setPointerCapture(event.pointerId);
  pad.beginPath();
  pad.moveTo(...at(event));
};
$("pad").onpointermove = (event) => {
  if (event.buttons === 0) return;
  pad.lineTo(...at(event));
  pad.stroke();
};
$("pad").onpointerup = guess;
$("clear").onclick = () => {
  pad.clearRect(0, 0, 280, 280);
  $("digits").replaceChildren();
};
$("learn").onclick = shown(async () => {
  say("Drawing");
  await new Promise((next) => setTimeout(next, 20));
  await timed("digits", { ...drawnDigits(6000), epochs: 5 });
  knowsDigits = true;
  await guess();
});

// --- tables and model files

let text = "";
let about = null;

const delimiterOf = (header) => ["\t", ";", ","].find((mark) => header.includes(mark)) ?? ",";

function describe(of) {
  about = of;
  knowsDigits = false;
  $("save").hidden = false;
  $("about").textContent = `The model has ${of.parameters.toLocaleString("en")} parameters` +
    `${of.classes.length > 0 ? ` and the classes ${of.classes.slice(0, 20).join(", ")}` : ""}.`;
}

/** Shows predictions of the first rows. */
async function showRows() {
  const outputs = await ask("rows", { text });
  const width = about.outputShape.reduce((product, dim) => product * dim, 1);
  const lines = text.trim().split(/\r?\n/);
  const rows = document.createElement("table");
  const add = (cells, kind) => {
    const row = rows.insertRow();
    for (const cell of cells) row.append(Object.assign(document.createElement(kind), { textContent: cell }));
  };
  const mark = delimiterOf(lines[0]);
  add([...lines[0].split(mark), "prediction"], "th");
  for (let i = 0; i < Math.min(20, outputs.length / width); ++i) {
    const own = outputs.subarray(i * width, (i + 1) * width);
    const best = own.indexOf(Math.max(...own));
    add([...lines[i + 1].split(mark),
         about.classes.length > 0 ? `${about.classes[best]} (${percent(own[best])})` : own[0].toPrecision(5)], "td");
  }
  $("rows").replaceChildren(rows);
}

const take = shown(async (file) => {
  text = await file.text();
  const header = text.split(/\r?\n/, 1)[0];
  const names = header.split(delimiterOf(header)).map((name) => name.replace(/^"|"$/g, "").trim());
  $("target").replaceChildren(...names.map((name) => new Option(name, name)));
  $("target").selectedIndex = names.length - 1;
  $("choice").hidden = false;
  say(`${file.name} has ${names.length} columns.`);
});
$("table").onchange = (event) => take(event.target.files[0]);
$("drop").ondragover = (event) => {
  event.preventDefault();
  $("drop").classList.add("over");
};
$("drop").ondragleave = () => $("drop").classList.remove("over");
$("drop").ondrop = (event) => {
  event.preventDefault();
  $("drop").classList.remove("over");
  if (event.dataTransfer.files.length > 0) take(event.dataTransfer.files[0]);
};
$("train").onclick = shown(async () => {
  await timed("table", { text, target: $("target").value });
  await showRows();
});
$("model").onchange = shown(async (event) => {
  describe(await ask("open", { bytes: new Uint8Array(await event.target.files[0].arrayBuffer()) }));
  knowsDigits = String(about.inputShape) === "28,28,1";
  say(`Opened ${event.target.files[0].name}.`);
  await guess();
  // A model of a table predicts the rows of a file that was dropped before.
  if (!knowsDigits && text !== "") await showRows();
});
$("save").onclick = shown(async () => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([await ask("save")]));
  link.download = "model.safetensors";
  link.click();
});

const wasm = Uint8Array.from(atob(textOf("wasm")), (letter) => letter.charCodeAt(0));
shown(async () => {
  say(`Linnet ${await ask("load", { wasm })} is ready.`);
  $("learn").disabled = false;
})();
