import { createGzip } from 'node:zlib';
import { Readable } from 'node:stream';
import type { Executable } from '../../bytecode/index.ts';
import { printSignature } from '../../bytecode/text/print-types.ts';
import { describePlacements } from '../../worker/host/describe-placements.ts';
import { type Float16Answer, float16Answer } from './float16-risks.ts';
import type { Dim } from '../../core/dims/dim.ts';
import { storageByteLength } from '../../core/tensor/dtype.ts';
import { elementCount } from '../../core/tensor/shape.ts';
import { plannedBytes } from '../../worker/sources/planned-bytes.ts';
import { codeSteps } from '../../bytecode/code-steps.ts';
import type { BytecodeFunction, ExecutableData } from '../../bytecode/executable.ts';
import { memoryUse } from '../../bytecode/memory/memory-use.ts';
import { internalError } from '../../core/errors.ts';

/** Tensors of a run, inputs and results among them. */
interface PeakMemory {
  /** The most bytes that are held at one time. */
  readonly peak: number;
  /** True if there are more tensors, of sizes that only a run tells: they are not counted. */
  readonly isAtLeast: boolean;
}

interface Summary extends PeakMemory {
  /** Bytes of its parameters, which the caller holds. */
  readonly given: number;
  /** Bytes that the result refers to. */
  readonly returned: number;
}

/**
 * Follows the storages of `main`, instruction by instruction: one is held while a register refers to it. Both ways of a
 * branch count one behind the other, a loop once, and a call with the peak of its function.
 */
export function peakMemory(executable: ExecutableData): PeakMemory {
  const known = new Map<string, Summary>();
  const main = executable.functions.find(({ name }) => name === 'main') ?? executable.functions[0];
  if (main === undefined) return { peak: 0, isAtLeast: false };
  for (const fn of calleesFirst(executable, main)) {
    known.set(fn.name, summaryOf(executable, fn, known));
  }
  const { peak = 0, isAtLeast = false } = known.get(main.name) ?? {};
  return { peak, isAtLeast };
}

/** The function and all that it calls, those first that are called. A recursion counts once. */
function calleesFirst(executable: ExecutableData, main: BytecodeFunction): BytecodeFunction[] {
  const byName = new Map(executable.functions.map((fn) => [fn.name, fn]));
  const visited = new Set([main]);
  const order: BytecodeFunction[] = [];
  // Calls may be nested deeper than this thread's stack.
  const stack = [{ fn: main, callees: calleesOf(executable, main) }];
  for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
    const callee = byName.get(top.callees.pop() ?? '');
    if (callee !== undefined && !visited.has(callee)) {
      visited.add(callee);
      stack.push({ fn: callee, callees: calleesOf(executable, callee) });
    } else if (top.callees.length === 0 && callee === undefined) {
      stack.pop();
      order.push(top.fn);
    }
  }
  return order;
}

function calleesOf(executable: ExecutableData, fn: BytecodeFunction): string[] {
  return codeSteps(executable, fn).flatMap(({ callee = -1 }) => {
    const entry = executable.functionTable[callee];
    return entry?.kind === 'bytecode' ? [entry.name] : [];
  });
}

const NO_SIZES = new Map<string, number>();

function summaryOf(
  executable: ExecutableData,
  fn: BytecodeFunction,
  known: ReadonlyMap<string, Summary>,
): Summary {
  const returnedOf = (callee: string): number => known.get(callee)?.returned ?? 0;
  const use = memoryUse(executable, fn.name, NO_SIZES, returnedOf);
  if (use === undefined) throw internalError(`no function ${fn.name}`);
  const { storages, calls } = use;
  let { byteLength: peak } = use.peak;
  let isAtLeast =
    storages.some(({ byteLength }) => byteLength === undefined) ||
    fn.signature?.params.some(({ kind }) => kind === 'any') === true;
  for (const { function: name, heldBytes } of calls) {
    const callee = known.get(name);
    if (callee === undefined) continue;
    peak = Math.max(peak, heldBytes + callee.peak - callee.given);
    isAtLeast ||= callee.isAtLeast;
  }
  const inputs = storages.filter(({ input }) => input !== undefined);
  const given = inputs.reduce((sum, { byteLength = 0 }) => sum + byteLength, 0);
  return { peak, given, returned: use.returnedBytes, isAtLeast };
}

/** The answer of `weft check`: all that is known of a program before it runs. */
export interface ProgramAnswer {
  readonly signature: string;
  readonly device: CheckedDevice;
  readonly download: DownloadAnswer;
  readonly memory: MemoryAnswer;
  /** Symbols of `main` whose sizes a run tells. */
  readonly symbols: readonly string[];
  readonly computedSizes: readonly string[];
  readonly kernels: number;
  /** Calls and kernels that run elsewhere than in kernels of the device, and why. */
  readonly elsewhere: readonly Elsewhere[];
  readonly float16: Float16Answer;
}

/** Bytes of the `.weft` file. */
interface DownloadAnswer {
  readonly byteLength: number;
  readonly gzipByteLength: number;
}

