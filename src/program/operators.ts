// Written by `src/program/operators.test.ts` from the table of operators;
// `npx vitest run src/program/operators.test.ts -u` renews it.
import type { Dim } from '../core/dim.ts';
import type { DType } from '../core/dtype.ts';
import type { NdArray } from './nd-array.ts';
import type { Operand } from './operand.ts';
import { operator, variadic } from './operator.ts';

/** The absolute value. That of -2^31 is -2^31. */
export const abs: (
  x: Operand,
) => NdArray = /* @__PURE__ */ operator('abs');

/** Minus x. That of -2^31 is -2^31. */
export const neg: (
  x: Operand,
) => NdArray = /* @__PURE__ */ operator('neg');

/** max(x, 0). NaN stays NaN. */
export const relu: (
  x: Operand,
) => NdArray = /* @__PURE__ */ operator('relu');

/** x where x >= 0, else alpha * x. */
export const leakyRelu: (
  x: Operand,
  attributes?: {
    readonly alpha?: number;
  },
) => NdArray = /* @__PURE__ */ operator('leaky_relu');

/** 1 / (1 + exp(-x)). */
export const sigmoid: (
  x: Operand,
) => NdArray = /* @__PURE__ */ operator('sigmoid');

/** The hyperbolic tangent. */
export const tanh: (
  x: Operand,
) => NdArray = /* @__PURE__ */ operator('tanh');

/** e to the power x. */
export const exp: (
  x: Operand,
) => NdArray = /* @__PURE__ */ operator('exp');

/** The natural logarithm; NaN of a negative number. */
export const log: (
  x: Operand,
) => NdArray = /* @__PURE__ */ operator('log');

/** The square root. Of a negative number NaN on the host, undefined on WebGPU. */
export const sqrt: (
  x: Operand,
) => NdArray = /* @__PURE__ */ operator('sqrt');

/** The error function; on WebGPU within 3e-7. */
export const erf: (
  x: Operand,
) => NdArray = /* @__PURE__ */ operator('erf');

/** x times the probability that a normal variable is below x; approximate tanh: by (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2. */
export const gelu: (
  x: Operand,
  attributes?: {
    readonly approximate?: 'none' | 'tanh';
  },
) => NdArray = /* @__PURE__ */ operator('gelu');

/** The largest integer that is not greater than x, as a float. */
export const floor: (
  x: Operand,
) => NdArray = /* @__PURE__ */ operator('floor');

/** min(max(x, min), max). NaN stays NaN. */
export const clip: (
  x: Operand,
  attributes?: {
    readonly min?: number;
    readonly max?: number;
  },
) => NdArray = /* @__PURE__ */ operator('clip');

/** The least integer that is not below x, as a float. */
export const ceil: (
  x: Operand,
) => NdArray = /* @__PURE__ */ operator('ceil');

/** The nearest integer, as a float; halves go to the even one. */
export const round: (
  x: Operand,
) => NdArray = /* @__PURE__ */ operator('round');

/** -1, 0 or 1. NaN stays NaN. */
export const sign: (
  x: Operand,
) => NdArray = /* @__PURE__ */ operator('sign');

/** True where x is NaN. */
export const isNan: (
  x: Operand,
) => NdArray = /* @__PURE__ */ operator('is_nan');

/** True where x is plus infinity. */
export const isPositiveInfinity: (
  x: Operand,
) => NdArray = /* @__PURE__ */ operator('is_positive_infinity');

/** The sine, of angles of any size. */
export const sin: (
  x: Operand,
) => NdArray = /* @__PURE__ */ operator('sin');

/** The cosine, of angles of any size. */
export const cos: (
  x: Operand,
) => NdArray = /* @__PURE__ */ operator('cos');

/** The tangent, of angles of any size. */
export const tan: (
  x: Operand,
) => NdArray = /* @__PURE__ */ operator('tan');

/** The arc sine; NaN outside of [-1, 1]. */
export const asin: (
  x: Operand,
) => NdArray = /* @__PURE__ */ operator('asin');

/** The arc cosine; NaN outside of [-1, 1]. */
export const acos: (
  x: Operand,
) => NdArray = /* @__PURE__ */ operator('acos');

/** The arc tangent. */
export const atan: (
  x: Operand,
) => NdArray = /* @__PURE__ */ operator('atan');

/** The hyperbolic sine. */
export const sinh: (
  x: Operand,
) => NdArray = /* @__PURE__ */ operator('sinh');

/** The hyperbolic cosine. */
export const cosh: (
  x: Operand,
) => NdArray = /* @__PURE__ */ operator('cosh');

/** The area hyperbolic sine. */
export const asinh: (
  x: Operand,
) => NdArray = /* @__PURE__ */ operator('asinh');

/** The area hyperbolic cosine; NaN below 1. */
export const acosh: (
  x: Operand,
) => NdArray = /* @__PURE__ */ operator('acosh');

/** The area hyperbolic tangent; NaN outside of [-1, 1]. */
export const atanh: (
  x: Operand,
) => NdArray = /* @__PURE__ */ operator('atanh');

/** log(1 + x), also for small x; NaN below -1. */
export const log1p: (
  x: Operand,
) => NdArray = /* @__PURE__ */ operator('log1p');

/** a + b. Integers wrap. */
export const add: (
  a: Operand,
  b: Operand,
) => NdArray = /* @__PURE__ */ operator('add');

