import { untilAborted } from '../../core/async/until-aborted.ts';
import type { Device } from '../../device/device.ts';
import type { DeviceRates } from '../../core/contracts/device-rates.ts';
import { changeEntry, keyOf, readEntry } from '../devices/choice-store.ts';
import type { RunTimes } from './choose-place.ts';

interface MeasuredProgram {
  /** The key of the program; see `programKey`. */
  readonly program: string;
  readonly times: RunTimes;
}

/** Findings about an adapter and the processor beside it. */
export interface Findings {
  readonly gpu?: DeviceRates | undefined;
  readonly wasm?: DeviceRates | undefined;
  readonly programs: readonly MeasuredProgram[];
}

interface MeasuredDevice {
  readonly device: Pick<Device, 'info'>;
  readonly places: PlaceStores;
}

/** So many programs are remembered for an adapter; the ones measured first go first. */
const MOST_PROGRAMS = 1024;
/** No load waits longer for what is stored. */
const PATIENCE_MS = 1000;

/** Those of the adapters that the devices of a pool are of. */
export type PlaceStores = Map<string, Promise<PlaceStore>>;

/**
 * Measured rates and run times of an adapter, stored beside its tuning choices; in memory alone
 * where there is no IndexedDB, as in Node.
 */
export class PlaceStore {
  readonly #key: string;
  #findings: Findings;

  /** The one of the adapter of a device, with what earlier visits stored. */
  static of({ device, places }: MeasuredDevice): Promise<PlaceStore> {
    const key = `${'indexedDB' in globalThis ? keyOf(device) : device.info.name}|places`;
    const known = places.get(key) ?? open(key);
    places.set(key, known);
    return known;
  }

  constructor(key: string, stored: unknown) {
    this.#key = key;
    this.#findings = toFindings(stored);
  }

  get findings(): Findings {
    return this.#findings;
  }

  /**
   * Adds findings, also to those that other tabs stored meanwhile. Findings that cannot be stored
   * stay in memory.
   */
  async add(found: Partial<Findings>): Promise<void> {
    this.#findings = mergeFindings(this.#findings, found);
    if (!('indexedDB' in globalThis)) return;
    await changeEntry(this.#key, (stored) => mergeFindings(toFindings(stored), found)).catch(
      () => undefined,
    );
  }
}

async function open(key: string): Promise<PlaceStore> {
  if (!('indexedDB' in globalThis)) return new PlaceStore(key, undefined);
  const reading = untilAborted(readEntry(key), AbortSignal.timeout(PATIENCE_MS));
  return new PlaceStore(key, await reading.catch(() => undefined));
}

/** One entry for each program, those that came last at the end. */
export function mergeFindings(known: Findings, found: Partial<Findings>): Findings {
  const programs = new Map<string, MeasuredProgram>();
  for (const measured of [...known.programs, ...(found.programs ?? [])]) {
    programs.delete(measured.program);
    programs.set(measured.program, measured);
  }
  return {
    gpu: found.gpu ?? known.gpu,
    wasm: found.wasm ?? known.wasm,
    programs: [...programs.values()].slice(-MOST_PROGRAMS),
  };
}

/** The content of a store, whoever wrote it. */
export function toFindings(stored: unknown): Findings {
  const [gpu, wasm, programs] = ['gpu', 'wasm', 'programs'].map((name) => fieldOf(stored, name));
  return {
    gpu: isRates(gpu) ? gpu : undefined,
    wasm: isRates(wasm) ? wasm : undefined,
    programs: Array.isArray(programs) ? programs.filter(isMeasured) : [],
  };
}

function isRates(item: unknown): item is DeviceRates {
  const names = ['roundTripMs', 'launchMs', 'operationsPerMs', 'bytesPerMs'];
  return names.every((name) => isPositive(fieldOf(item, name)));
}

function isMeasured(item: unknown): item is MeasuredProgram {
  const times = fieldOf(item, 'times');
  return (
    typeof fieldOf(item, 'program') === 'string' &&
    ['webgpu', 'wasm'].every((name) => isPositive(fieldOf(times, name)))
  );
}

function isPositive(value: unknown): boolean {
  return typeof value === 'number' && value > 0 && Number.isFinite(value);
}

function fieldOf(item: unknown, name: string): unknown {
  return typeof item === 'object' && item !== null ? Reflect.get(item, name) : undefined;
}
