import { BUILTIN_PREFIX } from '../../bytecode/builtins.ts';
import type { ExecutableData } from '../../bytecode/executable.ts';
import type { DataBlock } from '../../bytecode/file/executable-reader.ts';
import { type DeviceRates, launchTime, usualRates } from '../../core/contracts/device-rates.ts';
import { DeviceError } from '../../core/errors.ts';
import { KERNEL_OPS } from '../../ops/tables/kernel-ops.ts';
import type { DevicePool, PooledOptions, SharedDevice } from '../devices/device-pool.ts';
import type { DecidedDevices, DecidedLoad, OpenedDevices } from '../devices/opened-devices.ts';
import { choosePlace, type RunTimes } from './choose-place.ts';
import { FirstRuns } from './first-runs.ts';
import { type Findings, PlaceStore } from './place-store.ts';
import { PlaceTrial } from './place-trial.ts';
import { programWork, type ProgramWork } from './program-work.ts';

/** A trial holds the weights twice more. */
const MOST_TRIAL_BYTES = 2 ** 24;

/**
 * The device of a program where there are graphics hardware and WebAssembly: the faster one, by measured
 * times of its runs, or by an estimate, which is checked while the device is idle where it is close.
 */
export async function decideDevice(
  pool: DevicePool,
  opened: OpenedDevices,
  load: DecidedLoad,
): Promise<DecidedDevices> {
  const { program, operators = KERNEL_OPS } = load;
  const { executable } = program;
  const { info } = opened.main.device;
  const work = programWork(executable, operators);
  if (work === undefined || info.adapterClass === 'host' || info.adapterClass === 'wasm')
    return opened;
  const store = await PlaceStore.of(opened.main);
  const key = programKey(executable);
  const times = estimate(work, info.adapterClass, store.findings);
  const measured = store.findings.programs.find((one) => one.program === key)?.times;
  const { kind, reason, isNear } = choosePlace(info.name, times, measured);
  const devices =
    kind === 'webgpu'
      ? { ...opened, reason }
      : await toWasm(pool, opened, { reason, options: load.request });
  const isTried = isNear && !devices.fallbackReason && isRepeatable(executable);
  const kept = isTried ? keep(program.blocks) : undefined;
  const trial = kept && new PlaceTrial({ pool, load, key, blocks: kept.blocks });
  const runs = new FirstRuns({ store, kind: devices.main.device.kind, trial });
  return {
    ...devices,
    ...(kept && { program: { ...program, blocks: kept.passing } }),
    observer: runs,
  };
}

function estimate(
  work: ProgramWork,
  adapterClass: Parameters<typeof usualRates>[0],
  { gpu = usualRates(adapterClass), wasm = usualRates('wasm') }: Findings,
): RunTimes {
  return { webgpu: estimateOnGpu(work, gpu, wasm), wasm: estimateOnProcessor(work, wasm) };
}

/** The devices in WebAssembly; those that were opened, where it cannot run. */
async function toWasm(
  pool: DevicePool,
  opened: OpenedDevices,
  { reason, options }: { readonly reason: string; readonly options: PooledOptions },
): Promise<OpenedDevices> {
  let main: SharedDevice;
  try {
    main = await pool.acquire('wasm', options);
  } catch (error) {
    if (!(error instanceof DeviceError)) throw error;
    return {
      ...opened,
      reason: `${reason} WebAssembly cannot run.`,
      fallbackReason: error.message,
    };
  }
  opened.main.release();
  opened.host.release();
  return { main, host: await pool.acquire('wasm', options), reason };
}

/** Small, and without functions of JavaScript, which may do something that must not be done twice. */
function isRepeatable({ dataByteLength, functionTable }: ExecutableData): boolean {
  return (
    dataByteLength <= MOST_TRIAL_BYTES &&
    functionTable.every(({ kind, name }) => kind !== 'packed' || name.startsWith(BUILTIN_PREFIX))
  );
}

/** Blocks that are remembered as they pass. */
function keep(blocks: AsyncIterable<DataBlock>) {
  const kept: DataBlock[] = [];
  async function* pass(): AsyncGenerator<DataBlock, void> {
    for await (const block of blocks) {
      kept.push({ ...block, bytes: block.bytes.slice() });
      yield block;
    }
  }
  return { blocks: kept, passing: pass() };
}

/** Two 32-bit FNV-1a hashes of what a program does, not of its weights. */
function programKey({ code, primitives }: ExecutableData): string {
  const text = JSON.stringify(primitives);
  return hash(code, text, 0x811c9dc5) + hash(code, text, 0x01000193);
}

function hash(code: Uint32Array, text: string, start: number): string {
  let value = start;
  for (const word of code) value = Math.imul(value ^ word, 0x01000193);
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
  return (value >>> 0).toString(16).padStart(8, '0');
}

/** Milliseconds of a run on WebGPU. Each call of a kernel on the host costs a round trip. */
export function estimateOnGpu(work: ProgramWork, rates: DeviceRates, host: DeviceRates): number {
  const { onHost } = work;
  const trips = 1 + onHost.reduce((sum, { count }) => sum + count, 0);
  return trips * rates.roundTripMs + launchesMs(work.launches, rates) + launchesMs(onHost, host);
}

/** Milliseconds of a run on a processor. */
export function estimateOnProcessor({ launches, onHost }: ProgramWork, rates: DeviceRates): number {
  return rates.roundTripMs + launchesMs([...launches, ...onHost], rates);
}

/** One after the other: each computes or waits for memory. */
function launchesMs(launches: ProgramWork['launches'], rates: DeviceRates): number {
  return launches.reduce((sum, launch) => sum + launch.count * launchTime(launch, rates), 0);
}
