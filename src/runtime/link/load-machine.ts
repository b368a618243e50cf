import type { ExecutableData } from '../../bytecode/executable.ts';
import type { DataBlock, DataHashes } from '../../bytecode/file/executable-reader.ts';
import { having, listOf, oneOf, requireKind } from '../../core/check-options.ts';
import { COMPILE_MODES, type CompileModeOption } from '../../core/contracts/compile-mode.ts';
import { type PrecisionOption, PRECISIONS } from '../../core/contracts/precision.ts';
import { INDEX_CHECKS } from '../../core/contracts/index-checks.ts';
import { NODE_CALLS } from '../../core/contracts/node-calls-key.ts';
import { untilAborted } from '../../core/async/until-aborted.ts';
import { abortError, OutOfMemoryError, UsageError } from '../../core/errors.ts';
import type {
  Device,
  LaunchOwner,
  PrepackingBudget,
  ProgramKernelLimits,
} from '../../device/device.ts';
import type { Allocator } from '../allocator/allocator.ts';
import { PooledAllocator } from '../allocator/pooled-allocator.ts';
import type { CallRunner } from '../calls/call-runner.ts';
import { IndexChecks } from '../check-indices.ts';
import { ConstantUpload } from './constant-upload.ts';
import {
  type KernelMemory,
  loadKernelLibraries,
  type LoadOptions,
  type Upload,
} from './kernel-library.ts';
import type { HostFunctions } from './host-function.ts';
import { DEFAULT_LIMITS, type Limits } from '../invocation.ts';
import type { MachineInstrument } from '../profile/function-profile.ts';
import { link, type LinkedProgram } from './link.ts';
import { builtinLibrary, hostLibrary, type FunctionLibrary } from './function-library.ts';
import type { MachineValue } from '../values/value.ts';
import { type TypedBorder, typedBorder } from '../values/typed-values.ts';
import { VmState } from '../vm-state.ts';

/** The devices of a machine and its limits. */
export interface MachineOptions extends ProgramKernelLimits, CompileModeOption, PrecisionOption {
  /** Index 0 is the session's device, 1 the host. */
  readonly devices: readonly Device[];
  /** Functions that the program calls by name, beside builtins and kernels. */
  readonly functions?: HostFunctions | undefined;
  /**
   * The most bytes that constants may take a second time, in the form that kernels want, which is
   * then made once and not in every call; on each device. Default: a sixteenth of what they take on
   * WebGPU, and twice what they take in WebAssembly.
   */
  readonly prepackedBytes?: number | undefined;
  /** The most bytes to hold on each device, constants included. */
  readonly byteBudget?: number | undefined;
  /** Aborts the load, which then rejects with the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
  /** Called with the progress of the load. */
  readonly onProgress?: ((progress: MachineProgress) => void) | undefined;
  /** The data section as it arrives, in place of `executable.data`. */
  readonly dataBlocks?: AsyncIterable<DataBlock> | undefined;
  /**
   * Hashes of the data section, where it comes as `dataBlocks`; snapshots of the machine need them.
   */
  readonly dataHashes?: DataHashes | undefined;
  /** Limits of calls; the defaults of {@link Limits} stand for those that are absent. */
  readonly limits?: Partial<Limits> | undefined;
  /**
   * Milliseconds that a device may finish nothing while a kernel of this program is on it; then it
   * counts as lost. Default: what the device was made with, 30,000.
   */
  readonly deviceTimeout?: number | undefined;
  /** @internal In place of `deviceTimeout`: learns of losses of the device. */
  readonly owner?: LaunchOwner | undefined;
  /** False interprets every call, however often it is repeated. Default: true. */
  readonly replay?: boolean | undefined;
  /** Hooks around every call within the machine. Nothing is replayed then: what is replayed makes no calls. */
  readonly instrument?: MachineInstrument | undefined;
  /** @internal Of a program on the host that was widened: the constants that stood for float16, by their index. */
  readonly widened?: ReadonlySet<number> | undefined;
  /** Takes the lines of `vm.builtin.print`; default: the console. */
  readonly log?: ((line: string) => void) | undefined;
  /** Default: a pooled allocator for each device. */
  readonly createAllocator?: ((device: Device, byteBudget?: number) => Allocator) | undefined;
}

/** `compile` counts primitives, `upload` bytes of the data section. */
export interface MachineProgress {
  /** The step that is counted. */
  readonly phase: 'compile' | 'upload';
  /** Primitives or bytes that are done. */
  readonly loaded: number;
  readonly total: number;
}

export const DEVICE = having(
  'a device, as createDevice of weft-vm/worker makes one',
  'synchronize',
);

const ANY = ['anything', () => true] as const;
const areLimits = (value: unknown): boolean =>
  Object.keys(Object(value)).every((name) => name in DEFAULT_LIMITS);
