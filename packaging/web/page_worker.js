// SPDX-License-Identifier: Apache-2.0
// The page's worker: it holds the library and one model, so that the page stays alive while it trains.
let linnet = null;
let model = null;

function keep(next) {
  model?.free();
  model = next;
  return {
    classes: model.classes, answers: model.answers, inputShape: model.inputShape(), outputShape: model.outputShape(),
    inputs: model.inputs, parameters: model.parameters,
  };
}

const DIGITS = {
  input: [28, 28, 1],
  layers: [
    { type: "conv2d", filters: 16, kernel: 5 }, "relu", { type: "max_pool2d" },
    { type: "conv2d", filters: 16 }, "relu", { type: "max_pool2d" },
    "flatten", { type: "dense", units: 64 }, "relu", { type: "dense", units: 10 },
  ],
};

const commands = {
  async load({ wasm }) {
    linnet = await load({ wasmBinary: wasm, locateFile: (name) => name });
    return linnet.version;
  },
  digits({ pixels, labels, epochs }, onProgress) {
    const next = linnet.create(DIGITS, { seed: 1 });
    const report = next.train({
      inputs: { data: pixels, shape: [labels.length, 28, 28, 1] }, targets: { data: labels },
      options: { epochs, batch: 64, seed: 1, validation: 0.1, optimizer: { kind: "adam", learning_rate: 0.002 } }, onProgress,
    });
    next.classes = [..."0123456789"];
    return { report, about: keep(next) };
  },
  table({ text, target }, onProgress) {
    const { model: next, report } = linnet.trainTable(text, target, {}, onProgress);
    return { report, about: keep(next) };
  },
  rows: ({ text }) => model.predictRows(text, { probabilities: model.answers === "classes" }),
  predict: ({ values }) => model.predict(values, { probabilities: model.answers === "classes" }),
  open: ({ bytes }) => keep(linnet.open(bytes)),
  save: () => model.save(),
};

self.onmessage = async ({ data: { id, command, values } }) => {
  let told = 0;
  const onProgress = (progress) => {
    if (!progress.epochEnded && Date.now() - told < 100) return;
    told = Date.now();
    self.postMessage({ id, progress });
  };
  try {
    self.postMessage({ id, result: await commands[command](values, onProgress) });
  } catch (error) {
    self.postMessage({ id, error: error.message });
  }
};
