// SPDX-License-Identifier: Apache-2.0
// Linnet for JavaScript: models, prediction and training, on one thread. Everything runs where the module is
// loaded; nothing is sent anywhere. README.md shows how it is used.
import createModule from "./linnet_wasm.mjs";

const F32 = 0, U8 = 2, I32 = 3;
const ANSWERS = ["classes", "labels", "scores", "values"];

/** An error that the library reports. `code` is a linnet_code of linnet/c_api.h. */
export class LinnetError extends Error {
  constructor(code, sentence) {
    super(sentence);
    this.name = "LinnetError";
    this.code = code;
  }
}

/** Memory of the library for the time of a call. */
class Scope {
  constructor(module) {
    this.module = module;
    this.blocks = [];
  }
  /** Returns the address of `bytes` zeros. */
  reserve(bytes) {
    const address = this.module._malloc(Math.max(bytes, 1));
    if (address === 0) throw new LinnetError(4, `out of memory: ${bytes} bytes were requested`);
    this.blocks.push(address);
    this.module.HEAPU8.fill(0, address, address + bytes);
    return address;
  }
  /** Returns the address of a copy of a typed array. */
  copy(array) {
    const address = this.reserve(array.byteLength);
    this.module.HEAPU8.set(new Uint8Array(array.buffer, array.byteOffset, array.byteLength), address);
    return address;
  }
  text(string) {
    return this.copy(new TextEncoder().encode(`${string}\0`));
  }
  view() {
    return new DataView(this.module.HEAPU8.buffer);
  }
  i32(address) {
    return this.view().getInt32(address, true);
  }
  floats(address, count) {
    return new Float32Array(this.module.HEAPU8.buffer, address, count).slice();
  }
  free() {
    for (const block of this.blocks) this.module._free(block);
  }
}

const elements = (shape) => shape.reduce((product, dim) => product * dim, 1);

/** Returns what a struct of doubles says: NaN becomes null. */
const known = (number) => (Number.isNaN(number) ? null : number);

function progressOf(view, at) {
  const integer = (offset) => Number(view.getBigInt64(at + offset, true));
  const number = (offset) => known(view.getFloat64(at + offset, true));
  return {
    epoch: integer(8), epochs: integer(16), samplesDone: integer(24), samples: integer(32), loss: number(40),
    accuracy: number(48), validationLoss: number(56), validationAccuracy: number(64),
    epochEnded: view.getInt32(at + 72, true) === 1,
  };
}

const REPORT_BYTES = 72;
function reportOf(view, at) {
  const number = (offset) => known(view.getFloat64(at + offset, true));
  return {
    epochs: Number(view.getBigInt64(at + 8, true)), loss: number(16), accuracy: number(24),
    validationLoss: number(32), validationAccuracy: number(40), testLoss: number(48), testAccuracy: number(56),
    stoppedEarly: view.getInt32(at + 64, true) === 1, interrupted: view.getInt32(at + 68, true) === 1,
  };
}

/** A loaded library. Make one with load(). */
class Linnet {
  constructor(module) {
    this.module = module;
  }

  /** The library's version, such as "0.1.0". */
  get version() {
    return this.module.UTF8ToString(this.module._linnet_version());
  }

  /** Calls f(scope), and frees the scope's memory. */
  scoped(f) {
    const scope = new Scope(this.module);
    try {
      return f(scope);
    } finally {
      scope.free();
    }
  }

  /** Throws a LinnetError unless a call succeeded. */
  check(code) {
    if (code !== 0) throw new LinnetError(code, this.module.UTF8ToString(this.module._linnet_last_error()));
  }

  /** Calls f(address of a progress function) or f(0). An exception of `hear` ends the training. */
  hearing(hear, f) {
    if (!hear) return f(0);
    let thrown = null;
    const address = this.module.addFunction((progress) => {
      try {
        return hear(progressOf(new DataView(this.module.HEAPU8.buffer), progress)) === false ? 1 : 0;
      } catch (error) {
        thrown = error;
        return 1;
      }
    }, "iii");
    try {
      const result = f(address);
      if (thrown) throw thrown;
      return result;
    } finally {
      this.module.removeFunction(address);
    }
  }

