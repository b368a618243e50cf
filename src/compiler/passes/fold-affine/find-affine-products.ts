import { proveEqual } from '../../../core/dims/dim-algebra.ts';
import type { Dim } from '../../../core/dims/dim.ts';
import type { Shape } from '../../../core/tensor/shape.ts';
import type { CallExpr, Expr } from '../../ir/expr.ts';
import { postOrder } from '../../ir/walk/visit.ts';
import type { TypeInference } from '../../inference/type-inference.ts';
import type { Captures } from '../../rewriting/captures.ts';
import { countReaders } from '../../rewriting/count-readers.ts';
import { any, calls } from '../../rewriting/expr-pattern.ts';
import { tensorTypeOf } from '../../rewriting/has-types.ts';
import { matchPattern } from '../../rewriting/match-pattern.ts';
import {
  type Affine,
  composeAffine,
  IDENTITY,
  at,
  type Coefficients,
  combine,
  roundedTensor,
} from './affine.ts';
import { readAffine } from './read-affine.ts';
import { type WeightedProduct, weightedProduct } from './weighted-product.ts';
import { HostTensor } from '../../../core/tensor/host-tensor.ts';
import { numberElements } from '../../../ops/elements.ts';

/** Of a product: x * input.scale + input.shift goes in, the result * result.scale + result.shift. */
interface FoldedAffines {
  readonly input: Affine;
  readonly result: Affine;
  /**
   * True if there is a shift to add to the result, for which a product without a bias needs one.
   */
  readonly hasShift: boolean;
}

/** The operands of the product afterwards; the bias is undefined where nothing is to be added. */
interface FoldedWeights {
  readonly weights: HostTensor;
  readonly bias: HostTensor | undefined;
}

/** The smallest normal numbers: below them rounding is no longer relative. */
const SMALLEST_NORMAL = { float16: 2 ** -14, float32: 2 ** -126 } as const;

/**
 * The weights and bias that do the same, computed in double precision and rounded once. Undefined
 * where a number is too large for the dtype, or all those of a channel too small.
 */
function foldWeights(product: WeightedProduct, affines: FoldedAffines): FoldedWeights | undefined {
  const weights = scaleWeights(product, affines);
  if (weights === undefined) return undefined;
  if (product.bias === undefined && !affines.hasShift) return { weights, bias: undefined };
  const bias = foldBias(product, affines);
  return bias && { weights, bias };
}

function scaleWeights(
  { weights, layout }: WeightedProduct,
  { input, result }: FoldedAffines,
): HostTensor | undefined {
  const { dtype, shape } = weights;
  if (dtype !== 'float16' && dtype !== 'float32') return undefined;
  if (result.scale === 1 && input.scale === 1) return weights;
  const isUniform = typeof input.scale === 'number' && typeof result.scale === 'number';
  if (weights.isSplat && isUniform) {
    const [element = 0] = numberElements(new HostTensor(dtype, [], weights.elements));
    const value = element * at(input.scale, 0) * at(result.scale, 0);
    const isTooSmall = value !== 0 && Math.abs(value) < SMALLEST_NORMAL[dtype];
    return isTooSmall ? undefined : roundedTensor(dtype, shape, value);
  }
  const elements = numberElements(weights);
  const scaled = new Float64Array(elements.length);
  const largest = new Float64Array(layout.resultChannels);
  forEachVector(layout, (start, resultChannel, inputChannel) => {
    const factor = at(result.scale, resultChannel) * at(input.scale, inputChannel);
    for (let i = start; i < start + layout.inner; i++) {
      const value = (elements[i] ?? 0) * factor;
      scaled[i] = value;
      largest[resultChannel] = Math.max(largest[resultChannel] ?? 0, Math.abs(value));
    }
  });
  const isLost = largest.some((size) => size > 0 && size < SMALLEST_NORMAL[dtype]);
  return isLost ? undefined : roundedTensor(dtype, shape, scaled);
}

/** Calls back with the begin of each run of weights of one channel of the result and the input. */
function forEachVector(
  layout: WeightedProduct['layout'],
  visit: (start: number, resultChannel: number, inputChannel: number) => void,
): void {
  const { outer, rows, columns, inner } = layout;
  for (let matrix = 0; matrix < outer; matrix++) {
    for (let row = 0; row < rows; row++) {
      for (let column = 0; column < columns; column++) {
        const start = ((matrix * rows + row) * columns + column) * inner;
        visit(start, layout.resultChannel(row, column), layout.inputChannel(row, column));
      }
    }
  }
}

/**
 * The bias for each channel of the result, (K,); of a gemm whose bias varies by rows (M, K). It
 * includes the factor beta, which the product then is without.
 */
