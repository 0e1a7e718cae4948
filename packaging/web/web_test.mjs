// SPDX-License-Identifier: Apache-2.0
// Cases of `./dev check web`; check_web.py writes the files that they read.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";

const { load, LinnetError } = await import(pathToFileURL(join(process.env.LINNET_PACKAGE, "linnet.mjs")));
const linnet = await load();
const file = (name) => readFileSync(join(process.env.LINNET_FILES, name));
const floats = (name) => new Float32Array(new Uint8Array(file(name)).buffer);

/** The other side sums vectors of another length: the last bits differ. */
function assertClose(got, expected) {
  assert.equal(got.length, expected.length);
  got.forEach((value, i) => assert.ok(Math.abs(value - expected[i]) < 1e-5, `${i}: ${value}, expected ${expected[i]}`));
}

/** Numbers in [0, 1) that are the same in every run. */
function numbers(count) {
  let state = 1;
  return Float32Array.from({ length: count }, () => (state = (state * 48271) % 2147483647) / 2147483647);
}

/** Two rings of points: what no linear network parts. */
function rings(samples) {
  const random = numbers(2 * samples);
  const data = new Float32Array(2 * samples);
  const labels = new Int32Array(samples);
  for (let i = 0; i < samples; ++i) {
    labels[i] = i % 2;
    const radius = 0.5 + labels[i] + 0.4 * random[2 * i];
    data[2 * i] = radius * Math.cos(7 * random[2 * i + 1]);
    data[2 * i + 1] = radius * Math.sin(7 * random[2 * i + 1]);
  }
  return { inputs: { data, shape: [samples, 2] }, targets: { data: labels } };
}

const NETWORK = { input: [2], layers: [{ type: "dense", units: 32 }, "relu", { type: "dense", units: 2 }] };
const OPTIONS = { epochs: 20, batch: 50, seed: 3, optimizer: { kind: "adam", learning_rate: 0.01 } };

function trained(hear = undefined) {
  const model = linnet.create(NETWORK, { seed: 5 });
  return { model, report: model.train({ ...rings(1000), options: OPTIONS, onProgress: hear }) };
}

test("predictions of images are the command's", () => {
  const run = readdirSync(join(process.env.LINNET_FILES, "images")).find((name) => name.endsWith("model.safetensors"));
  const model = linnet.open(file(join("images", run)));
  assert.deepEqual(model.inputShape(), [28, 28, 1]);
  assert.deepEqual(model.outputShape(), [10]);
  assert.equal(model.answers, "classes");
  assertClose(model.predict(new Uint8Array(file("images.u8")), { probabilities: true }), floats("images.f32"));
  model.free();
});

test("predictions of a table's rows are the command's", () => {
  const model = linnet.open(file(join("table", "model.safetensors")));
  assert.deepEqual(model.classes, ["a", "b", "c"]);
  assertClose(model.predictRows(file("flowers.csv").toString(), { probabilities: true }), floats("table.f32"));
  model.free();
});

test("a training learns, tells its progress and has the same bits in every run", () => {
  const losses = [];
  const first = trained(({ epochEnded, loss }) => { if (epochEnded) losses.push(loss); });
  assert.equal(losses.length, 20);
  assert.ok(losses[19] < losses[0] / 2, `${losses}`);
  assert.ok(first.report.accuracy > 0.95, `${first.report.accuracy}`);
  const bytes = first.model.save();
  assert.deepEqual(trained().model.save(), bytes);
  const again = linnet.open(bytes);
  const { inputs } = rings(100);
  assert.deepEqual(again.predict(inputs.data), first.model.predict(inputs.data));
});

test("a progress function ends a training", () => {
  const { report } = trained(({ epoch, epochEnded }) => !(epochEnded && epoch === 3));
  assert.equal(report.epochs, 3);
  assert.equal(report.interrupted, true);
  assert.throws(() => trained(() => { throw new Error("stop here"); }), /stop here/);
});

test("a table's text trains a model", () => {
  const text = file("flowers.csv").toString();
  const { model, report } = linnet.trainTable(text, "kind", { training: { epochs: 30 } });
  assert.ok(report.testAccuracy > 0.8, `${report.testAccuracy}`);
  assert.equal(model.predictRows(text).length, 3 * 300);
  model.free();
});

test("convolutions, recurrent layers and attention train", () => {
  const layers = [
    [[8, 8, 3], [{ type: "conv2d", filters: 8 }, "batch_norm", "relu", "max_pool2d", "flatten", { type: "dense", units: 2 }]],
    [[12, 4], [{ type: "gru", units: 8 }, { type: "dense", units: 2 }]],
    [[6, 8], [{ type: "transformer_encoder_layer", heads: 2, feed_forward: 16 }, "flatten", { type: "dense", units: 2 }]],
  ];
  for (const [input, list] of layers) {
    const model = linnet.create({ input, layers: list });
    const size = input.reduce((product, dim) => product * dim, 1);
    const data = numbers(64 * size);
    const labels = Int32Array.from({ length: 64 }, (_, i) => (data[i * size] > 0.5 ? 1 : 0));
    const losses = [];
    model.train({ inputs: { data, shape: [64, ...input] }, targets: { data: labels },
                  options: { epochs: 15, batch: 16 }, onProgress: (p) => { if (p.epochEnded) losses.push(p.loss); } });
    assert.ok(losses.at(-1) < losses[0], `${list[0].type}: ${losses}`);
    model.free();
  }
});

test("errors are sentences", () => {
  assert.throws(() => linnet.open(new Uint8Array(100)), LinnetError);
  assert.throws(() => linnet.create({ input: [2], layers: ["dens"] }), /dens/);
  assert.throws(() => linnet.create(NETWORK).train({ ...rings(10), options: { epoch: 1 } }), /epoch/);
  assert.throws(() => linnet.create(NETWORK, { device: "cuda" }), /CUDA/);
});