/** a - b. Integers wrap. */
export const sub: (
  a: Operand,
  b: Operand,
) => NdArray = /* @__PURE__ */ operator('sub');

/** a * b. Integers wrap. */
export const mul: (
  a: Operand,
  b: Operand,
) => NdArray = /* @__PURE__ */ operator('mul');

/** a / b. Integers round towards zero; a / 0 is a, and -2^31 / -1 is -2^31, as WGSL has it. */
export const div: (
  a: Operand,
  b: Operand,
) => NdArray = /* @__PURE__ */ operator('div');

/** a to the power b. A negative float base wants an integral exponent (else NaN); an integer to a negative power is 0 unless the base is 1 or -1. */
export const pow: (
  a: Operand,
  b: Operand,
) => NdArray = /* @__PURE__ */ operator('pow');

/** The greater of a and b; NaN where either is. */
export const maximum: (
  a: Operand,
  b: Operand,
) => NdArray = /* @__PURE__ */ operator('maximum');

/** The lesser of a and b; NaN where either is. */
export const minimum: (
  a: Operand,
  b: Operand,
) => NdArray = /* @__PURE__ */ operator('minimum');

/** The remainder of a / b with the sign of b, or with that of a when fmod. Integers: 0 where b is 0. */
export const mod: (
  a: Operand,
  b: Operand,
  attributes?: {
    readonly fmod?: boolean;
  },
) => NdArray = /* @__PURE__ */ operator('mod');

/** The bits that a and b share; of bools, whether both hold. */
export const bitwiseAnd: (
  a: Operand,
  b: Operand,
) => NdArray = /* @__PURE__ */ operator('bitwise_and');

/** The bits of a or b; of bools, whether one holds. */
export const bitwiseOr: (
  a: Operand,
  b: Operand,
) => NdArray = /* @__PURE__ */ operator('bitwise_or');

/** The bits in which a and b differ; of bools, whether they differ. */
export const bitwiseXor: (
  a: Operand,
  b: Operand,
) => NdArray = /* @__PURE__ */ operator('bitwise_xor');

/** Every bit of an integer inverted. */
export const bitwiseNot: (
  x: Operand,
) => NdArray = /* @__PURE__ */ operator('bitwise_not');

/** The bits of a moved to the left by b places; 0 from the width of a on. */
export const shiftLeft: (
  a: Operand,
  b: Operand,
) => NdArray = /* @__PURE__ */ operator('shift_left');

/** The bits of a moved to the right by b places; 0 from the width of a on. */
export const shiftRight: (
  a: Operand,
  b: Operand,
) => NdArray = /* @__PURE__ */ operator('shift_right');

/** True where a equals b. */
export const equal: (
  a: Operand,
  b: Operand,
) => NdArray = /* @__PURE__ */ operator('equal');

/** True where a < b. */
export const less: (
  a: Operand,
  b: Operand,
) => NdArray = /* @__PURE__ */ operator('less');

/** True where a <= b. */
export const lessEqual: (
  a: Operand,
  b: Operand,
) => NdArray = /* @__PURE__ */ operator('less_equal');

/** True where a > b. */
export const greater: (
  a: Operand,
  b: Operand,
) => NdArray = /* @__PURE__ */ operator('greater');

/** True where a >= b. */
export const greaterEqual: (
  a: Operand,
  b: Operand,
) => NdArray = /* @__PURE__ */ operator('greater_equal');

/** True where x is false. */
export const logicalNot: (
  x: Operand,
) => NdArray = /* @__PURE__ */ operator('logical_not');

/** x where the condition holds, else y, all three broadcast. */
export const where: (
  condition: Operand,
  x: Operand,
  y: Operand,
) => NdArray = /* @__PURE__ */ operator('where');

/** x as another dtype. Floats to integers round towards zero and saturate at the last float inside the range, NaN gives 0; to less than 32 bits they go by way of int32. Integers keep their low bits; to bool: whether x is not 0. float8 saturates or overflows as `saturate` says, float8e8m0 rounds by `round_mode`. */
export const cast: (
  x: Operand,
  attributes: {
    readonly to: DType;
    readonly saturate?: boolean;
    readonly roundMode?: 'up' | 'down' | 'nearest';
  },
) => NdArray = /* @__PURE__ */ operator('cast');

/** The bits of x as another dtype of the same size. */
export const bitcast: (
  x: Operand,
  attributes: {
    readonly to: DType;
  },
) => NdArray = /* @__PURE__ */ operator('bitcast');

/** The first word, or the second one, that Threefry-2x32 of 20 rounds makes of a counter under a key, all of two words (Salmon et al. 2011). */
export const threefry: (
  key: Operand,
  moreKey: Operand,
  counter: Operand,
  moreCounter: Operand,
  attributes?: {
    readonly second?: boolean;
  },
) => NdArray = /* @__PURE__ */ operator('threefry');

/** The matrix product of the last two axes, batch dimensions broadcast; a vector is a row on the left and a column on the right. */
export const matmul: (
  a: Operand,
  b: Operand,
) => NdArray = /* @__PURE__ */ operator('matmul');

/** alpha * op(a) op(b) + beta * c for matrices, where op transposes if asked. */
export const gemm: (
  a: Operand,
  b: Operand,
  c?: Operand,
  attributes?: {
    readonly alpha?: number;
    readonly beta?: number;
    readonly transA?: boolean;
    readonly transB?: boolean;
  },
) => NdArray = /* @__PURE__ */ operator('gemm');

