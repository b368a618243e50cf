import { caseTensors, toleranceFor } from '../../conformance/operator-conformance.ts';
import { casesOfAllDTypes } from '../../conformance/dtype-variants.ts';
import { dtypeInfo } from '../../core/tensor/dtype.ts';
import { float16ToNumber, numberToFloat16 } from '../../core/tensor/float16.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { seededRandom } from '../../core/random.ts';
import { elementCount } from '../../core/tensor/shape.ts';
import { inferConcreteCall } from '../../ops/infer-concrete-call.ts';
import type { OpCase } from '../../ops/op-cases.ts';
import { hostReason } from '../../ops/lowering/placement.ts';
import { casePrimitive, caseResult } from '../../ops/testing/case-tensors.ts';
import type { TestedOp } from '../../ops/testing/tested-ops.ts';
import type { Device, DeviceTensor } from '../device.ts';
import {
  type Departure,
  departureOf,
  type Difference,
  SPECIAL_VALUES,
  type SpecialValue,
  TABLES,
} from './departures.ts';
import { allocateTensor, downloadTensors, uploadTensor } from './device-tensors.ts';

const LEAST_NORMAL = 2 ** -126;

/** A case with a special value in an input. */
interface Cell {
  readonly opCase: OpCase;
  readonly name: string;
  readonly value: SpecialValue;
  readonly input: number;
  readonly inputs: readonly (HostTensor | undefined)[];
  readonly expected: HostTensor;
}

interface SpecialValueOptions {
  /** Cases of the operator, from all over its list. */
  readonly most: number;
  /** Elements of the inputs of a case. */
  readonly largest: number;
}

interface SpecialValueResult {
  readonly cellCount: number;
  /** A line for each cell that differs in a way that the table of departures does not have. */
  readonly differences: readonly string[];
  readonly departures: readonly Departure[];
}

/** Compares devices with the reference of an operator, on each special value in each input of floats. */
export async function compareSpecialValues(
  devices: readonly Device[],
  op: TestedOp,
  options: SpecialValueOptions,
): Promise<SpecialValueResult> {
  const all = casesOfAllDTypes(op).filter((opCase) => isCompared(op, opCase, options.largest));
  const stride = Math.max(1, Math.ceil(all.length / options.most));
  const cells = all.flatMap((opCase, i) => (i % stride === 0 ? cellsOf(op, opCase, i) : []));
  const differences: string[] = [];
  const departures = new Set<Departure>();
  for (const device of devices) {
    const results = await run(device, op, cells);
    const on = device.info.adapterClass === 'wasm' ? 'wasm' : 'WebGPU';
    for (const [i, cell] of cells.entries()) {
      for (const [difference, words] of found(op, cell, { got: results[i], on })) {
        const { input, value, opCase } = cell;
        const departure = departureOf({ op: op.name, on, input, value, difference });
        if (departure !== undefined) departures.add(departure);
        else differences.push(`${on}, ${value} in input ${input} of ${opCase.title}: ${words}`);
      }
    }
  }
  return { cellCount: cells.length * devices.length, differences, departures: [...departures] };
}

const isFloat = (tensor: { readonly dtype: string } | undefined) =>
  tensor?.dtype === 'float32' || tensor?.dtype === 'float16';

function isCompared(op: TestedOp, { inputs, attributes = {} }: OpCase, largest: number): boolean {
  const counts = inputs.map((input) => elementCount(input?.shape ?? []));
  if (!inputs.some((input, i) => isFloat(input) && counts[i] !== 0)) return false;
  const { output } = inferConcreteCall(op, inputs, attributes);
  const dtypes = inputs.map((input) => input?.dtype);
  return (
    counts.every((count) => count <= largest) &&
    hostReason(op, { inputs: dtypes, output: output.dtype, attributes }) === undefined
  );
}

function cellsOf(op: TestedOp, opCase: OpCase, index: number): Cell[] {
  const plain = caseTensors(opCase, seededRandom(index + 1));
  return plain.flatMap((tensor, input) => {
    if (!isFloat(tensor) || tensor?.elementCount === 0 || TABLES[op.name] === input) return [];
    return SPECIAL_VALUES.map((value, k): Cell => {
      const inputs = plain.map((other, i) =>
        i === input && other ? withValue(other, value, index + k) : other,
      );
      const expected = caseResult(op, opCase, inputs);
      return { opCase, name: `${op.name}_${index}`, value, input, inputs, expected };
    });
  });
}