function foldBias(product: WeightedProduct, affines: FoldedAffines): HostTensor | undefined {
  const { bias, beta, layout, weights } = product;
  const { scale, shift } = affines.result;
  const channels = layout.resultChannels;
  const added = combine(
    combine(inputShift(product, affines.input), scale, (a, b) => a * b),
    shift,
    (a, b) => a + b,
  );
  if (bias === undefined) return roundedTensor(weights.dtype, [channels], added);
  const given = numberElements(bias);
  const rows = bias.shape.length === 2 ? (bias.shape[0] ?? 1) : 1;
  const width = bias.shape.at(-1) ?? 1;
  const values = new Float64Array(rows * channels);
  for (let i = 0; i < values.length; i++) {
    const channel = i % channels;
    const row = (i - channel) / channels;
    const own = (given[row * width + (width === 1 ? 0 : channel)] ?? 0) * beta;
    values[i] = own * at(scale, channel) + at(added, channel);
  }
  return roundedTensor(weights.dtype, rows === 1 ? [channels] : [rows, channels], values);
}

/** The product of a number that is added to each channel of its input. */
function inputShift({ weights, layout, alpha }: WeightedProduct, { shift }: Affine): Coefficients {
  if (shift === 0) return 0;
  const elements = numberElements(weights);
  const sums = new Float64Array(layout.resultChannels);
  forEachVector(layout, (start, resultChannel, inputChannel) => {
    let sum = 0;
    for (let i = start; i < start + layout.inner; i++) sum += elements[i] ?? 0;
    sums[resultChannel] = (sums[resultChannel] ?? 0) + sum * alpha * at(shift, inputChannel);
  });
  return sums;
}

/** A call between a product and the last one that goes into its weights. */
interface Step {
  /** The operand that comes from the product, or leads to it. */
  readonly index: number;
  /** The operation that goes into the weights; undefined for a reshape or transpose, which stays. */
  readonly rule: string | undefined;
}

/** A product and what is to go into its weights. */
export interface AffineProduct {
  readonly product: WeightedProduct;
  /** From the last call to the product. */
  readonly behind: readonly Step[];
  /** From the product's input on, against the flow. */
  readonly before: readonly Step[];
  /** `addedShape` is that of the bias where the product takes none. */
  readonly folded: FoldedWeights & { readonly addedShape: Shape };
}

/** A value that comes from a product by way of affine calls and views only. */
interface Tail {
  readonly product: WeightedProduct;
  readonly input: InputChain;
  readonly affine: Affine;
  /** The axis of the value along which the product's channels lie. */
  readonly axis: number | undefined;
  readonly operators: number;
  readonly hasShift: boolean;
  readonly step: Step | undefined;
  readonly previous: Tail | undefined;
}

interface InputChain {
  readonly steps: readonly Step[];
  readonly affine: Affine;
  readonly operators: number;
  readonly hasShift: boolean;
}

/** Weights beyond this stay as they are; below it, those in files come into memory. */
const MAX_WEIGHT_BYTES = 2 ** 26;

/** Products that fold, by the last call behind each. */
export function findAffineProducts(root: Expr, types: TypeInference): Map<Expr, AffineProduct> {
  const order = postOrder(root);
  const uses = countReaders(root);
  const tails = new Map<Expr, Tail>();
  for (const expr of order) {
    if (expr.kind !== 'call') continue;
    const tail =
      extendTail(expr, { tails, uses, types }) ?? startTail(expr, { tails, uses, types });
    if (tail !== undefined) tails.set(expr, tail);
  }
  const found = new Map<Expr, AffineProduct>();
  for (const [expr, tail] of tails) {
    const folded = fold(tail);
    if (folded !== undefined) found.set(expr, folded);
  }
  return found;
}

interface Search {
  readonly tails: Map<Expr, Tail>;
  readonly uses: ReadonlyMap<Expr, number>;
  readonly types: TypeInference;
}

/** A call that takes a tail further, which then ends no earlier. */
function extendTail(expr: CallExpr, { tails, uses, types }: Search): Tail | undefined {
  for (const [index, source] of expr.args.slice(0, 2).entries()) {
    const previous = tails.get(source);
    if (previous === undefined || uses.get(source) !== 1) continue;
    const view = index === 0 ? readView(expr, types) : undefined;
    const read = view === undefined ? readAffine(expr, index, { ...previous, types }) : undefined;
    if (view === undefined && read === undefined) continue;
    tails.delete(source);
    return {
      ...previous,
      axis: view === undefined ? previous.axis : view.forward(previous.axis),
      affine: read === undefined ? previous.affine : composeAffine(previous.affine, read.affine),
      operators: previous.operators + (read?.operators ?? 0),
      hasShift: previous.hasShift || read?.hasShift === true,
      step: { index, rule: read?.rule },
      previous,
    };
  }
  return undefined;
}