interface Elsewhere {
  /** Nodes of the model or lines of the source; the name of the kernel where there are none. */
  readonly source: string;
  readonly operator: string;
  readonly reason: string;
}

interface CheckOptions {
  readonly device: CheckedDevice;
  /** The memory that the device has for it, in bytes. */
  readonly budget?: number | undefined;
}

/** Answers from the compiled program; nothing is run. */
export async function checkProgram(
  executable: Executable,
  { device, budget }: CheckOptions,
): Promise<ProgramAnswer> {
  const { functions, primitives } = executable;
  const main = functions.find(({ name }) => name === 'main') ?? functions[0];
  const shapes = (main?.signature?.params ?? []).flatMap((type) =>
    type.kind === 'tensor' ? type.shape : [],
  );
  const results = main?.signature?.results ?? [];
  return {
    signature:
      main === undefined ? '' : `${main.name}${printSignature(main.paramNames, main.signature)}`,
    device,
    download: await downloadOf(executable),
    memory: checkMemory(executable, device, budget),
    symbols: [...new Set(shapes.filter((dim) => typeof dim === 'string' && dim !== '?'))].map(
      String,
    ),
    computedSizes: results.flatMap(({ name, type }) =>
      type.kind === 'tensor' && type.shape.includes('?') ? [name] : [],
    ),
    kernels: primitives.length,
    elsewhere: await elsewhereOf(executable, device),
    float16: float16Answer(executable),
  };
}

async function downloadOf(executable: Executable): Promise<DownloadAnswer> {
  let byteLength = 0;
  const chunks = function* (): Generator<Uint8Array> {
    for (const chunk of executable.toChunks()) {
      byteLength += chunk.byteLength;
      yield chunk;
    }
  };
  let gzipByteLength = 0;
  const zipped = Readable.from(chunks()).pipe(createGzip());
  for await (const chunk of zipped) gzipByteLength += (chunk as Uint8Array).byteLength;
  return { byteLength, gzipByteLength };
}

async function elsewhereOf(
  executable: Executable,
  device: CheckedDevice,
): Promise<readonly Elsewhere[]> {
  if (device === 'host') return [];
  if (device === 'webgpu') {
    const { metadata } = executable;
    return describePlacements(metadata, 'host').map(({ node, operator, reason }) => ({
      source: node,
      operator,
      reason,
    }));
  }
  const { referenceSteps } = await import('../../worker/tools/reference-steps.ts');
  const { formatPlace } = await import('../../core/contracts/source-place.ts');
  return (await referenceSteps(executable)).map(({ primitive, label }) => ({
    source:
      (executable.sourceMap?.ofPrimitive(primitive) ?? []).map(formatPlace).join(', ') || primitive,
    operator: label,
    reason: 'has no WebAssembly, and runs its reference',
  }));
}

export type CheckedDevice = 'webgpu' | 'wasm' | 'host';

/** Bytes that a run takes on a device, as far as its sizes are known. */
export interface MemoryAnswer {
  readonly weights: number;
  /** Weights in other layouts, which kernels read faster: at most. */
  readonly prepacked: number;
  /** Inputs, tensors between kernels and results: the most at one time. */
  readonly tensors: number;
  readonly total: number;
  /** True if there are more tensors, of sizes that only a run tells: they are not counted. */
  readonly isAtLeast: boolean;
  /** Bytes of the largest tensor. */
  readonly largest: number;
  /** Undefined without a budget. */
  readonly fits: boolean | undefined;
}

/** Prepacked bytes as parts of the weights, as `prepackedBytes` of a machine is by default. */
const PREPACKED_SHARE: Readonly<Record<CheckedDevice, number>> = {
  webgpu: 1 / 16,
  wasm: 2,
  host: 0,
};

/** The memory of one run of a program on a device, beside a budget in bytes. */
function checkMemory(
  executable: Executable,
  device: CheckedDevice,
  budget: number | undefined,
): MemoryAnswer {
  const { constants } = plannedBytes(executable);
  const { peak, isAtLeast } = peakMemory(executable);
  const prepacked = Math.floor(constants * PREPACKED_SHARE[device]);
  const total = constants + prepacked + peak;
  const tensors = executable.primitives.flatMap(({ params, results }) => [
    ...params,
    ...results.map(({ type }) => type),
  ]);
  return {
    weights: constants,
    prepacked,
    tensors: peak,
    total,
    isAtLeast,
    largest: tensors.reduce((most, type) => Math.max(most, byteLengthOf(type)), 0),
    fits: budget === undefined ? undefined : total <= budget,
  };
}

/** 0 where a run tells a size. */
function byteLengthOf({
  dtype,
  shape,
}: {
  readonly dtype: Parameters<typeof storageByteLength>[0];
  readonly shape: readonly Dim[];
}): number {
  const sizes = shape.filter((dim) => typeof dim === 'number');
  return sizes.length < shape.length ? 0 : storageByteLength(dtype, elementCount(sizes));
}