/** The determinants of the square matrices of the last two axes; 1 for empty ones. */
export const det: (
  x: Operand,
) => NdArray = /* @__PURE__ */ operator('det');

/** Two-dimensional convolution: x (N, C, H, W), w (K, C / groups, R, S), bias (K). Pads are top, left, bottom, right. */
export const conv2d: (
  x: Operand,
  w: Operand,
  bias?: Operand,
  attributes?: {
    readonly strides?: readonly [number, number];
    readonly pads?: readonly [Dim, Dim, Dim, Dim];
    readonly dilations?: readonly [number, number];
    readonly groups?: number;
  },
) => NdArray = /* @__PURE__ */ operator('conv2d');

/** Three-dimensional convolution: x (N, C, D, H, W), w (K, C / groups, Q, R, S), bias (K). Pads are all begins, then all ends. */
export const conv3d: (
  x: Operand,
  w: Operand,
  bias?: Operand,
  attributes?: {
    readonly strides?: readonly number[];
    readonly pads?: readonly Dim[];
    readonly dilations?: readonly number[];
    readonly groups?: number;
  },
) => NdArray = /* @__PURE__ */ operator('conv3d');

/** The transpose of a convolution over one to three axes: x (N, C, ...), w (C, K / groups, ...), bias (K). Pads are what is cut off at the begins; size is the spatial shape of the result. */
export const convTranspose: (
  x: Operand,
  w: Operand,
  bias: Operand | undefined,
  attributes: {
    readonly size: readonly Dim[];
    readonly strides?: readonly number[];
    readonly pads?: readonly Dim[];
    readonly dilations?: readonly number[];
    readonly groups?: number;
  },
) => NdArray = /* @__PURE__ */ operator('conv_transpose');

/** Two-dimensional convolution with moved taps: x (N, C, H, W), w (K, C / groups, R, S), offset (N, offset_groups * R * S * 2, ...), mask (N, offset_groups * R * S, ...). */
export const deformConv: (
  x: Operand,
  w: Operand,
  offset: Operand,
  mask?: Operand,
  attributes?: {
    readonly strides?: readonly number[];
    readonly pads?: readonly Dim[];
    readonly dilations?: readonly number[];
    readonly groups?: number;
    readonly offsetGroups?: number;
  },
) => NdArray = /* @__PURE__ */ operator('deform_conv');

/** The maxima of the cells of a grid over regions (R, 5) of x (N, C, H, W): (R, C, ...size). A cell outside of the image gives 0. */
export const maxRoiPool: (
  x: Operand,
  rois: Operand,
  attributes: {
    readonly size: readonly [number, number];
    readonly scale?: number;
  },
) => NdArray = /* @__PURE__ */ operator('max_roi_pool');

/** The maximum of a window over one to three axes. NaN stays NaN on the host. */
export const maxPool: (
  x: Operand,
  attributes: {
    readonly kernel: readonly number[];
    readonly strides?: readonly number[];
    readonly pads?: readonly Dim[];
    readonly dilations?: readonly number[];
    readonly ceilMode?: boolean;
  },
) => NdArray = /* @__PURE__ */ operator('max_pool');

/** Where the maximum of each window stands, counted over all of x; of equal ones the first. */
export const maxPoolIndices: (
  x: Operand,
  attributes: {
    readonly kernel: readonly number[];
    readonly strides?: readonly number[];
    readonly pads?: readonly Dim[];
    readonly dilations?: readonly number[];
    readonly ceilMode?: boolean;
    readonly columnMajor?: boolean;
  },
) => NdArray = /* @__PURE__ */ operator('max_pool_indices');

/** The mean of a window over one to three axes, padding counted if asked. */
export const avgPool: (
  x: Operand,
  attributes: {
    readonly kernel: readonly number[];
    readonly strides?: readonly number[];
    readonly pads?: readonly Dim[];
    readonly dilations?: readonly number[];
    readonly ceilMode?: boolean;
    readonly countIncludePad?: boolean;
  },
) => NdArray = /* @__PURE__ */ operator('avg_pool');

/** The sum of a window over one to three axes. */
export const sumPool: (
  x: Operand,
  attributes: {
    readonly kernel: readonly number[];
    readonly strides?: readonly number[];
    readonly pads?: readonly Dim[];
    readonly dilations?: readonly number[];
    readonly ceilMode?: boolean;
  },
) => NdArray = /* @__PURE__ */ operator('sum_pool');

/** The maximum of each channel: (N, C, ...) to (N, C, 1, ...). */
export const globalMaxPool: (
  x: Operand,
) => NdArray = /* @__PURE__ */ operator('global_max_pool');

/** The mean of each channel: (N, C, ...) to (N, C, 1, ...). */
export const globalAvgPool: (
  x: Operand,
) => NdArray = /* @__PURE__ */ operator('global_avg_pool');

/** (x - mean) / sqrt(var + epsilon) * scale + bias, with one of each per channel (axis 1). */
export const batchNorm: (
  x: Operand,
  scale: Operand,
  bias: Operand,
  mean: Operand,
  variance: Operand,
  attributes?: {
    readonly epsilon?: number;
  },
) => NdArray = /* @__PURE__ */ operator('batch_norm');