function startTail(expr: CallExpr, search: Search): Tail | undefined {
  const product = weightedProduct(expr, search.types);
  if (product === undefined || product.weights.byteLength > MAX_WEIGHT_BYTES) return undefined;
  return {
    product,
    input: inputChain(product, search),
    affine: IDENTITY,
    axis: product.resultAxis,
    operators: 0,
    hasShift: false,
    step: undefined,
    previous: undefined,
  };
}

/** The affine calls before a product that go into its weights. */
function inputChain(product: WeightedProduct, { tails, uses, types }: Search): InputChain {
  const steps: Step[] = [];
  let chain: InputChain = { steps: [], affine: IDENTITY, operators: 0, hasShift: false };
  let axis = product.inputAxis;
  let expr = product.call.args[product.inputIndex];
  // In float16 the sum of weights times a shift would be rounded beside results near zero.
  const takesShift = product.takesInputShift && product.weights.dtype === 'float32';
  while (expr?.kind === 'call' && uses.get(expr) === 1 && !isTaken(tails.get(expr))) {
    const step: CallExpr = expr;
    const view = readView(step, types);
    if (view !== undefined) {
      axis = view.backward(axis);
      steps.push({ index: 0, rule: undefined });
      expr = step.args[0];
      continue;
    }
    const index = step.args[0]?.kind === 'constant' ? 1 : 0;
    const read = readAffine(step, index, { axis, types });
    if (read === undefined || (read.hasShift && !takesShift)) break;
    steps.push({ index, rule: read.rule });
    chain = {
      steps: steps.slice(),
      affine: composeAffine(read.affine, chain.affine),
      operators: chain.operators + read.operators,
      hasShift: chain.hasShift || read.hasShift,
    };
    expr = step.args[index];
  }
  return chain;
}

/** Returns true if a call already goes into the weights of a product before it. */
function isTaken(tail: Tail | undefined): boolean {
  return tail !== undefined && tail.operators > 0;
}

function fold(tail: Tail): AffineProduct | undefined {
  const { product, input, affine } = tail;
  const hasShift = tail.hasShift || input.hasShift;
  const remaining = product.biasIndex === undefined && hasShift ? 1 : 0;
  if (tail.operators + input.operators <= remaining) return undefined;
  const affines = { input: input.affine, result: affine, hasShift };
  const folded = foldWeights(product, affines);
  if (folded === undefined) return undefined;
  const behind: Step[] = [];
  for (let at: Tail | undefined = tail; at?.step !== undefined; at = at.previous) {
    behind.push(at.step);
  }
  const addedShape = shapeOfAdded(product);
  return { product, behind, before: input.steps, folded: { ...folded, addedShape } };
}

/** The channels, laid along their axis of the product. */
function shapeOfAdded({ resultAxis, resultRank, layout }: WeightedProduct): Shape {
  if (resultAxis === undefined) return [];
  return [layout.resultChannels, ...Array.from({ length: resultRank - 1 - resultAxis }, () => 1)];
}

/** How a reshape or transpose moves an axis. */
interface View {
  forward(axis: number | undefined): number | undefined;
  backward(axis: number | undefined): number | undefined;
}

const TRANSPOSE = calls('transpose', [any('x')], { attributes: { perm: { name: 'perm' } } });
const RESHAPE = calls('reshape', [any('x')]);

function readView(expr: CallExpr, types: TypeInference): View | undefined {
  if (expr.onDevice !== undefined) return undefined;
  return (
    matchPattern(TRANSPOSE, expr, { accept: transposeView }) ??
    matchPattern(RESHAPE, expr, { accept: (captures) => reshapeView(captures, types) })
  );
}

function transposeView(captures: Captures): View {
  const perm = captures.integers('perm');
  return {
    forward: (axis) => (axis === undefined ? undefined : perm.indexOf(axis)),
    backward: (axis) => (axis === undefined ? undefined : perm[axis]),
  };
}

function reshapeView(captures: Captures, types: TypeInference): View | undefined {
  const [from, to] = ['x', 'root'].map((name) => tensorTypeOf(captures.get(name), types));
  if (from === undefined || to === undefined) return undefined;
  return {
    forward: (axis) => keptAxis(axis, from.shape, to.shape),
    backward: (axis) => keptAxis(axis, to.shape, from.shape),
  };
}

/** Where an axis is after a reshape that leaves all axes before it, or all behind it, as they are. */
function keptAxis(
  axis: number | undefined,
  from: readonly Dim[],
  to: readonly Dim[],
): number | undefined {
  if (axis === undefined) return undefined;
  const isSame = (i: number, j: number): boolean => {
    const [left, right] = [from[i], to[j]];
    return left !== undefined && right !== undefined && proveEqual(left, right);
  };
  const before = Array.from({ length: axis + 1 }, (_, i) => i);
  if (before.every((i) => isSame(i, i))) return axis;
  const moved = axis + to.length - from.length;
  const behind = Array.from({ length: from.length - axis }, (_, i) => i);
  return behind.every((i) => isSame(axis + i, moved + i)) ? moved : undefined;
}