function withValue(tensor: HostTensor, value: SpecialValue, seed: number): HostTensor {
  const isHalf = tensor.dtype === 'float16';
  const numbers = numbersOf(tensor);
  if (value === 'zeros' || value === 'subnormal') {
    const small = value === 'zeros' ? 0 : isHalf ? 2 ** -22 : 1e-39;
    for (let i = seed % 3; i < numbers.length; i += 3) numbers[i] = i % 2 === 0 ? small : -small;
  } else {
    const largest = isHalf ? 65_504 : 3.4028234663852886e38;
    const at = (seed * 7 + Math.floor(numbers.length / 2)) % numbers.length;
    numbers[at] = value === 'largest' ? largest : Number(value);
  }
  const elements = isHalf ? numbers.map(numberToFloat16) : numbers;
  return HostTensor.from(tensor.dtype, tensor.shape, elements);
}

function numbersOf({ dtype, data }: HostTensor): number[] {
  return Array.from(data as ArrayLike<number | bigint>, (element) =>
    dtype === 'float16' ? float16ToNumber(Number(element)) : Number(element),
  );
}

async function run(device: Device, op: TestedOp, cells: readonly Cell[]): Promise<HostTensor[]> {
  const cases = new Map(cells.map(({ name, opCase }) => [name, opCase]));
  const primitives = [...cases].map(([name, opCase]) => casePrimitive(op, opCase, name));
  const kernels = await device.prepare(primitives);
  // Most cells of a case have most of its tensors in common.
  const uploaded = new Map<HostTensor, DeviceTensor>();
  const upload = (tensor: HostTensor): DeviceTensor => {
    const known = uploaded.get(tensor) ?? uploadTensor(device, tensor);
    uploaded.set(tensor, known);
    return known;
  };
  const outputs = cells.map(({ name, inputs, expected }) => {
    const output = allocateTensor(device, expected);
    const args = inputs.flatMap((tensor) => (tensor === undefined ? [] : [upload(tensor)]));
    kernels.get(name)?.launch([...args, output]);
    return output;
  });
  const results = await downloadTensors(device, outputs);
  for (const { buffer } of [...outputs, ...uploaded.values()]) buffer.destroy();
  kernels.dispose();
  return results;
}

interface Outcome {
  readonly got: HostTensor | undefined;
  readonly on: 'wasm' | 'WebGPU';
}

/** The ways in which elements of a cell differ, with words about the first one of each. */
function found(op: TestedOp, cell: Cell, { got, on }: Outcome): Map<Difference, string> {
  const { opCase, inputs, expected, value } = cell;
  const [actual, wanted] = [got ? numbersOf(got) : [], numbersOf(expected)];
  const isExact = dtypeInfo(expected.dtype).category !== 'float';
  const { rtol, atol } = toleranceFor(op.tolerance, expected);
  const ways = new Map<Difference, string>();
  const isFlushed = on === 'WebGPU' && value === 'subnormal';
  let flushed: readonly number[] | undefined;
  for (const [i, y] of wanted.entries()) {
    const x = actual[i] ?? Number.NaN;
    const isEqual = (a: number, b: number) =>
      Object.is(a, b) ||
      (a !== b && !isExact && Math.abs(a - b) <= atol + rtol * Math.abs(b) && Number.isFinite(b));
    if (isEqual(x, y)) continue;
    // WGSL lets a device take subnormal numbers for zeros, and so its results.
    if (isFlushed) {
      flushed ??= numbersOf(caseResult(op, opCase, inputs.map(withoutSubnormals)));
      const z = flush(flushed[i] ?? 0);
      if ([y, z].some((number) => flush(x) === flush(number) || isEqual(x, number))) continue;
    }
    const difference = wayOf(x, y);
    const words = `element ${i} is ${format(x)}, expected ${format(y)}`;
    if (!ways.has(difference)) ways.set(difference, words);
  }
  return ways;
}

function wayOf(x: number, y: number): Difference {
  if (x === y) return 'sign of zero';
  if (Number.isNaN(y)) return 'no NaN';
  return Number.isNaN(x) ? 'NaN' : 'number';
}

const format = (x: number) => (Object.is(x, -0) ? '-0' : String(x));

const flush = (x: number) => (Math.abs(x) < LEAST_NORMAL ? x / Infinity : x);

function withoutSubnormals(tensor: HostTensor | undefined): HostTensor | undefined {
  if (tensor?.dtype !== 'float32') return tensor;
  return HostTensor.from(tensor.dtype, tensor.shape, numbersOf(tensor).map(flush));
}
