import { HostTensor } from '../../../src/core/tensor/host-tensor.ts';
import {
  type OptionValues,
  type TfliteOperatorSpec,
  type TfliteTensorSpec,
  writeTflite,
} from '../../../src/frontend/tflite/testing/tflite-writer.ts';
import type { LiteCase, LiteOperand, LiteSpec } from './lite-case.ts';

/** An operator whose operands are results of others where `sources` gives a name. */
export interface PlacedCase {
  readonly node: LiteCase;
  readonly sources: readonly (string | undefined)[];
}

/** A model with what it is run on. */
export interface LiteModelCase {
  readonly bytes: Uint8Array;
  readonly feeds: Readonly<Record<string, HostTensor>>;
  /** The outputs, and what tells how near they have to be. */
  readonly outputs: readonly (LiteSpec & { readonly name: string })[];
  readonly nodes: readonly LiteCase[];
  readonly text: string;
}

export const resultName = (node: number, output: number): string => `y${node}_${output}`;

/** LiteRT.js computes these while it prepares a model, and leaves them out of the buffers of outputs. */
const AT_ONCE = new Set(['RANGE', 'RANK', 'SHAPE']);

/** An addition of zero behind a result that would not come out otherwise. */
function withSum({ node }: PlacedCase, n: number): PlacedCase {
  const operands = [false, true].map((isConstant): LiteOperand[] =>
    node.outputs.map((spec) => ({
      ...spec,
      data: HostTensor.zeros(spec.dtype, spec.shape),
      isConstant,
      isFree: false,
    })),
  );
  const options = ['add', { activation: 0 }] as const;
  const sum = { op: 'ADD', options, inputs: operands.flat(), outputs: node.outputs };
  return { node: sum, sources: [resultName(n, 0), undefined] };
}

/** A model of operators in order, whose outputs are those that no other operator takes. */
export function liteModel(operations: readonly PlacedCase[]): LiteModelCase {
  const used = new Set(operations.flatMap(({ sources }) => sources));
  const sums = operations.flatMap((operation, n) =>
    AT_ONCE.has(operation.node.op) && !used.has(resultName(n, 0)) ? [withSum(operation, n)] : [],
  );
  const placed = [...operations, ...sums];
  const tensors: Record<string, TfliteTensorSpec> = {};
  const operators: TfliteOperatorSpec[] = [];
  const feeds: Record<string, HostTensor> = {};
  const lines: string[] = [];
  const taken = new Set(placed.flatMap(({ sources }) => sources));
  const outputs: LiteModelCase['outputs'][number][] = [];
  const operand = (given: LiteOperand | undefined, name: string, op: string): string => {
    if (given === undefined) return '';
    const { data, isConstant } = given;
    tensors[name] = { ...specOf(given), ...(isConstant ? { data: data.bytes } : {}) };
    if (!isConstant) feeds[name] = data;
    if (!isConstant || given.dtype !== 'float16' || op === 'DEQUANTIZE') return name;
    // Operators take float32: what is stored in float16 is converted first.
    const wide = `${name}_wide`;
    tensors[wide] = { dtype: 'float32', shape: given.shape };
    operators.push({ op: 'DEQUANTIZE', inputs: [name], outputs: [wide] });
    return wide;
  };
  for (const [n, { node, sources }] of placed.entries()) {
    const names = node.inputs.map(
      (given, i) => sources[i] ?? operand(given, `x${n}_${i}`, node.op),
    );
    const results = node.outputs.map((spec, o) => {
      const name = resultName(n, o);
      tensors[name] = specOf(spec);
      if (!taken.has(name)) outputs.push({ ...spec, name });
      return name;
    });
    // Kernels take an operand that is left out at the end as one that is missing.
    while (names.at(-1) === '') names.pop();
    operators.push({
      op: node.op,
      inputs: names,
      outputs: results,
      version: node.version ?? 1,
      ...(node.options === undefined ? {} : { options: node.options as unknown as OptionValues }),
    });
    lines.push(
      `${node.op}(${names.map((name, i) => describe(node.inputs[i], name)).join(', ')})` +
        ` ${JSON.stringify(node.options?.[1] ?? {})} -> ${node.outputs.map((spec) => textOf(spec)).join(', ')}`,
    );
  }
  const inputs = Object.keys(feeds);
  const named = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, name]));
  const names = outputs.map(({ name }) => name);
  const bytes = writeTflite({
    graphs: [{ tensors, inputs, outputs: names, operators }],
    signatures: [{ key: 'serving_default', inputs: named(inputs), outputs: named(names) }],
  });
  return { bytes, feeds, outputs, nodes: placed.map(({ node }) => node), text: lines.join('\n') };
}

const specOf = ({ dtype, shape, quantization }: LiteSpec): TfliteTensorSpec => ({
  dtype,
  shape,
  ...(quantization === undefined ? {} : { quantization }),
});

function describe(operand: LiteOperand | undefined, name: string): string {
  if (operand === undefined) return '-';
  const { data, isConstant } = operand;
  const values = data.elementCount <= 8 && isConstant ? `{${data.data.join(',')}}` : '';
  return `${isConstant ? 'const ' : ''}${name.startsWith('y') ? `${name} ` : ''}${textOf(operand)}${values}`;
}

function textOf({ dtype, shape, quantization }: LiteSpec): string {
  const { scale: [scale] = [], zero: [zero] = [] } = quantization ?? {};
  return `${dtype}[${shape.join(',')}]${scale === undefined ? '' : `*${scale.toPrecision(4)}${zero === 0 ? '' : `-${zero}`}`}`;
}