/** (x - mean) / sqrt(variance + epsilon), both along the last axis; the variance is the mean of squares. */
export const layerNorm: (
  x: Operand,
  attributes?: {
    readonly epsilon?: number;
  },
) => NdArray = /* @__PURE__ */ operator('layer_norm');

/** x / sqrt(mean of squares + epsilon) along the last axis. */
export const rmsNorm: (
  x: Operand,
  attributes?: {
    readonly epsilon?: number;
  },
) => NdArray = /* @__PURE__ */ operator('rms_norm');

/** exp(x) / sum of exp(x) along an axis. */
export const softmax: (
  x: Operand,
  attributes?: {
    readonly axis?: number;
  },
) => NdArray = /* @__PURE__ */ operator('softmax');

/** The logarithm of softmax along an axis. */
export const logSoftmax: (
  x: Operand,
  attributes?: {
    readonly axis?: number;
  },
) => NdArray = /* @__PURE__ */ operator('log_softmax');

/** A recurrent cell over x (T, B, D * gates * H), weights r (D, H, gates * H) and initial states (states * D, B, H): its outputs (T, D, B, H), then its last states. vectors are peepholes (D, 3 * H), or of a GRU the recurrent bias within the reset gate. */
export const recurrent: (
  x: Operand,
  r: Operand,
  initial: Operand,
  vectors: Operand | undefined,
  lengths: Operand | undefined,
  attributes: {
    readonly cell: 'rnn' | 'gru' | 'lstm';
    readonly direction?: 'forward' | 'reverse' | 'bidirectional';
    readonly activations: readonly string[];
    readonly alphas: readonly number[];
    readonly betas: readonly number[];
    readonly clip?: number;
    readonly linearBeforeReset?: boolean;
    readonly inputForget?: boolean;
  },
) => NdArray = /* @__PURE__ */ operator('recurrent');

/** softmax(scale query keyᵀ) value, of (B, heads, Q, D), (B, kv_heads, K, D), (B, kv_heads, K, V) and first (B): query i of b stands at position first[b] + i and sees keys up to it, with window = w only the last w of them; heads in a row share keys. Keys and values may be float16, or int8 with scales (B, kv_heads, K, 1). With softcap, scores become softcap tanh(score / softcap); with keys = [n], there are n. Where nothing is seen, the result is 0. */
export const cachedAttention: (
  query: Operand,
  key: Operand,
  value: Operand,
  first: Operand,
  keyScale?: Operand,
  valueScale?: Operand,
  attributes?: {
    readonly scale?: number;
    readonly softcap?: number;
    readonly window?: number;
    readonly keys?: readonly Dim[];
  },
) => NdArray = /* @__PURE__ */ operator('cached_attention');

/** At each position the state (B, kv_heads, K, V) is multiplied by gate, gets the outer product of key and value minus its product with erase, and is multiplied by query: the results (B, T, heads, V), then the last state, as one vector. */
export const linearAttention: (
  query: Operand,
  key: Operand,
  value: Operand,
  initial: Operand,
  gate: Operand | undefined,
  erase: Operand | undefined,
  attributes: {
    readonly heads: number;
    readonly kvHeads: number;
  },
) => NdArray = /* @__PURE__ */ operator('linear_attention');

/** softmax(scale query keyᵀ + bias) value, of (B, heads, Q, D), (B, kv_heads, K, D), (B, kv_heads, K, V) and a shape that broadcasts to (B, heads, Q, K); heads in a row share keys. With softcap, scores become softcap tanh(score / softcap) before the bias; with causal = [p], query i sees keys up to i + p; with keys = [n], keys and values behind the first n do not count. Where nothing is seen, the result is 0. */
export const scaledDotProductAttention: (
  query: Operand,
  key: Operand,
  value: Operand,
  bias?: Operand,
  attributes?: {
    readonly scale?: number;
    readonly softcap?: number;
    readonly causal?: readonly Dim[];
    readonly keys?: readonly Dim[];
  },
) => NdArray = /* @__PURE__ */ operator('scaled_dot_product_attention');

/** The sum over axes (all when none are given); 0 over no elements. Integers wrap. */
export const reduceSum: (
  x: Operand,
  attributes?: {
    readonly axes?: readonly number[];
    readonly keepdims?: boolean;
  },
) => NdArray = /* @__PURE__ */ operator('reduce_sum');

/** The mean over axes (all when none are given); NaN over no elements. That of integers is their sum divided, towards zero. */
export const reduceMean: (
  x: Operand,
  attributes?: {
    readonly axes?: readonly number[];
    readonly keepdims?: boolean;
  },
) => NdArray = /* @__PURE__ */ operator('reduce_mean');

/** The product over axes (all when none are given); 1 over no elements. Integers wrap. */
export const reduceProd: (
  x: Operand,
  attributes?: {
    readonly axes?: readonly number[];
    readonly keepdims?: boolean;
  },
) => NdArray = /* @__PURE__ */ operator('reduce_prod');

/** The maximum over axes (all when none are given); minus infinity or the least integer over no elements. NaN stays NaN. */
export const reduceMax: (
  x: Operand,
  attributes?: {
    readonly axes?: readonly number[];
    readonly keepdims?: boolean;
  },
) => NdArray = /* @__PURE__ */ operator('reduce_max');