export const MACHINE_OPTIONS = {
  devices: listOf(DEVICE),
  functions: 'object',
  prepackedBytes: 'number',
  byteBudget: 'bytes',
  signal: 'signal',
  onProgress: 'function',
  dataBlocks: ANY,
  dataHashes: ANY,
  limits: [`some of ${Object.keys(DEFAULT_LIMITS).join(', ')}`, areLimits],
  deviceTimeout: 'positive',
  owner: ANY,
  replay: 'boolean',
  instrument: ANY,
  widened: ANY,
  log: 'function',
  createAllocator: 'function',
  programKernels: oneOf('allow', 'refuse'),
  workgroupLimit: 'positive',
  compile: oneOf(...COMPILE_MODES),
  precision: oneOf(...PRECISIONS),
} as const;

/** The parts of a machine, once everything is resolved, prepared and uploaded. */
export interface LoadedMachine {
  readonly state: VmState;
  readonly linked: LinkedProgram;
  readonly constants: ConstantUpload;
  /** Kernels of each device, then builtins, then functions of the host. */
  readonly libraries: readonly FunctionLibrary[];
  readonly dataHashes: DataHashes | undefined;
  /**
   * Converts values at the border of programs with tuples, data or functions of JavaScript in their
   * types.
   */
  readonly border: TypedBorder | undefined;
}

export interface MachineInternals extends LoadedMachine {
  readonly runner: CallRunner;
}

/** A machine with its parts, for those who observe it. */
export interface OpenMachine {
  readonly executable: ExecutableData;
  internals(): MachineInternals;
}

type Program = ExecutableData & {
  readonly data?: Uint8Array;
  blocks?(): Iterable<DataBlock>;
};

/** With options that are checked. Prepares kernels while data blocks are uploaded, then links. Frees everything on failure. */
export async function loadMachine(
  program: Program,
  machine: MachineValue,
  options: MachineOptions,
): Promise<LoadedMachine> {
  const where = 'VirtualMachine.create';
  requireKind(where, MACHINE_OPTIONS.devices, ['devices', options.devices]);
  const isProgram = (value: unknown): boolean => 'metadata' in Object(value);
  requireKind(where, ['an Executable', isProgram], ['the program', program]);
  const { signal, log = (line) => console.log(line) } = options;
  if (signal?.aborted === true) throw abortError(signal);
  const { metadata } = program;
  const indexChecks = metadata[INDEX_CHECKS] === undefined ? undefined : new IndexChecks(metadata);
  const given = options.functions ?? {};
  const functions =
    program.metadata[NODE_CALLS] === undefined
      ? given
      : { ...given, ...(await import('./node-calls.ts')).nodeCalls(program, given) };
  const allocators = createAllocators(options);
  const [first, second] = allocators;
  if (first === undefined) throw noDevice();
  const fieldLimit = options.limits?.fields ?? DEFAULT_LIMITS.fields;
  const state = new VmState({ program, machine, allocators, log, fieldLimit });
  if (indexChecks !== undefined) state.observers.add(indexChecks);
  if (program.functionTable.some(({ name }) => /^vm\.builtin\.(append|whole)$/.test(name))) {
    state.growing = await import('../builtins/append-tensors.ts');
  }
  const { types } = program;
  const border = types && typedBorder(types, state);
  const hostFunctions = hostLibrary(functions, state, border?.converters);
  const constants = new ConstantUpload(program.constants, first, second);
  if (options.widened !== undefined) {
    const { WidenedStorages } = await import('../compare/widened-storages.ts');
    const dtypes = [...options.widened].map((index) => constants.values[index] ?? null);
    state.widened = new WidenedStorages(new Set(dtypes));
  }
  let kernelLibraries: readonly FunctionLibrary[] = [];
  try {
    const place: Upload = (tensor, device) => state.upload(tensor, indexOf(allocators, device));
    const memoryOn = (device: Device): KernelMemory => {
      const allocator = allocators[indexOf(allocators, device)] ?? first;
      const limit = options.prepackedBytes ?? constants.byteLength * PREPACKED_SHARE[device.kind];
      return {
        allocator,
        prepacking: prepackingBudget(allocator, limit),
        idle: { find: (size, except) => allocator.findFree(size, except) },
      };
    };
    kernelLibraries = await prepareAndUpload(program, constants, {
      ...options,
      upload: place,
      memoryOn,
    });
    const builtins = builtinLibrary(state);
    await settleWrites(options);
    const { values } = constants;
    const resolved = { kernelLibraries, builtins, hostFunctions, constants: values, machine };
    const linked = link(program, resolved);
    const libraries = [...kernelLibraries, builtins, hostFunctions];
    const { dataHashes } = options;
    return { state, linked, constants, libraries, dataHashes, border };
  } catch (error) {
    for (const library of kernelLibraries) library.dispose();
    constants.dispose();
    for (const allocator of allocators) allocator.dispose();
    throw error;
  }
}