  /** Returns the model of the bytes (Uint8Array, ArrayBuffer) of a file that Linnet wrote. */
  open(bytes, options = {}) {
    return this.scoped((scope) => {
      const file = bytes instanceof ArrayBuffer ? new Uint8Array(bytes) : bytes;
      const place = scope.reserve(4);
      this.check(this.module._linnet_model_load_bytes(
        scope.copy(file), file.byteLength, scope.text(JSON.stringify({ threads: 1, ...options })), place));
      return new Model(this, scope.i32(place));
    });
  }

  /** Returns a model of a network, {input: [28, 28, 1], layers: [...]}, with new weights. */
  create(network, options = {}) {
    return this.scoped((scope) => {
      const place = scope.reserve(4);
      this.check(this.module._linnet_model_create(
        scope.text(JSON.stringify(network)), scope.text(JSON.stringify({ threads: 1, ...options })), place));
      return new Model(this, scope.i32(place));
    });
  }

  /** Trains a new model on the text of a table (CSV) with a header. Returns {model, report}. */
  trainTable(text, target, options = {}, onProgress = undefined) {
    const path = "/table.csv";
    this.module.FS.writeFile(path, text);
    try {
      return this.scoped((scope) => this.hearing(onProgress, (hear) => {
        const place = scope.reserve(4);
        const report = scope.reserve(REPORT_BYTES);
        scope.view().setUint32(report, REPORT_BYTES, true);
        const all = { ...options, model: { threads: 1, ...options.model } };
        this.check(this.module._linnet_train_table(
          scope.text(path), scope.text(target), scope.text(JSON.stringify(all)), hear, 0, report, place));
        return { model: new Model(this, scope.i32(place)), report: reportOf(scope.view(), report) };
      }));
    } finally {
      this.module.FS.unlink(path);
    }
  }
}

/** A network with weights. free() gives its memory back. */
class Model {
  constructor(linnet, handle) {
    this.linnet = linnet;
    this.handle = handle;
  }

  /** Returns the number that `function_` gets. */
  number(function_, bytes = 4) {
    return this.linnet.scoped((scope) => {
      const place = scope.reserve(bytes);
      this.linnet.check(function_(this.handle, place));
      return bytes === 8 ? Number(scope.view().getBigInt64(place, true)) : scope.i32(place);
    });
  }
  texts(count, function_) {
    return Array.from({ length: count }, (_, index) => this.linnet.scoped((scope) => {
      const place = scope.reserve(4);
      this.linnet.check(function_(this.handle, index, place));
      return this.linnet.module.UTF8ToString(scope.i32(place));
    }));
  }
  shape(function_, index) {
    return this.linnet.scoped((scope) => {
      const dims = scope.reserve(8 * 8);
      const rank = scope.reserve(4);
      this.linnet.check(function_(this.handle, index, dims, rank));
      return Array.from({ length: scope.i32(rank) }, (_, i) => Number(scope.view().getBigInt64(dims + 8 * i, true)));
    });
  }

  get inputs() {
    const c = this.linnet.module;
    return this.texts(this.number(c._linnet_model_inputs), c._linnet_model_input_name);
  }
  get outputs() {
    const c = this.linnet.module;
    return this.texts(this.number(c._linnet_model_outputs), c._linnet_model_output_name);
  }
  /** The shape of one sample of an input. */
  inputShape(index = 0) {
    return this.shape(this.linnet.module._linnet_model_input_shape, index);
  }
  outputShape(index = 0) {
    return this.shape(this.linnet.module._linnet_model_output_shape, index);
  }
  get parameters() {
    return this.number(this.linnet.module._linnet_model_parameters, 8);
  }
  /** What the first output means: "classes", "labels", "scores" or "values". */
  get answers() {
    return ANSWERS[this.number(this.linnet.module._linnet_model_answers)];
  }
  get classes() {
    const c = this.linnet.module;
    return this.texts(this.number(c._linnet_model_classes), c._linnet_model_class_name);
  }
  set classes(names) {
    this.linnet.scoped((scope) => {
      const list = new Uint32Array(names.map((name) => scope.text(name)));
      this.linnet.check(this.linnet.module._linnet_model_set_classes(this.handle, scope.copy(list), list.length));
    });
  }