/** The minimum over axes (all when none are given); infinity or the greatest integer over no elements. NaN stays NaN. */
export const reduceMin: (
  x: Operand,
  attributes?: {
    readonly axes?: readonly number[];
    readonly keepdims?: boolean;
  },
) => NdArray = /* @__PURE__ */ operator('reduce_min');

/** The place of the greatest element along an axis, which the result keeps with size 1: the first of equal ones, or the last. NaN goes before all else. */
export const argMax: (
  x: Operand,
  attributes?: {
    readonly axis?: number;
    readonly selectLast?: boolean;
  },
) => NdArray = /* @__PURE__ */ operator('arg_max');

/** The place of the least element along an axis, which the result keeps with size 1: the first of equal ones, or the last. NaN goes before all else. */
export const argMin: (
  x: Operand,
  attributes?: {
    readonly axis?: number;
    readonly selectLast?: boolean;
  },
) => NdArray = /* @__PURE__ */ operator('arg_min');

/** The sum, or the product, of the elements along an axis up to each: without itself when exclusive, from the end when reverse. Integers wrap. */
export const cumulative: (
  x: Operand,
  attributes?: {
    readonly axis?: number;
    readonly product?: boolean;
    readonly exclusive?: boolean;
    readonly reverse?: boolean;
  },
) => NdArray = /* @__PURE__ */ operator('cumulative');

/** Axes in another order: axis i of the result is axis perm[i] of x. */
export const transpose: (
  x: Operand,
  attributes: {
    readonly perm: readonly number[];
  },
) => NdArray = /* @__PURE__ */ operator('transpose');

/** The same elements in the same order under another shape. */
export const reshape: (
  x: Operand,
  attributes: {
    readonly shape: readonly Dim[];
  },
) => NdArray = /* @__PURE__ */ operator('reshape');

/** x repeated along axes of size 1 and along new leading axes. */
export const broadcastTo: (
  x: Operand,
  attributes: {
    readonly shape: readonly Dim[];
  },
) => NdArray = /* @__PURE__ */ operator('broadcast_to');

/** Tensors one after the other along an axis; all other dimensions are equal. */
export const concat: (
  x: readonly Operand[],
  attributes: {
    readonly axis: number;
  },
) => NdArray = /* @__PURE__ */ variadic('concat');

/** Every step-th element from start up to end, along every axis. Negative starts and ends count from the end; those beyond the ends are clamped, but for a part between symbols that has one length for all of them: it has to lie inside. Steps may be negative. */
export const slice: (
  x: Operand,
  attributes: {
    readonly starts: readonly Dim[];
    readonly ends: readonly Dim[];
    readonly steps?: readonly number[];
  },
) => NdArray = /* @__PURE__ */ operator('slice');

/** For each index, the slice of x at that place of the axis. The axis gives way to the axes of the indices. Negative indices count from the end; where an index lies outside, elements are 0. */
export const gather: (
  x: Operand,
  indices: Operand,
  attributes?: {
    readonly axis?: number;
  },
) => NdArray = /* @__PURE__ */ operator('gather');

/** Elements added before and after each axis, constant, reflected without repeating the edge, repeating the edge, or from the other end. Negative numbers take away first. */
export const pad: (
  x: Operand,
  attributes: {
    readonly pads: readonly Dim[];
    readonly mode?: 'constant' | 'reflect' | 'edge' | 'wrap';
    readonly value?: number;
  },
) => NdArray = /* @__PURE__ */ operator('pad');

/** A tensor whose elements all equal value. */
export const full: (
  attributes: {
    readonly shape: readonly Dim[];
    readonly value: number;
    readonly dtype?: 'float32' | 'float16' | 'int8' | 'uint8' | 'int16' | 'uint16' | 'int32' | 'uint32' | 'int64' | 'uint64' | 'bool' | 'float64';
  },
) => NdArray = /* @__PURE__ */ operator('full');

/** x repeated as a whole, repeats[i] times along axis i. */
export const tile: (
  x: Operand,
  attributes: {
    readonly repeats: readonly Dim[];
  },
) => NdArray = /* @__PURE__ */ operator('tile');

/** The result of WGSL that the program brings; on the host, of the alternative. */
export const wgslKernel: (
  inputs: readonly Operand[],
  attributes: {
    readonly name?: string;
    readonly code: string;
    readonly shape: readonly Dim[];
    readonly dtype: DType;
    readonly grid: readonly [Dim, Dim, Dim];
    readonly workgroup: readonly [number, number, number];
    readonly params?: readonly string[];
    readonly sizes?: readonly Dim[];
    readonly alternative?: boolean;
  },
) => NdArray = /* @__PURE__ */ variadic('wgsl_kernel');

/** For each index, the element of x at its own coordinates with the index in place of the axis'. Negative indices count from the end; where an index lies outside, elements are 0. */
export const gatherElements: (
  x: Operand,
  indices: Operand,
  attributes?: {
    readonly axis?: number;
  },
) => NdArray = /* @__PURE__ */ operator('gather_elements');

/** For each tuple along the last axis of the indices, the slice of x there. The first batch_dims axes belong to both inputs. Negative indices count from the end; where one lies outside, elements are 0. */
export const gatherNd: (
  x: Operand,
  indices: Operand,
  attributes?: {
    readonly batchDims?: number;
  },
) => NdArray = /* @__PURE__ */ operator('gather_nd');