/**
 * Of the bytes of constants. On WebGPU those of few kernels are prepacked, and some take four times
 * their bytes; in WebAssembly each product packs its weights, which take what they took before.
 */
const PREPACKED_SHARE: Readonly<Record<Device['kind'], number>> = {
  webgpu: 1 / 16,
  wasm: 2,
  host: 0,
};

/** One allocator for each distinct device; a machine on a processor alone has it at both indices. */
function createAllocators({ devices, byteBudget, createAllocator }: MachineOptions): Allocator[] {
  const create = createAllocator ?? ((device) => new PooledAllocator(device, { byteBudget }));
  const made = new Map<Device, Allocator>();
  const [first] = devices;
  const isAlone = devices.length === 1 && first !== undefined && first.kind !== 'webgpu';
  const all = isAlone ? [first, first] : devices;
  return all.map((device) => {
    const allocator = made.get(device) ?? create(device, byteBudget);
    made.set(device, allocator);
    return allocator;
  });
}

/** Counts against the allocator's budget too; what is beyond either is not prepacked. */
function prepackingBudget(allocator: Allocator, limit: number): PrepackingBudget {
  let rest = limit;
  return {
    reserve(byteLength) {
      if (byteLength > rest) return false;
      try {
        allocator.reserve(byteLength);
      } catch (error) {
        if (error instanceof OutOfMemoryError) return false;
        throw error;
      }
      rest -= byteLength;
      return true;
    },
  };
}

function indexOf(allocators: readonly Allocator[], device: Device): number {
  return allocators.findIndex((allocator) => allocator.device === device);
}

/** A constant that was not written would be wrong in every run. */
export async function settleWrites({
  devices,
  signal,
}: Pick<MachineOptions, 'devices' | 'signal'>) {
  await untilAborted(Promise.all(devices.map(async (device) => device.queue?.settle())), signal);
}

/** When one half fails the other is stopped, so that nothing goes on after the error. */
async function prepareAndUpload(
  program: Program,
  constants: ConstantUpload,
  options: MachineOptions & Pick<LoadOptions, 'upload' | 'memoryOn'>,
): Promise<readonly FunctionLibrary[]> {
  const { devices, onProgress, deviceTimeout } = options;
  const { owner = { deviceTimeout, faults: 0 }, programKernels, workgroupLimit } = options;
  const stop = new AbortController();
  const signal = AbortSignal.any([stop.signal, options.signal ?? stop.signal]);
  const compiling = loadKernelLibraries(devices, program.primitives, {
    signal,
    boundSymbols: symbolsOfParameters(program),
    compile: options.compile,
    precision: options.precision,
    owner,
    programKernels,
    workgroupLimit,
    upload: options.upload,
    memoryOn: options.memoryOn,
    onProgress: (loaded, total) => onProgress?.({ phase: 'compile', loaded, total }),
  });
  const uploading = upload(program, constants, { ...options, signal });
  const stopOther = (error: unknown): never => {
    stop.abort(error);
    throw error;
  };
  const [compiled, uploaded] = await Promise.allSettled([
    compiling.catch(stopOther),
    uploading.catch(stopOther),
  ]);
  if (compiled.status === 'fulfilled' && uploaded.status === 'fulfilled') return compiled.value;
  if (compiled.status === 'fulfilled') for (const library of compiled.value) library.dispose();
  throw stop.signal.reason;
}

/** The symbols that a call of a function binds before its code runs. */
function symbolsOfParameters({ functions }: Program): ReadonlySet<string> {
  const types = functions.flatMap(({ signature }) => signature?.params ?? []);
  const dims = types.flatMap((type) => (type.kind === 'tensor' ? type.shape : []));
  return new Set(dims.filter((dim) => typeof dim === 'string'));
}

async function upload(
  program: Program,
  constants: ConstantUpload,
  { dataBlocks, signal, onProgress }: MachineOptions,
): Promise<void> {
  const total = program.dataByteLength;
  const { data = new Uint8Array(0) } = program;
  const whole = program.blocks?.() ?? [{ byteOffset: 0, bytes: data }];
  for await (const block of dataBlocks ?? whole) {
    if (signal?.aborted === true) throw abortError(signal);
    constants.write(block);
    const loaded = block.byteOffset + block.bytes.byteLength;
    onProgress?.({ phase: 'upload', loaded, total });
  }
  constants.finish();
}

function noDevice(): UsageError {
  return new UsageError({
    where: 'VirtualMachine.create',
    got: 'no device',
    expected: 'at least one device',
    remedy: 'Pass `devices: [device]`.',
  });
}
