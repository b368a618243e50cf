import { BUILTIN_PREFIX } from '../../bytecode/builtins.ts';
import type { ExecutableData } from '../../bytecode/executable.ts';
import type { DataBlock } from '../../bytecode/executable-reader.ts';
import { usualRates } from '../../core/device-rates.ts';
import { DeviceError } from '../../core/errors.ts';
import { KERNEL_OPS } from '../../ops/tables/kernel-ops.ts';
import type { DevicePool, PooledOptions, SharedDevice } from '../device-pool.ts';
import type { DecidedDevices, DecidedLoad, OpenedDevices } from '../opened-devices.ts';
import { choosePlace, type RunTimes } from './choose-place.ts';
import { FirstRuns } from './first-runs.ts';
import { type Findings, PlaceStore } from './place-store.ts';
import { PlaceTrial } from './place-trial.ts';
import { programKey } from './program-key.ts';
import { programWork, type ProgramWork } from './program-work.ts';
import { estimateOnGpu, estimateOnProcessor } from './run-estimate.ts';

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
    loaded: (hosted) => runs.follow(hosted),
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
