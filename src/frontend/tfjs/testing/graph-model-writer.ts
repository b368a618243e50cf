import { concatenate } from '../../../core/bytes/concatenate.ts';
import {
  evaluateModule,
  type ReferenceValue,
} from '../../../compiler/evaluation/evaluate-module.ts';
import { CompileBudget } from '../../../compiler/ir/compile-budget.ts';
import { HostTensor } from '../../../core/tensor/host-tensor.ts';
import { importWithin } from '../import-tfjs.ts';

/** A node as a test writes it; attributes as TensorFlow.js has them. */
export interface WrittenNode {
  readonly name: string;
  readonly op: string;
  readonly input?: readonly string[];
  readonly attr?: Readonly<Record<string, unknown>>;
}

/** A constant, which is a node and a weight. */
export interface WrittenWeight {
  readonly name: string;
  readonly shape: readonly number[];
  readonly dtype?: 'float32' | 'int32' | 'bool';
  readonly values: readonly number[];
  /** How its elements are stored: the codes are the values. */
  readonly quantization?: {
    readonly dtype: string;
    readonly scale?: number;
    readonly min?: number;
  };
}

interface WrittenModel {
  readonly nodes: readonly WrittenNode[];
  readonly weights?: readonly WrittenWeight[];
  readonly functions?: readonly unknown[];
  readonly outputs: Readonly<Record<string, string>>;
  /** Bytes of each file but the last. */
  readonly shard?: number;
}

export interface WrittenFiles {
  readonly json: Uint8Array;
  readonly files: ReadonlyMap<string, Uint8Array>;
}

const ARRAYS = {
  float32: Float32Array,
  int32: Int32Array,
  bool: Uint8Array,
  uint8: Uint8Array,
  uint16: Uint16Array,
  float16: Uint16Array,
} as const;

/** `model.json` and the files beside it. */
export function writeGraphModel({
  nodes,
  weights = [],
  functions,
  outputs,
  shard,
}: WrittenModel): WrittenFiles {
  const parts = weights.map(({ values, dtype = 'float32', quantization }) => {
    const stored = (quantization?.dtype ?? dtype) as keyof typeof ARRAYS;
    return new Uint8Array(new ARRAYS[stored](values).buffer);
  });
  const bytes = concatenate(parts);
  const size = shard ?? Math.max(1, bytes.byteLength);
  const count = Math.ceil(bytes.byteLength / size);
  const paths = Array.from({ length: count }, (_, i) => `group1-shard${i + 1}of${count}.bin`);
  const constants = weights.map(({ name }) => ({ name, op: 'Const' }));
  const json = {
    format: 'graph-model',
    signature: {
      outputs: Object.fromEntries(Object.entries(outputs).map(([key, name]) => [key, { name }])),
    },
    modelTopology: { node: [...constants, ...nodes], library: { function: functions ?? [] } },
    weightsManifest: [
      {
        paths,
        weights: weights.map(({ name, shape, dtype = 'float32', quantization }) => ({
          name,
          shape,
          dtype,
          quantization,
        })),
      },
    ],
  };
  const files = paths.map((path, i) => [path, bytes.slice(i * size, (i + 1) * size)] as const);
  return { json: new TextEncoder().encode(JSON.stringify(json)), files: new Map(files) };
}

/** What a model gives for inputs, by references, as nested lists. */
export function runGraphModel(model: WrittenModel, inputs: readonly HostTensor[]): unknown[] {
  const { json, files } = writeGraphModel(model);
  const externalData = (path: string) => files.get(path) ?? new Uint8Array();
  const module = new CompileBudget().run(() => importWithin(json, { externalData }));
  const result = evaluateModule(module, 'main', inputs);
  return tensorsOf(result).map(({ data, shape }) => nested(Array.from<unknown>(data), shape));
}

function nested(elements: readonly unknown[], [size, ...rest]: readonly number[]): unknown {
  if (size === undefined) return elements[0];
  const step = elements.length / size;
  return Array.from({ length: size }, (_, i) =>
    nested(elements.slice(i * step, (i + 1) * step), rest),
  );
}

function tensorsOf(value: ReferenceValue): HostTensor[] {
  if (value instanceof HostTensor) return [value];
  if (typeof value === 'number' || value.kind === 'function') throw new Error('no tensor');
  return value.fields.flatMap(tensorsOf);
}

/** Attributes in the form that they have in files. */
export const attr = {
  ints: (...i: readonly number[]) => ({ list: { i: i.map(String) } }),
  int: (i: number) => ({ i: String(i) }),
  text: (s: string) => ({ s: btoa(s) }),
  texts: (...s: readonly string[]) => ({ list: { s: s.map((each) => btoa(each)) } }),
  type: (type: string) => ({ type }),
  shape: (...sizes: readonly number[]) => ({
    shape: { dim: sizes.map((size) => ({ size: String(size) })) },
  }),
  flag: (b: boolean) => ({ b }),
  fn: (name: string) => ({ func: { name } }),
};

/** A placeholder of floats. */
export const placeholder = (
  name: string,
  sizes: readonly number[],
  type = 'DT_FLOAT',
): WrittenNode => ({
  name,
  op: 'Placeholder',
  attr: { dtype: attr.type(type), shape: attr.shape(...sizes) },
});
