import { internalError } from '../../core/errors.ts';
import type { DataBlock } from '../../bytecode/file/executable-reader.ts';
import { CLOCK } from '../../core/async/clock.ts';
import { macrotask } from '../../core/async/macrotask.ts';
import type { DevicePool, PooledOptions } from '../devices/device-pool.ts';
import { HandleTable } from '../host/held-values.ts';
import { HostedSession } from '../host/hosted-session.ts';
import type { DecidedLoad } from '../devices/opened-devices.ts';
import type { RunRequest } from '../protocol/run-request.ts';
import { withWasmBeside } from '../devices/second-device.ts';
import type { SessionDevices } from '../host/shared-use.ts';
import { machineOptions } from '../host/within-ceilings.ts';
import type { RunTimes } from './choose-place.ts';

interface PlaceTrialOptions {
  readonly pool: DevicePool;
  readonly load: DecidedLoad;
  /** The key of the program; see `programKey`. */
  readonly key: string;
  /** Its data, once the session is loaded. */
  readonly blocks: readonly DataBlock[];
}

/** Turns of each device; the first one makes kernels and records. */
const ROUND_COUNT = 4;
/** A turn takes so long, while nobody else comes: clocks of browsers are coarse. */
const TURN_MS = 20;

/** Runs a program on both devices, in machines of its own: the session of the page knows nothing of it. */
export class PlaceTrial {
  readonly key: string;
  readonly #options: PlaceTrialOptions;

  constructor(options: PlaceTrialOptions) {
    this.key = options.key;
    this.#options = options;
  }

  /**
   * The times of a run on each, those of the fastest turns. `idle` resolves when nobody uses the device of the session. Rejects when a run or a
   * device fails, or `idle` does.
   */
  async run(request: RunRequest, idle: () => Promise<void>): Promise<RunTimes> {
    const opened: HostedSession[] = [];
    try {
      for (const kind of ['webgpu', 'wasm'] as const) {
        await idle();
        opened.push(await this.#open(kind));
      }
      const times = opened.map(() => Number.POSITIVE_INFINITY);
      for (let round = 0; round < ROUND_COUNT; round++) {
        for (const [i, hosted] of opened.entries()) {
          await idle();
          const ms = await meanOf(hosted, request);
          if (round > 0) times[i] = Math.min(times[i] ?? ms, ms);
        }
      }
      const [webgpu = Number.NaN, wasm = Number.NaN] = times;
      if (!Number.isFinite(webgpu + wasm)) throw new Error('others used the devices all the time');
      return { webgpu, wasm };
    } finally {
      for (const hosted of opened) void hosted.dispose();
    }
  }

  async #open(kind: 'webgpu' | 'wasm'): Promise<HostedSession> {
    const { load, blocks } = this.#options;
    const { executable } = load.program;
    const { deviceTimeout } = load.request;
    const devices = await this.#acquire(kind, load.request);
    const dataBlocks = stream(blocks);
    const options = machineOptions(load.request, { deviceTimeout, faults: 0 });
    try {
      const machine = await load.createMachine(executable, devices, { ...options, dataBlocks });
      const { runTimeout } = load.request;
      const table = new HandleTable();
      const loadTools = () => Promise.reject(internalError('a request to a trial'));
      const parts = { devices, runTimeout, table, clock: CLOCK, loadTools };
      return new HostedSession(machine, parts);
    } catch (error) {
      devices.main.release();
      devices.host.release();
      throw error;
    }
  }

  async #acquire(kind: 'webgpu' | 'wasm', options: PooledOptions): Promise<SessionDevices> {
    const { pool, load } = this.#options;
    const main = await pool.acquire(kind, options);
    try {
      const host = await pool.acquire(kind === 'wasm' ? 'wasm' : 'host', options);
      try {
        return await withWasmBeside({ main, host }, { pool, options }, load.program.executable);
      } catch (error) {
        host.release();
        throw error;
      }
    } catch (error) {
      main.release();
      throw error;
    }
  }
}

/** The mean of the runs of one turn; Infinity where others came. */
async function meanOf(hosted: HostedSession, request: RunRequest): Promise<number> {
  const { signal } = new AbortController();
  const { device } = hosted;
  const { useCount } = device;
  const begin = performance.now();
  for (let count = 1; ; count++) {
    await hosted.run(request, signal);
    // Messages that have arrived come first.
    await macrotask();
    if (device.useCount - useCount !== count) return Number.POSITIVE_INFINITY;
    const ms = performance.now() - begin;
    if (ms >= TURN_MS) return ms / count;
  }
}

async function* stream(blocks: readonly DataBlock[]): AsyncGenerator<DataBlock, void> {
  yield* blocks;
}