  /** Returns the first output's numbers for samples of the only input, one after the other. */
  predict(inputs, { probabilities = false } = {}) {
    const c = this.linnet.module;
    const values = inputs instanceof Float32Array ? inputs : Float32Array.from(inputs);
    const samples = Math.floor(values.length / elements(this.inputShape()));
    const count = samples * elements(this.outputShape());
    return this.linnet.scoped((scope) => {
      const to = scope.reserve(4 * count);
      const call = probabilities ? c._linnet_predict_probabilities : c._linnet_predict;
      this.linnet.check(call(this.handle, BigInt(samples), scope.copy(values), values.length, to, count));
      return scope.floats(to, count);
    });
  }

  /** Returns the first output's numbers for the rows of a table's text, for a model of a table. */
  predictRows(text, { probabilities = false } = {}) {
    const c = this.linnet.module;
    const bytes = new TextEncoder().encode(text);
    return this.linnet.scoped((scope) => {
      const from = scope.copy(bytes);
      const place = scope.reserve(8);
      this.linnet.check(c._linnet_count_rows(this.handle, from, bytes.length, place));
      const count = Number(scope.view().getBigInt64(place, true)) * elements(this.outputShape());
      const to = scope.reserve(4 * count);
      this.linnet.check(c._linnet_predict_rows(this.handle, from, bytes.length, to, count, probabilities ? 1 : 0));
      return scope.floats(to, count);
    });
  }

  /** Trains on arrays: `inputs` and `targets` are {data, shape, name}, or lists of them, data a Float32Array,
   *  Uint8Array or Int32Array (labels). onProgress(progress) may return false to stop. Returns the report. */
  train({ inputs, targets, options = {}, onProgress = undefined }) {
    return this.linnet.scoped((scope) => this.linnet.hearing(onProgress, (hear) => {
      const [from, to] = [inputs, targets].map((arrays) => [arrays].flat());
      const report = scope.reserve(REPORT_BYTES);
      scope.view().setUint32(report, REPORT_BYTES, true);
      this.linnet.check(this.linnet.module._linnet_train(
        this.handle, this.arrays(scope, from), from.length, this.arrays(scope, to), to.length,
        scope.text(JSON.stringify(options)), hear, 0, report));
      return reportOf(scope.view(), report);
    }));
  }

  /** Returns {loss, accuracy} over samples; the accuracy of values is null. */
  evaluate({ inputs, targets }) {
    return this.linnet.scoped((scope) => {
      const [from, to] = [inputs, targets].map((arrays) => [arrays].flat());
      const loss = scope.reserve(16);
      this.linnet.check(this.linnet.module._linnet_evaluate(
        this.handle, this.arrays(scope, from), from.length, this.arrays(scope, to), to.length, loss, loss + 8));
      return { loss: known(scope.view().getFloat64(loss, true)), accuracy: known(scope.view().getFloat64(loss + 8, true)) };
    });
  }

  /** Writes linnet_array structs; returns their address. */
  arrays(scope, list) {
    const structs = scope.reserve(24 * list.length);
    list.forEach(({ name, data, shape }, index) => {
      const type = data instanceof Int32Array ? I32 : data instanceof Uint8Array ? U8 : F32;
      const values = type === F32 && !(data instanceof Float32Array) ? Float32Array.from(data) : data;
      const dims = shape ?? [values.length];
      const fields = [name === undefined ? 0 : scope.text(name), scope.copy(values), values.byteLength,
                      scope.copy(new BigInt64Array(dims.map(BigInt))), dims.length, type];
      const view = scope.view();  // after the last allocation, which may move the memory
      fields.forEach((field, i) => view.setUint32(structs + 24 * index + 4 * i, field, true));
    });
    return structs;
  }

  /** Returns the bytes of a model file, which every Linnet reads. */
  save() {
    const path = "/model.safetensors";
    const { FS } = this.linnet.module;
    this.linnet.scoped((scope) => this.linnet.check(this.linnet.module._linnet_model_save(this.handle, scope.text(path))));
    const bytes = FS.readFile(path);
    FS.unlink(path);
    return bytes;
  }

  free() {
    this.linnet.module._linnet_model_free(this.handle);
    this.handle = 0;
  }
}

/** Loads the library. `options` are Emscripten's, such as wasmBinary, the bytes of linnet_wasm.wasm. */
export async function load(options = {}) {
  return new Linnet(await createModule(options));
}
