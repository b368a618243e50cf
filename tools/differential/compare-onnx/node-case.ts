import { numberToFloat16 } from '../../../src/core/tensor/float16.ts';
import { HostTensor } from '../../../src/core/tensor/host-tensor.ts';
import {
  type OnnxAttribute,
  type OnnxInputSpec,
  type OnnxNodeSpec,
  writeOnnxModel,
} from '../../../src/testing/onnx-writer.ts';
import type { Draw } from './draw.ts';

/** A node with operands, drawn at random. */
export interface NodeCase {
  readonly op: string;
  readonly domain?: string;
  readonly opset: number;
  readonly attributes?: Readonly<Record<string, OnnxAttribute | undefined>>;
  readonly inputs: readonly (HostTensor | undefined)[];
  /** Inputs that are constants in some of the cases: axes, sizes, weights, scales. */
  readonly parameters?: readonly number[];
  /** True if parameters are constants in all cases. */
  readonly isFixed?: boolean;
  /** The number of outputs, or which of them exist. */
  readonly outputs?: number | readonly boolean[];
  /** Outputs whose elements are quantised floats: one step of difference is rounding. */
  readonly step?: number;
  readonly rtol?: number;
  readonly atol?: number;
}

/** Draws a case of one operator. */
export type CaseGenerator = (draw: Draw) => NodeCase;

export type CaseTable = Readonly<Record<string, CaseGenerator>>;

export type Feeds = Readonly<Record<string, HostTensor>>;

/** A model with what it is run on. */
export interface ModelCase {
  readonly bytes: Uint8Array;
  readonly feeds: Feeds;
  /** Further inputs for the same session, in other sizes. */
  readonly moreFeeds?: readonly Feeds[];
  readonly outputs: readonly string[];
  readonly text: string;
  readonly nodes: readonly NodeCase[];
}

/** A model of one node. Its parameters are constants or inputs, its dimensions numbers or names. */
export function singleNodeModel(node: NodeCase, draw: Draw, variant: NodeVariant = {}): ModelCase {
  const given = variant.isHalf === true ? inHalfPrecision(node) : node;
  return graphModel([{ node: given, inputs: node.inputs.map(() => undefined) }], draw, variant);
}

/** A variant that every case is turned into. */
interface NodeVariant {
  /** Tensors of float32 become float16. */
  readonly isHalf?: boolean;
  /** Dimensions other than 1 have names, one for each size, and only what has to be is constant. */
  readonly isDynamic?: boolean;
}

function inHalfPrecision(node: NodeCase): NodeCase {
  const inputs = node.inputs.map((tensor) => {
    if (tensor?.dtype !== 'float32') return tensor;
    const values: ArrayLike<number | bigint> = tensor.data;
    const bits = Array.from(values, (value) => numberToFloat16(Number(value)));
    return HostTensor.from('float16', tensor.shape, bits);
  });
  const { atol = 0, rtol = 0 } = node;
  return { ...node, inputs, atol: Math.max(atol, 5e-3), rtol: Math.max(rtol, 5e-3) };
}

/** A node whose inputs come from other nodes where `inputs` gives a name. */
export interface PlacedNode {
  readonly node: NodeCase;
  readonly inputs: readonly (string | undefined)[];
}

export function outputName(node: number, output: number): string {
  return `y${node}_${output}`;
}

/** A model of nodes in order; all of their outputs are outputs of the graph. */
export function graphModel(
  placed: readonly PlacedNode[],
  draw: Draw,
  { isDynamic = false }: NodeVariant = {},
): ModelCase {
  const feeds: Record<string, HostTensor> = {};
  const inputs: OnnxInputSpec[] = [];
  const initializers: Record<string, HostTensor> = {};
  const nodes: OnnxNodeSpec[] = [];
  const texts: string[] = [];
  for (const [n, { node, inputs: sources }] of placed.entries()) {
    const constants = (draw.often(0.6) && !isDynamic) || node.isFixed === true;
    const areSymbolic = draw.often(0.3);
    const names = node.inputs.map((tensor, i) => {
      const source = sources[i];
      if (source !== undefined) return source;
      if (tensor === undefined) return '';
      const name = `x${n}_${i}`;
      if (constants && (node.parameters ?? []).includes(i)) initializers[name] = tensor;
      else {
        feeds[name] = tensor;
        // Equal sizes have one name: two names that broadcast are taken as equal.
        const shape = tensor.shape.map((dim, axis) =>
          dim !== 1 &&
          !(node.parameters ?? []).includes(i) &&
          (isDynamic || (areSymbolic && i === 0 && axis === 0))
            ? `d${dim}`
            : dim,
        );
        inputs.push({ name, dtype: tensor.dtype, shape });
      }
      return name;
    });
    while (names.at(-1) === '') names.pop();
    const exist = outputsOf(node);
    const outputs = exist.map((exists, o) => (exists ? outputName(n, o) : ''));
    nodes.push(nodeSpec(node, names, outputs));
    texts.push(describe(node, names, initializers));
  }
  const outputs = nodes.flatMap((node) => node.outputs).filter((name) => name !== '');
  const { opset = 17 } = placed[0]?.node ?? {};
  const opsets = placed.some(({ node }) => node.domain === 'com.microsoft')
    ? { 'com.microsoft': 1 }
    : {};
  const bytes = writeOnnxModel({ nodes, inputs, outputs, initializers, opset, opsets });
  return { bytes, feeds, outputs, text: texts.join('\n'), nodes: placed.map(({ node }) => node) };
}

export function outputsOf({ outputs = 1 }: NodeCase): readonly boolean[] {
  return typeof outputs === 'number' ? Array.from({ length: outputs }, () => true) : outputs;
}

function nodeSpec(node: NodeCase, inputs: string[], outputs: string[]): OnnxNodeSpec {
  const { op, domain, attributes = {} } = node;
  const given = Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined ? [] : [[key, value] as const],
  );
  return {
    op,
    inputs,
    outputs,
    ...(domain === undefined ? {} : { domain }),
    attributes: Object.fromEntries(given),
  };
}

function describe(
  { op, opset, inputs, attributes = {} }: NodeCase,
  names: readonly string[],
  initializers: Readonly<Record<string, HostTensor>>,
): string {
  const operands = names.map((name, i) => {
    const tensor = inputs[i];
    if (name === '' || tensor === undefined) return '-';
    const values = tensor.elementCount <= 8 ? `{${tensor.data.join(',')}}` : '';
    const kind = name in initializers ? 'const ' : '';
    return `${name.startsWith('y') ? `${name} ` : kind}${tensor.dtype}[${tensor.shape.join(',')}]${values}`;
  });
  const given = Object.entries(attributes)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => `${key}=${attributeText(value)}`);
  return `${op}-${opset}(${operands.join(', ')}) ${given.join(' ')}`;
}

function attributeText(value: OnnxAttribute | undefined): string {
  return value instanceof HostTensor
    ? `${value.dtype}[${value.shape.join(',')}]{${value.data.join(',')}}`
    : JSON.stringify(value);
}
