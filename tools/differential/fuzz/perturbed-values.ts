import { dtypeInfo } from '../../../src/core/tensor/dtype.ts';
import type { HostTensor } from '../../../src/core/tensor/host-tensor.ts';
import { evaluateCall } from '../../../src/compiler/values/evaluate-call.ts';
import { CORE_OPERATORS } from '../../../src/ops/tables/core-operators.ts';
import { concreteAttributes, type Graph, type GraphNode, inputsOf } from './graph.ts';
import { elementsOf, tensorFrom } from './tensor-values.ts';

/**
 * The references' value of a node, and further values with each earlier operator's result perturbed
 * within its tolerance (Monte Carlo arithmetic, Parker 1997). Their spread shows how well the node is
 * conditioned.
 */
export interface NodeValues {
  readonly value: HostTensor;
  readonly perturbed: readonly HostTensor[];
}

interface Perturbation {
  readonly random: () => number;
  readonly count: number;
}

/** Operators that lose nothing on numbers of a few bits. */
const EXACT_ON_SHORT_NUMBERS: ReadonlySet<string> = new Set([
  'add',
  'sub',
  'mul',
  'matmul',
  'gemm',
  'reduce_sum',
  'reduce_prod',
  'reduce_max',
  'reduce_min',
  'cumulative',
  'conv2d',
  'conv3d',
  'scatter_elements',
  'scatter_nd',
]);

/** Beyond these a float is too near to an overflow, or to zero, for errors to be bounded. */
const LARGEST = { float16: 500, others: 1e4 };
const SMALLEST = { float16: 2 ** -13, others: 1e-25 };

/** float16 is rounded where it is stored, and what is fused is not stored. */
const HALF_ULP = 2 ** -10;
const SMALLEST_HALF = 2 ** -24;

/** The values of a node from those of its operands. Throws what the reference throws. */
export function evaluateNode(
  node: GraphNode,
  operands: readonly NodeValues[],
  { symbols, ...noise }: Perturbation & { readonly symbols: Graph['symbols'] },
): NodeValues {
  if (node.kind === 'param' || node.kind === 'constant') {
    const { value } = node;
    return { value, perturbed: Array.from({ length: noise.count }, () => value) };
  }
  if (node.kind === 'if') {
    const [condition, yes, no] = operands;
    if (condition === undefined || yes === undefined || no === undefined) throw new Error('if');
    const chosen = Number(condition.value.data[0]) === 0 ? no : yes;
    return chosen;
  }
  const attributes = concreteAttributes(node.attributes, symbols);
  const run = (inputs: readonly HostTensor[]) =>
    evaluateCall(CORE_OPERATORS.require(node.op), inputs, attributes);
  const inputs = operands.map(({ value }) => value);
  const value = run(inputs);
  const isRounded = roundsResult(node.op, value);
  const isExact = EXACT_ON_SHORT_NUMBERS.has(node.op) && inputs.every(holdsShort);
  const perturbed = Array.from({ length: noise.count }, (_, k) => {
    const moved = operands.map((operand) => operand.perturbed[k] ?? operand.value);
    const isSame = moved.every((tensor, i) => tensor === inputs[i]);
    const result = isSame ? value : run(moved);
    if (!isRounded) return result;
    return withNoise(node.op, result, { random: noise.random, keepsShort: isSame && isExact });
  });
  return { value, perturbed };
}

/** The values of all nodes. */
export function evaluateGraph(graph: Graph, noise: Perturbation): NodeValues[] {
  const values: NodeValues[] = [];
  for (const node of graph.nodes) {
    const operands = inputsOf(node).flatMap((input) => values[input] ?? []);
    values.push(evaluateNode(node, operands, { ...noise, symbols: graph.symbols }));
  }
  return values;
}

function roundsResult(op: string, value: HostTensor): boolean {
  const { tolerance } = CORE_OPERATORS.require(op);
  const isExact = tolerance.rtol === 0 && tolerance.atol === 0;
  return !isExact && dtypeInfo(value.dtype).category === 'float';
}

/**
 * Returns true if all elements have few bits. One alone may have few by chance, as a sum of long
 * numbers.
 */
function holdsShort(tensor: HostTensor): boolean {
  return Array.from(elementsOf(tensor)).every((element) => isShort(Number(element)));
}

function withNoise(
  op: string,
  tensor: HostTensor,
  { random, keepsShort }: { random: () => number; keepsShort: boolean },
): HostTensor {
  const { dtype, shape } = tensor;
  const { rtol, atol } = toleranceOf(op, dtype);
  let isMoved = false;
  const values = Array.from(elementsOf(tensor), (element) => {
    const value = Number(element);
    if (keepsShort && isShort(value)) return value;
    isMoved = true;
    return value * (1 + rtol * (2 * random() - 1)) + atol * (2 * random() - 1);
  });
  return isMoved ? tensorFrom(dtype, shape, values) : tensor;
}

/** The allowed error of one call of an operator. */
export function toleranceOf(op: string, dtype: string): { rtol: number; atol: number } {
  const { tolerance } = CORE_OPERATORS.require(op);
  if (dtype !== 'float16' || (tolerance.rtol === 0 && tolerance.atol === 0)) return tolerance;
  return { rtol: tolerance.rtol + HALF_ULP, atol: tolerance.atol + SMALLEST_HALF };
}

/** Returns true for numbers whose sums and products are the same in any order, in float16 too. */
function isShort(value: number): boolean {
  return Math.abs(value) <= 64 && Number.isInteger(value * 16);
}

/** The widest distance of each element to its perturbed values; 0 for equal, Infinity for NaN. */
export function spreadOf({ value, perturbed }: NodeValues): Float64Array {
  const expected = elementsOf(value);
  const spread = new Float64Array(expected.length);
  for (const tensor of perturbed) {
    if (tensor === value) continue;
    const elements = elementsOf(tensor);
    for (let i = 0; i < spread.length; i++) {
      const x = expected[i] ?? 0;
      const y = elements[i] ?? 0;
      if (x === y) continue;
      const distance = Math.abs(Number(x) - Number(y));
      spread[i] = Math.max(spread[i] ?? 0, Number.isNaN(distance) ? Infinity : distance);
    }
  }
  return spread;
}

/** Finite, far from the ends of its dtype, and near to what small errors before it would make of it. */
export function isComparable(values: NodeValues): boolean {
  const { dtype } = values.value;
  const isFloat = dtypeInfo(dtype).category === 'float';
  const spread = spreadOf(values);
  const largest = dtype === 'float16' ? LARGEST.float16 : LARGEST.others;
  const smallest = dtype === 'float16' ? SMALLEST.float16 : SMALLEST.others;
  return Array.from(elementsOf(values.value)).every((element, i) => {
    const size = Math.abs(Number(element));
    if (!isFloat) return spread[i] === 0;
    if (!(size <= largest) || (size > 0 && size < smallest)) return false;
    return (spread[i] ?? 0) <= 0.01 * (0.1 + size);
  });
}
