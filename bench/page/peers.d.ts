// The parts of the peers' interfaces that the benchmark uses. The packages themselves are only there
// once the benchmark was run.

declare module '@tensorflow/tfjs' {
  export interface Tensor {
    readonly shape: readonly number[];
    data(): Promise<Float32Array>;
    dispose(): void;
  }
  type Shape = readonly number[];
  export function setBackend(name: string): Promise<boolean>;
  export function ready(): Promise<void>;
  export function getBackend(): string;
  export function tensor(data: Float32Array, shape: Shape): Tensor;
  export function variable(initial: Tensor, trainable: boolean, name: string): Tensor;
  export function tidy(work: () => Tensor): Tensor;
  export function matMul(a: Tensor, b: Tensor): Tensor;
  export function conv2d(x: Tensor, filter: Tensor, strides: number, pad: 'same'): Tensor;
  export function depthwiseConv2d(x: Tensor, filter: Tensor, strides: number, pad: 'same'): Tensor;
  export function maxPool(x: Tensor, size: number, strides: number, pad: 'valid'): Tensor;
  export function relu(x: Tensor): Tensor;
  export function softmax(x: Tensor, axis: number): Tensor;
  type Moments = { mean: Tensor; variance: Tensor };
  export function moments(x: Tensor, axes: Shape, keepDims: boolean): Moments;
  export function sum(x: Tensor, axis: number): Tensor;
  export function reshape(x: Tensor, shape: Shape): Tensor;
  export function transpose(x: Tensor, perm: Shape): Tensor;
  export function add(a: Tensor, b: Tensor | number): Tensor;
  export function sub(a: Tensor, b: Tensor | number): Tensor;
  export function mul(a: Tensor, b: Tensor | number): Tensor;
  export function rsqrt(x: Tensor): Tensor;
  export function tanh(x: Tensor): Tensor;
  export function abs(x: Tensor): Tensor;
  export const losses: { softmaxCrossEntropy(labels: Tensor, logits: Tensor): Tensor };
  interface Optimizer {
    minimize(loss: () => Tensor, returnCost: true, variables: readonly Tensor[]): Tensor;
  }
  export const train: {
    adam(rate: number, beta1: number, beta2: number, epsilon: number): Optimizer;
  };
}

declare module '@tensorflow/tfjs-backend-webgpu' {}

declare module '@jax-js/jax' {
  /** Every function takes over its arguments; `ref` gives one reference more. */
  export interface Array {
    readonly ref: Array;
    readonly shape: readonly number[];
    data(): Promise<Float32Array>;
    blockUntilReady(): Promise<Array>;
    dispose(): void;
    reshape(shape: readonly number[]): Array;
    add(other: Array | number): Array;
    sub(other: Array | number): Array;
    mul(other: Array | number): Array;
    div(other: Array | number): Array;
    sum(axis?: number): Array;
    max(axis: number | readonly number[]): Array;
    transpose(perm: readonly number[]): Array;
    slice(...index: readonly unknown[]): Array;
  }
  export function init(...devices: string[]): Promise<string[]>;
  export function defaultDevice(device: string): string;
  export function jit<Work>(work: Work): Work;
  type Arrays = Readonly<Record<string, Array>>;
  export function valueAndGrad(loss: (w: Arrays) => Array): (w: Arrays) => readonly [Array, Arrays];
  export const numpy: {
    array(data: Float32Array): Array;
    zeros(shape: readonly number[]): Array;
    sqrt(x: Array): Array;
    square(x: Array): Array;
    matmul(a: Array, b: Array): Array;
    sum(x: Array, axis: number): Array;
    transpose(x: Array, perm: readonly number[]): Array;
    add(a: Array, b: Array | number): Array;
    multiply(a: Array, b: Array | number): Array;
    tanh(x: Array): Array;
    abs(x: Array): Array;
  };
  export const nn: {
    relu(x: Array): Array;
    softmax(x: Array, axis: number): Array;
    logSoftmax(x: Array, axis: number): Array;
    standardize(x: Array, axis: number): Array;
  };
  export const lax: {
    convGeneralDilated(
      x: Array,
      filter: Array,
      strides: readonly number[],
      padding: readonly (readonly number[])[],
      options?: { featureGroupCount: number },
    ): Array;
  };
}