/** Along a new axis of size depth, the second value at the index and the first everywhere else. Negative indices count from the end; an index outside is nowhere. */
export const oneHot: (
  indices: Operand,
  values: Operand,
  attributes: {
    readonly depth: readonly [Dim];
    readonly axis?: number;
  },
) => NdArray = /* @__PURE__ */ operator('one_hot');

/** The first lengths[i] elements along time_axis of slice i of batch_axis in reverse order, the others as they are. Lengths beyond the axis count as its size. */
export const reverseSequence: (
  x: Operand,
  lengths: Operand,
  attributes?: {
    readonly batchAxis?: number;
    readonly timeAxis?: number;
  },
) => NdArray = /* @__PURE__ */ operator('reverse_sequence');

/** x with updates written along an axis, in slice i of the first axis from begins[i] on. What goes beyond the end is dropped, or comes around when circular. */
export const tensorScatter: (
  x: Operand,
  updates: Operand,
  begins: Operand,
  attributes?: {
    readonly axis?: number;
    readonly circular?: boolean;
  },
) => NdArray = /* @__PURE__ */ operator('tensor_scatter');

/** The upper or lower triangle of matrices with the diagonal k above the main one, zeros elsewhere. */
export const trilu: (
  x: Operand,
  k: Operand,
  attributes?: {
    readonly upper?: boolean;
  },
) => NdArray = /* @__PURE__ */ operator('trilu');

/** The indices, of which lower <= index < below or index = except holds for each; one bound for all, or one for each place along the last axis. Where it does not, the run stops with an error of `where`. */
export const checkIndices: (
  indices: Operand,
  attributes: {
    readonly lower: readonly Dim[];
    readonly below: readonly Dim[];
    readonly except?: number;
    readonly where?: string;
  },
) => NdArray = /* @__PURE__ */ operator('check_indices');

/** x with each update put at its own coordinates, with an index in place of the axis: of several for one place the last, or all combined in their order. Negative indices count from the end; updates outside are dropped. */
export const scatterElements: (
  x: Operand,
  indices: Operand,
  updates: Operand,
  attributes?: {
    readonly axis?: number;
    readonly reduction?: 'none' | 'add' | 'mul' | 'max' | 'min';
  },
) => NdArray = /* @__PURE__ */ operator('scatter_elements');

/** x with a slice put at each tuple along the last axis of the indices: of several for one place the last, or all combined in their order. Negative indices count from the end; updates outside are dropped. */
export const scatterNd: (
  x: Operand,
  indices: Operand,
  updates: Operand,
  attributes?: {
    readonly reduction?: 'none' | 'add' | 'mul' | 'max' | 'min';
  },
) => NdArray = /* @__PURE__ */ operator('scatter_nd');

/** Indices along an axis of its k largest or smallest elements, the first of them first; of equal ones the lower index first. NaN is larger than any number. */
export const topK: (
  x: Operand,
  attributes: {
    readonly k: readonly [Dim];
    readonly axis?: number;
    readonly largest?: boolean;
  },
) => NdArray = /* @__PURE__ */ operator('top_k');

/** Sums of weighted neighbours along an axis of x. A row of the table (size, 1 + taps) says for an element where they begin, and their weights; where the begin is negative, the first weight is the element. */
export const resample: (
  x: Operand,
  table: Operand,
  attributes: {
    readonly axis: number;
  },
) => NdArray = /* @__PURE__ */ operator('resample');

/** Each element of x repeats[i] times in a row along axis i. */
export const repeat: (
  x: Operand,
  attributes: {
    readonly repeats: readonly number[];
  },
) => NdArray = /* @__PURE__ */ operator('repeat');

/** Samples of x (N, C, ...sizes) at the places that grid (N, ...points, rank) tells, from -1 to 1, the last axis first: (N, C, ...points). */
export const gridSample: (
  x: Operand,
  grid: Operand,
  attributes?: {
    readonly mode?: 'nearest' | 'linear' | 'cubic';
    readonly padding?: 'zeros' | 'border' | 'reflection';
    readonly alignCorners?: boolean;
  },
) => NdArray = /* @__PURE__ */ operator('grid_sample');

/** Means or maxima of samples between pixels, for the cells of a grid over regions (R, 4) of images of x (N, C, H, W): (R, C, ...size). */
export const roiAlign: (
  x: Operand,
  rois: Operand,
  images: Operand,
  attributes: {
    readonly size: readonly [number, number];
    readonly scale?: number;
    readonly sampling?: number;
    readonly max?: boolean;
    readonly halfPixel?: boolean;
  },
) => NdArray = /* @__PURE__ */ operator('roi_align');

/** The discrete Fourier transform of x (..., 1) or complex (..., 2) along an axis, cut or with zeros up to the length of twiddles (length, 2). One-sided: the first half of the spectrum and its middle; the inverse of that is real, (..., 1). */
export const dft: (
  x: Operand,
  twiddles: Operand,
  attributes: {
    readonly axis: number;
    readonly inverse?: boolean;
    readonly onesided?: boolean;
  },
) => NdArray = /* @__PURE__ */ operator('dft');

/** Pieces of size elements, every step elements of an axis: the axis becomes two, the pieces and what is in them. What is left at the end is dropped. */
export const frames: (
  x: Operand,
  attributes: {
    readonly axis: number;
    readonly size: readonly [Dim];
    readonly step: readonly [Dim];
  },
) => NdArray = /* @__PURE__ */ operator('frames');

