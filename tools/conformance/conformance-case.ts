import { HostTensor } from '../../src/core/tensor/host-tensor.ts';
import { declaredDim } from '../../src/frontend/onnx/model/declared-type.ts';
import { readMessage } from '../../src/frontend/onnx/protobuf/read-message.ts';
import type { Placement } from '../../src/worker/protocol/loaded-session.ts';
import { readTensorFile } from '../../src/frontend/onnx/protobuf/read-tensor.ts';
import type { TypeProto } from '../../src/frontend/onnx/protobuf/schema.ts';
import { type CaseValue, readValueFile } from '../../src/testing/case-values.ts';

/** Names of the files of a case, below its folder. */
export interface CaseFiles {
  readonly name: string;
  readonly dataSets: readonly DataSetFiles[];
}

/** Files in the order of the graph's inputs and outputs. */
export interface DataSetFiles {
  readonly name: string;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
}

/** The outcome of one data set. */
export interface Outcome {
  readonly caseName: string;
  readonly dataSet: string;
  readonly status: 'passed' | 'failed' | 'skipped';
  /** One line; undefined when passed. */
  readonly reason?: string | undefined;
  /** The distinct operators of the model. */
  readonly operators: readonly string[];
  /** Why all of its nodes ran on the host device; undefined when they did not. */
  readonly hostReason?: string | undefined;
  /** Nodes of a session on WebGPU that the compiler placed on the host. */
  readonly placements?: readonly Placement[] | undefined;
}

export type ReadFile = (path: string) => Promise<Uint8Array>;

/** Facts about a model that the runner needs beside its bytes. */
export interface ModelSummary {
  readonly operators: readonly string[];
  /** True if it converts floats to integers and integers to floats on the way. */
  readonly isQuantized: boolean;
  /** Inputs that have to be given, with the names of symbolic dimensions. */
  readonly inputs: readonly ModelInput[];
  readonly outputs: readonly ModelValue[];
  /** True if it draws random numbers, of which only shapes and types can be compared. */
  readonly isRandom: boolean;
}

/** A value by its name, with the type that the model declares. */
interface ModelValue {
  readonly name: string;
  readonly type: TypeProto | undefined;
}

interface ModelInput extends ModelValue {
  readonly dims: readonly (number | string)[];
}

const RANDOM_OPERATORS = [
  'Bernoulli',
  'Multinomial',
  'RandomNormal',
  'RandomNormalLike',
  'RandomUniform',
  'RandomUniformLike',
];

export function summarizeModel(bytes: Uint8Array): ModelSummary {
  const { graph } = readMessage('ModelProto', bytes);
  if (graph === undefined) throw new Error('the model has no graph');
  const given = new Set(graph.initializer.map(({ name }) => name));
  const inputs = graph.input.filter(({ name }) => !given.has(name));
  const operators = new Set(graph.node.map(({ opType }) => opType ?? ''));
  return {
    operators: [...operators].sort(),
    isQuantized: ['QuantizeLinear', 'DequantizeLinear'].every((name) => operators.has(name)),
    inputs: inputs.map(({ name = '', type }) => ({
      name,
      type,
      dims: (type?.tensorType?.shape?.dim ?? []).map(
        (dim, axis) => declaredDim(dim) ?? `${name}.${axis}`,
      ),
    })),
    outputs: graph.output.map(({ name = '', type }) => ({ name, type })),
    isRandom: RANDOM_OPERATORS.some((name) => operators.has(name)),
  };
}

export async function readTensors(files: readonly string[], read: ReadFile): Promise<HostTensor[]> {
  const tensors: HostTensor[] = [];
  for (const file of files) tensors.push(readTensorFile(await read(file)).tensor);
  return tensors;
}

/** The values of files, of the types that the model declares in the same order. */
export async function readValues(
  files: readonly string[],
  values: readonly ModelValue[],
  read: ReadFile,
): Promise<CaseValue[]> {
  const found: CaseValue[] = [];
  for (const [i, file] of files.entries()) {
    found.push(readValueFile(await read(file), values[i]?.type));
  }
  return found;
}

/** Numbers for the symbolic dimensions of a model, from the shapes of the inputs at hand. */
export function bindFromInputs(
  { inputs }: ModelSummary,
  values: readonly CaseValue[],
): Record<string, number> {
  const bound: Record<string, number> = {};
  for (const [index, { dims }] of inputs.entries()) {
    for (const [axis, dim] of dims.entries()) {
      const value = values[index];
      const size = value instanceof HostTensor ? value.shape[axis] : undefined;
      if (typeof dim === 'string' && size !== undefined) bound[dim] ??= size;
    }
  }
  return bound;
}

/** Errors as one line of reason. */
export function reasonOf(thrown: unknown): string {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  return `${error.name}: ${error.message}`.replace(/\s*\n\s*/g, '; ');
}
