// SPDX-License-Identifier: Apache-2.0
/** Options with the keys of Linnet's configuration files, such as {epochs: 3, batch: 64, seed: 1}. */
export type Options = Record<string, unknown>;
/** The numbers of an array, one sample after the other. */
export type Data = Float32Array | Uint8Array | Int32Array;

export interface NamedArray {
  data: Data;
  /** All dims, the number of samples first; without it the array has one number a sample. */
  shape?: number[];
  /** The input or target; without it the only one. */
  name?: string;
}

export interface Progress {
  epoch: number;
  epochs: number;
  samplesDone: number;
  samples: number;
  loss: number | null;
  accuracy: number | null;
  validationLoss: number | null;
  validationAccuracy: number | null;
  epochEnded: boolean;
}

export interface Report {
  epochs: number;
  loss: number | null;
  accuracy: number | null;
  validationLoss: number | null;
  validationAccuracy: number | null;
  testLoss: number | null;
  testAccuracy: number | null;
  stoppedEarly: boolean;
  interrupted: boolean;
}

/** Hears of a training's progress; false ends the training. */
export type Listener = (progress: Progress) => boolean | void;

export class LinnetError extends Error {
  code: number;
}

export interface Model {
  readonly inputs: string[];
  readonly outputs: string[];
  readonly parameters: number;
  readonly answers: "classes" | "labels" | "scores" | "values";
  classes: string[];
  inputShape(index?: number): number[];
  outputShape(index?: number): number[];
  predict(inputs: ArrayLike<number>, options?: {probabilities?: boolean}): Float32Array;
  predictRows(text: string, options?: {probabilities?: boolean}): Float32Array;
  train(training: {
    inputs: NamedArray | NamedArray[];
    targets: NamedArray | NamedArray[];
    options?: Options;
    onProgress?: Listener;
  }): Report;
  evaluate(samples: {
    inputs: NamedArray | NamedArray[];
    targets: NamedArray | NamedArray[];
  }): {loss: number; accuracy: number | null};
  save(): Uint8Array;
  free(): void;
}

export interface Linnet {
  readonly version: string;
  open(bytes: Uint8Array | ArrayBuffer, options?: Options): Model;
  create(network: {input: number[]; layers: unknown[]}, options?: Options): Model;
  trainTable(text: string, target: string, options?: Options, onProgress?: Listener): {model: Model; report: Report};
}

export function load(options?: {wasmBinary?: ArrayBuffer | Uint8Array}): Promise<Linnet>;
