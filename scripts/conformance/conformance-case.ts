import type { HostTensor } from '../../src/core/host-tensor.ts';
import { readMessage } from '../../src/frontend/onnx/protobuf/read-message.ts';
import type { Placement } from '../../src/worker/protocol.ts';
import { readTensorFile } from '../../src/frontend/onnx/protobuf/read-tensor.ts';

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
  /** Whether it makes integers of floats and floats of integers on the way. */
  readonly isQuantized: boolean;
  /** Inputs that have to be given, with the names of symbolic dimensions. */
  readonly inputs: readonly ModelInput[];
  readonly outputs: readonly string[];
}

export interface ModelInput {
  readonly name: string;
  /** False for sequences, optional values and maps, whose files hold another message. */
  readonly isTensor: boolean;
  readonly dims: readonly (number | string)[];
}

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
      isTensor: type?.tensorType !== undefined,
      dims: (type?.tensorType?.shape?.dim ?? []).map(
        ({ dimValue, dimParam }, axis) => dimValue ?? (dimParam || `${name}.${axis}`),
      ),
    })),
    outputs: graph.output.map(({ name }) => name ?? ''),
  };
}

export async function readTensors(files: readonly string[], read: ReadFile): Promise<HostTensor[]> {
  const tensors: HostTensor[] = [];
  for (const file of files) tensors.push(readTensorFile(await read(file)).tensor);
  return tensors;
}

/** Numbers for the symbolic dimensions of a model, from the shapes of the inputs at hand. */
export function bindFromInputs(
  { inputs }: ModelSummary,
  tensors: readonly HostTensor[],
): Record<string, number> {
  const bound: Record<string, number> = {};
  for (const [index, { dims }] of inputs.entries()) {
    for (const [axis, dim] of dims.entries()) {
      const size = tensors[index]?.shape[axis];
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
