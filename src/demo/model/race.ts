import { type Inputs, Session, type SessionSource } from '../../client/index.ts';
import { element } from '../element.ts';
import { describeError, formatMs } from '../../core/format-quantity.ts';
import { median } from '../../core/median.ts';

/** A device is measured so long, or so many times, whichever ends first. */
const MEASURE_MS = 1500;
const MOST_SAMPLES = 40;
/** The clock of a page may step by a millisecond: so long is what one look at it measures. */
const SAMPLE_MS = 25;

/** One who runs the model, with results that nobody looks at. */
export interface Runner {
  run(): Promise<unknown>;
  dispose(): Promise<void>;
}

interface Lane {
  readonly row: HTMLElement;
  readonly fill: HTMLElement;
  readonly value: HTMLElement;
  ms: number | undefined;
}

/** The same model on several devices, one after the other, as bars that fill while they are measured. */
export class Race {
  readonly root = element('ol', { class: 'bars race', 'aria-label': 'Time of a run' });
  readonly #lanes = new Map<string, Lane>();

  /** Adds a runner and measures it. An error stands in the place of its time. */
  async add(name: string, open: () => Promise<Runner>): Promise<void> {
    const lane = this.#lane(name);
    lane.value.textContent = 'loading';
    try {
      const runner = await open();
      try {
        lane.ms = await this.#measure(runner, lane);
      } finally {
        await runner.dispose();
      }
      this.#compare();
    } catch (error) {
      lane.ms = undefined;
      lane.fill.style.transform = 'scaleX(0)';
      lane.value.textContent = describeError(error);
    }
  }

  #lane(name: string): Lane {
    const known = this.#lanes.get(name);
    if (known !== undefined) return known;
    const fill = element('div', { class: 'bar-fill' });
    const value = element('span', { class: 'bar-value' });
    const track = element('div', { class: 'bar-track' }, fill);
    const row = element('li', { class: 'bar' }, element('span', {}, name), track, value);
    this.root.append(row);
    const lane: Lane = { row, fill, value, ms: undefined };
    this.#lanes.set(name, lane);
    return lane;
  }

  /** The median of what was measured behind the first run, in milliseconds. */
  async #measure(runner: Runner, { fill, value }: Lane): Promise<number> {
    await runner.run();
    const begin = performance.now();
    const times: number[] = [];
    while (
      times.length < MOST_SAMPLES &&
      (times.length === 0 || performance.now() - begin < MEASURE_MS)
    ) {
      times.push(await timeOfRun(runner));
      const share = Math.max(times.length / MOST_SAMPLES, (performance.now() - begin) / MEASURE_MS);
      fill.style.transform = `scaleX(${Math.min(1, share)})`;
      value.textContent = formatMs(median(times));
    }
    return median(times);
  }

  /** The longest time has the longest bar. */
  #compare(): void {
    const lanes = [...this.#lanes.values()];
    const times = lanes.flatMap(({ ms }) => (ms === undefined ? [] : [ms]));
    const [longest, shortest] = [Math.max(...times), Math.min(...times)];
    const best = lanes.find(({ ms }) => ms === shortest);
    for (const lane of lanes) {
      if (lane.ms === undefined) continue;
      lane.fill.style.transform = `scaleX(${lane.ms / longest})`;
      lane.row.toggleAttribute('data-best', lane === best);
    }
  }
}

/** A session of its own on a device, which runs the same inputs again and again. */
export async function sessionRunner(
  source: SessionSource,
  device: 'webgpu' | 'wasm' | 'host',
  { inputs, signal }: { readonly inputs: Inputs; readonly signal: AbortSignal },
): Promise<Runner> {
  const session = await Session.load(source, { device, signal });
  return { run: () => session.run(inputs, { signal }), dispose: () => session.dispose() };
}

/** The mean of as many runs as the clock needs to tell them from others, in milliseconds. */
async function timeOfRun(runner: Runner): Promise<number> {
  const started = performance.now();
  let elapsed: number;
  let runs = 0;
  do {
    await runner.run();
    runs++;
    elapsed = performance.now() - started;
  } while (elapsed < SAMPLE_MS);
  return elapsed / runs;
}