/** x / scale, a float32, rounded to the nearest integer, halves to the even one, plus the zero point, saturated to the dtype of the zero point. */
export const quantize: (
  x: Operand,
  scale: Operand,
  zeroPoint: Operand,
) => NdArray = /* @__PURE__ */ operator('quantize');

/** (x - zero_point) * scale, in the dtype of the scale. */
export const dequantize: (
  x: Operand,
  scale: Operand,
  zeroPoint: Operand,
) => NdArray = /* @__PURE__ */ operator('dequantize');

/** The matrix product of bytes less their zero points, exact in int32, batch dimensions broadcast. Zero points of a are one or one for each row, those of b one or one for each column. */
export const matmulInteger: (
  a: Operand,
  b: Operand,
  aZeroPoint?: Operand,
  bZeroPoint?: Operand,
) => NdArray = /* @__PURE__ */ operator('matmul_integer');

/** Convolution of bytes less their zero points, exact in int32: x (N, C, ...), w (K, C / groups, ...), with two or three spatial axes. Zero points are one for all, or one for each channel of x and each output channel of w. Padding stands for zero. Pads are all begins, then all ends. */
export const convInteger: (
  x: Operand,
  w: Operand,
  xZeroPoint?: Operand,
  wZeroPoint?: Operand,
  attributes?: {
    readonly strides?: readonly number[];
    readonly pads?: readonly Dim[];
    readonly dilations?: readonly number[];
    readonly groups?: number;
  },
) => NdArray = /* @__PURE__ */ operator('conv_integer');

/** a (..., k) times the transpose of a matrix of codes of 2, 4 or 8 bits in blocks along k: b (n, blocks, bytes) holds codes from the low bits up, (code - zero) * scale is an element. scales (n, blocks); zeros (n, blocks) floats, or (n, bytes) packed as b is, else half the range. */
export const matmulNbits: (
  a: Operand,
  b: Operand,
  scales: Operand,
  zeros?: Operand,
  attributes?: {
    readonly bits?: number;
    readonly blockSize?: number;
  },
) => NdArray = /* @__PURE__ */ operator('matmul_nbits');

/** Each row of a (..., k) times the transpose of the matrix that its index (...) names, of codes as matmul_nbits has them: b (matrices, n, blocks, bytes), scales (matrices, n, blocks), zeros likewise. An index outside names the nearest matrix. */
export const gatherMatmulNbits: (
  a: Operand,
  b: Operand,
  scales: Operand,
  indices: Operand,
  zeros?: Operand,
  attributes?: {
    readonly bits?: number;
    readonly blockSize?: number;
  },
) => NdArray = /* @__PURE__ */ operator('gather_matmul_nbits');

/** Coordinates of the elements that are not zero, one column each, as int64 (rank, ?). */
export const nonzero: (
  x: Operand,
) => NdArray = /* @__PURE__ */ operator('nonzero');

/** For boxes (batch, n, 4) and scores (batch, classes, n) the chosen (batch, class, box) as int64 (?, 3): at most `most` a class by falling score above least_score, none whose intersection over union with one chosen before is above most_overlap. */
export const nonMaxSuppression: (
  boxes: Operand,
  scores: Operand,
  most: Operand,
  mostOverlap: Operand,
  leastScore: Operand,
  attributes?: {
    readonly centered?: boolean;
  },
) => NdArray = /* @__PURE__ */ operator('non_max_suppression');

/** Where each different slice along axis comes first, in ascending order of slices or, not sorted, of positions. */
export const uniqueIndices: (
  x: Operand,
  attributes?: {
    readonly axis?: number;
    readonly sorted?: boolean;
  },
) => NdArray = /* @__PURE__ */ operator('unique_indices');

/** How often each different slice along axis occurs, in the order of unique_indices. */
export const uniqueCounts: (
  x: Operand,
  attributes?: {
    readonly axis?: number;
    readonly sorted?: boolean;
  },
) => NdArray = /* @__PURE__ */ operator('unique_counts');

/** For each slice along axis, which of the different ones it is. */
export const uniqueInverse: (
  x: Operand,
  attributes?: {
    readonly axis?: number;
    readonly sorted?: boolean;
  },
) => NdArray = /* @__PURE__ */ operator('unique_inverse');

/** Numbers from start on by delta, those before limit; all three are single elements. */
export const range: (
  start: Operand,
  limit: Operand,
  delta: Operand,
  attributes?: {
    readonly where?: string;
  },
) => NdArray = /* @__PURE__ */ operator('range');

/** The matrix from the spectrum of a transform of dft_length to mel_bins bins between two frequencies: float32 (dft_length / 2 + 1, mel_bins). */
export const melWeights: (
  melBins: Operand,
  dftLength: Operand,
  sampleRate: Operand,
  lower: Operand,
  upper: Operand,
  attributes?: {
    readonly where?: string;
  },
) => NdArray = /* @__PURE__ */ operator('mel_weights');

/** Integers from 0 up as the dimensions of a tensor without elements, (0, ?, …). */
export const sizes: (
  integers: Operand,
  attributes?: {
    readonly dims?: readonly Dim[];
    readonly where?: string;
  },
) => NdArray = /* @__PURE__ */ operator('sizes');

