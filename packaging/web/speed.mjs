// SPDX-License-Identifier: Apache-2.0
// Prints how many samples mnist-cnn trains and predicts in a second of the processor's time under node, which other
// programs disturb less than the clock's: node speed.mjs PACKAGE. The best of several epochs counts.
import { pathToFileURL } from "node:url";

const { load } = await import(pathToFileURL(`${process.argv[2]}/linnet.mjs`));
const linnet = await load();
const seconds = () => process.cpuUsage().user / 1e6;
const samples = 10000;
const pixels = Uint8Array.from({ length: samples * 784 }, (_, i) => (i * 2654435761) >>> 24);
const labels = Int32Array.from({ length: samples }, (_, i) => i % 10);
const model = linnet.create({
  input: [28, 28, 1],
  layers: ["rescale", { type: "conv2d", filters: 16, padding: "same" }, "relu", { type: "max_pool2d", size: 2 }, "flatten",
           { type: "dense", units: 10 }],
});
let began = seconds();
let best = 0;
model.train({
  inputs: { data: pixels, shape: [samples, 28, 28, 1] },
  targets: { data: labels },
  options: { epochs: 8, batch: 128, optimizer: { kind: "adam", learning_rate: 0.001 } },
  onProgress: ({ epochEnded }) => {
    if (!epochEnded) return;
    const now = seconds();
    best = Math.max(best, samples / (now - began));
    began = now;
  },
});
console.log(`training: ${Math.round(best)} samples/s`);
best = 0;
const inputs = Float32Array.from(pixels);
for (let i = 0; i < 8; ++i) {
  began = seconds();
  model.predict(inputs);
  best = Math.max(best, samples / (seconds() - began));
}
console.log(`prediction: ${Math.round(best)} samples/s`);
