import { HostTensor } from '../../core/tensor/host-tensor.ts';
import type { OpDefinition } from '../define-op.ts';
import { floatElements } from '../elements.ts';
import { isFloat } from '../elementwise/number-dtypes.ts';
import { callReference } from './call-reference.ts';
import { type DifferentiableCase, isTable } from './differentiable-case.ts';

/** A derivative of the product of a result with a cotangent, by an element of an input. */
interface Difference {
  /** The place of the input among those that are given. */
  readonly input: number;
  readonly index: number;
  readonly expected: number;
  /** How much rounding may change it. */
  readonly noise: number;
}

/** Elements of each input that are compared one by one. */
const SAMPLES = 10;

/** Operators that round places to single precision. */
const ROUNDING: ReadonlySet<string> = new Set(['grid_sample', 'roi_align']);

/** The step of differences, for numbers of size 1, and how far they may be from the derivative. */
export function accuracyOf(
  { name }: OpDefinition,
  { inputs, output }: DifferentiableCase,
): { readonly step: number; readonly rtol: number } {
  const isSingle = [...inputs, output].some((tensor) => tensor?.dtype === 'float32');
  if (isSingle) return { step: 2 ** -7, rtol: 2e-3 };
  return ROUNDING.has(name) ? { step: 2 ** -10, rtol: 2e-3 } : { step: 1e-6, rtol: 2e-6 };
}

/**
 * Derivatives of the product of `v` and the result of a case, by some elements of each input: central
 * differences of the operator's reference. Elements at a kink are left out.
 */
export function centralDifferences(
  op: OpDefinition,
  given: DifferentiableCase,
  { v, random }: { readonly v: HostTensor; readonly random: () => number },
): readonly Difference[] {
  const { step } = accuracyOf(op, given);
  const size = dotOfSizes(v, given.output);
  const differences: Difference[] = [];
  let place = -1;
  for (const [slot, input] of given.inputs.entries()) {
    if (input === undefined) continue;
    place++;
    if (!isFloat(input.dtype) || isTable(op.name, place)) continue;
    const count = input.elementCount;
    for (let sample = 0; sample < Math.min(SAMPLES, count); sample++) {
      const index = count <= SAMPLES ? sample : Math.floor(random() * count);
      const h = step * scaleOf(Number(input.data[index]), input);
      const product = moved(op, given, { slot, index, v });
      const [below, here, above] = [product(-h), product(0), product(h)];
      const expected = (above - below) / (2 * h);
      const noise = (size * 1e-16 * (step < 1e-4 ? 10 : 1e10)) / h;
      const bend = Math.abs((here - below) / h - (above - here) / h);
      const isKink = bend > 1e-2 * (1 + Math.abs(expected)) + noise;
      if (!Number.isFinite(expected) || isKink) continue;
      differences.push({ input: place, index, expected, noise });
    }
  }
  return differences;
}

/** A power of two of the size of an element, so that the sum with a number of single precision is exact. */
function scaleOf(element: number, { dtype }: HostTensor): number {
  const scale = 2 ** Math.max(0, Math.ceil(Math.log2(Math.abs(element))));
  return dtype === 'float32' ? scale : Math.min(scale, 16);
}

/** The product of v and the result, where one element is moved by a step. */
function moved(
  { name }: OpDefinition,
  { opCase, inputs, output }: DifferentiableCase,
  { slot, index, v }: { readonly slot: number; readonly index: number; readonly v: HostTensor },
): (step: number) => number {
  const input = inputs[slot] ?? output;
  return (step) => {
    const data = input.data.slice();
    data[index] = Number(data[index]) + step;
    const changed = new HostTensor(input.dtype, input.shape, data);
    return dot(v, callReference(name, inputs.with(slot, changed), opCase.attributes));
  };
}

/** The sum of the products of elements, in double precision. */
export function dot(a: HostTensor, b: HostTensor): number {
  const [x, y] = [floatElements(a), floatElements(b)];
  let sum = 0;
  for (let i = 0; i < x.length; i++) sum += (x[i] ?? 0) * (y[i] ?? 0);
  return sum;
}

/** The sum of the sizes of the products of elements. */
export function dotOfSizes(a: HostTensor, b: HostTensor): number {
  const [x, y] = [floatElements(a), floatElements(b)];
  let sum = 0;
  for (let i = 0; i < x.length; i++) sum += Math.abs((x[i] ?? 0) * (y[i] ?? 0));
  return sum;
}