/** The sizes that ONNX Reshape means for data of sizes dims: 0 keeps a size (unless allowzero), -1 is what is left. */
export const reshapeSizes: (
  integers: Operand,
  attributes?: {
    readonly dims?: readonly Dim[];
    readonly where?: string;
    readonly allowzero?: boolean;
  },
) => NdArray = /* @__PURE__ */ operator('reshape_sizes');

/** The sizes of data of sizes dims and of the given ones, broadcast against each other. */
export const broadcastSizes: (
  integers: Operand,
  attributes?: {
    readonly dims?: readonly Dim[];
    readonly where?: string;
  },
) => NdArray = /* @__PURE__ */ operator('broadcast_sizes');

/** dims with a 1 at each of the given axes of the result. */
export const unsqueezeSizes: (
  integers: Operand,
  attributes?: {
    readonly dims?: readonly Dim[];
    readonly where?: string;
  },
) => NdArray = /* @__PURE__ */ operator('unsqueeze_sizes');

/** dims without the given axes, whose size has to be 1. */
export const squeezeSizes: (
  integers: Operand,
  attributes?: {
    readonly dims?: readonly Dim[];
    readonly where?: string;
  },
) => NdArray = /* @__PURE__ */ operator('squeeze_sizes');

/** For each axis of data of sizes dims two sizes, its own and 1: the other way round where it is one of the axes that a reduction takes. Then the sizes of its result. */
export const reduceSizes: (
  integers: Operand,
  attributes?: {
    readonly dims?: readonly Dim[];
    readonly where?: string;
    readonly keepdims?: boolean;
  },
) => NdArray = /* @__PURE__ */ operator('reduce_sizes');

/** The number of elements of data of sizes dims before an axis, along it and after it. */
export const axisSizes: (
  integers: Operand,
  attributes?: {
    readonly dims?: readonly Dim[];
    readonly where?: string;
  },
) => NdArray = /* @__PURE__ */ operator('axis_sizes');

/** dims with another size, the second integer, along the axis that the first names. */
export const resizedAxisSizes: (
  integers: Operand,
  attributes?: {
    readonly dims?: readonly Dim[];
    readonly where?: string;
  },
) => NdArray = /* @__PURE__ */ operator('resized_axis_sizes');

/** How far each integer is below zero, then how far each is above. */
export const signedSizes: (
  integers: Operand,
  attributes?: {
    readonly dims?: readonly Dim[];
    readonly where?: string;
  },
) => NdArray = /* @__PURE__ */ operator('signed_sizes');

/** As signed_sizes, what ONNX Pad adds before each axis of dims, then after each. The integers are those for some axes, followed by these axes. */
export const padSizes: (
  integers: Operand,
  attributes?: {
    readonly dims?: readonly Dim[];
    readonly where?: string;
  },
) => NdArray = /* @__PURE__ */ operator('pad_sizes');

/** The positions that a slice takes of axis, for data of sizes dims; starts, ends, axes and steps as ONNX Slice has them. */
export const sliceIndices: (
  starts: Operand,
  ends: Operand,
  axes: Operand,
  steps: Operand,
  attributes: {
    readonly axis: number;
    readonly dims: readonly Dim[];
    readonly where?: string;
  },
) => NdArray = /* @__PURE__ */ operator('slice_indices');

/** Dimensions as the elements of a vector, int64. */
export const dimsTensor: (
  attributes: {
    readonly dims: readonly Dim[];
  },
) => NdArray = /* @__PURE__ */ operator('dims_tensor');

/** size[0] integers from start[0] on by step, int64. */
export const arange: (
  attributes: {
    readonly start: readonly [Dim];
    readonly size: readonly [Dim];
    readonly step?: number;
  },
) => NdArray = /* @__PURE__ */ operator('arange');

/** For each element along an axis resized from sizes[0] to sizes[1]: the index of the nearest one, int32 (sizes[1]); or, to be interpolated, the index of the first of taps elements and their weights, float32 (sizes[1], 1 + taps). Index -1 stands for the extrapolation value, which is the first weight then. The scale is an input, else an attribute, where they are not 0, or the least (largest) of ratios, each of two dimensions. */
export const resizeTable: (
  scale: Operand | undefined,
  roi: Operand | undefined,
  attributes: {
    readonly sizes: readonly [Dim, Dim];
    readonly taps?: readonly [Dim];
    readonly scale?: number;
    readonly ratios?: readonly Dim[];
    readonly largest?: boolean;
    readonly roi?: readonly [number, number];
    readonly mode?: 'nearest' | 'linear' | 'cubic';
    readonly rounding?: 'round_prefer_floor' | 'round_prefer_ceil' | 'floor' | 'ceil';
    readonly coordinates?: 'half_pixel' | 'half_pixel_symmetric' | 'pytorch_half_pixel' | 'align_corners' | 'asymmetric' | 'tf_half_pixel_for_nn' | 'tf_crop_and_resize';
    readonly antialias?: boolean;
    readonly excludeOutside?: boolean;
    readonly cubicCoeffA?: number;
    readonly extrapolation?: number;
  },
) => NdArray = /* @__PURE__ */ operator('resize_table');

/** cos and sin of 2 π i / length for each i below length: (length, 2). */
export const twiddles: (
  attributes: {
    readonly length: readonly [Dim];
    readonly dtype?: DType;
  },
) => NdArray = /* @__PURE__ */ operator('twiddles');
