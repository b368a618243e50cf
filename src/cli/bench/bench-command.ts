import type { Inputs } from '../../client/index.ts';
import { randomInputs } from '../../client/values/random-inputs.ts';
import { UsageError } from '../../core/errors.ts';
import { seededRandom } from '../../core/random.ts';
import { checkInputs } from '../check-inputs.ts';
import { type OpenedSession, type OpenFlags, openSession, readInputs } from '../open-session.ts';
import { writeJson } from '../report.ts';
import { ProgressLine, type Terminal } from '../terminal.ts';

export interface BenchFlags extends Omit<OpenFlags, 'device'> {
  readonly device: readonly OpenFlags['device'][];
  readonly input?: Record<string, string>;
  readonly runs: number;
  readonly seed: number;
  readonly json?: boolean;
}

interface DeviceTimes extends Spread {
  readonly device: string;
  /** From the file to a session, compiling included. */
  readonly loadMs: number;
  /** The first run, which compiles kernels and plans. */
  readonly firstMs: number;
}

/** Before anything is timed a program runs so long, so that engines have compiled. */
const WARM_MS = 1000;
const FEWEST_RUNS = 3;
/** A device takes no longer than that, however many runs are left. */
const LIMIT_MS = 20_000;

/** `weft bench`: times a program on devices, which take turns run by run. */
export async function benchProgramCommand(
  path: string,
  flags: BenchFlags,
  terminal: Terminal,
): Promise<number> {
  await checkInputs(path, flags.input ?? {}, flags);
  const progress = new ProgressLine(terminal);
  const entrants: Entrant[] = [];
  try {
    for (const device of new Set(flags.device)) {
      const entrant = await enter({ path, device, terminal }, flags);
      entrants.push(entrant);
      progress.show(`warming up on ${entrant.name}`);
      await entrant.warm();
    }
    const begin = performance.now();
    const limitMs = LIMIT_MS * entrants.length;
    for (let i = 0; i < flags.runs; i++) {
      if (i >= FEWEST_RUNS && performance.now() - begin > limitMs) break;
      progress.show(`run ${i + 1} of ${flags.runs}`);
      for (const entrant of entrants) entrant.times.push(await entrant.time());
    }
    progress.clear();
    const results = entrants.map((entrant) => entrant.result());
    if (flags.json === true) writeJson(terminal, 'bench', { file: path, devices: results });
    else terminal.out(describe(results));
    return 0;
  } finally {
    progress.clear();
    for (const entrant of entrants) await entrant.close();
  }
}

/** A session with inputs, and its times. */
class Entrant {
  readonly name: string;
  readonly times: number[] = [];
  readonly close: () => Promise<void>;
  readonly #opened: OpenedSession;
  readonly #loadMs: number;
  readonly #run: () => Promise<void>;
  #firstMs = Number.NaN;

  constructor(name: string, opened: OpenedSession, { loadMs, run }: EntrantParts) {
    this.name = name;
    this.#opened = opened;
    this.#loadMs = loadMs;
    this.#run = run;
    this.close = () => this.#opened.close();
  }

  async warm(): Promise<void> {
    const begin = performance.now();
    this.#firstMs = await this.time();
    while (performance.now() - begin < WARM_MS) await this.time();
  }

  async time(): Promise<number> {
    const begin = performance.now();
    await this.#run();
    return performance.now() - begin;
  }

  result(): DeviceTimes {
    const { name: device } = this;
    return { device, loadMs: this.#loadMs, firstMs: this.#firstMs, ...spreadOf(this.times) };
  }
}

interface EntrantParts {
  readonly loadMs: number;
  readonly run: () => Promise<void>;
}

interface Place {
  readonly path: string;
  readonly device: OpenFlags['device'];
  readonly terminal: Terminal;
}

async function enter({ path, device, terminal }: Place, flags: BenchFlags): Promise<Entrant> {
  const begin = performance.now();
  const opened = await openSession(path, { ...flags, device }, terminal);
  const loadMs = performance.now() - begin;
  try {
    const { session } = opened;
    const inputs = await inputsFor(opened, flags);
    const options = flags.function === undefined ? {} : { function: flags.function };
    const run = async (): Promise<void> => {
      const outputs = await session.run(inputs, options);
      for (const output of Object.values(outputs)) output.dispose();
    };
    const { kind, name } = session.device;
    const inBrowser = device === 'browser' ? 'browser, ' : '';
    return new Entrant(`${inBrowser}${kind === name ? kind : `${kind} (${name})`}`, opened, {
      loadMs,
      run,
    });
  } catch (error) {
    await opened.close();
    throw error;
  }
}

/** Given ones, and random ones, the same for a seed. */
async function inputsFor({ session }: OpenedSession, flags: BenchFlags): Promise<Inputs> {
  const { input = {}, dim = {}, seed, function: name = 'main' } = flags;
  const given = await readInputs(session, input, name);
  // Types of the inputs of other functions are not known here.
  if (name !== 'main') return given;
  const others = session.inputs.filter((info) => !Object.hasOwn(input, info.name));
  const open = others.find(({ dtype }) => dtype === 'any');
  if (open !== undefined) {
    throw new UsageError({
      where: `input "${open.name}"`,
      got: 'a program that takes anything there',
      expected: 'inputs that are tensors or numbers',
    });
  }
  return { ...randomInputs(others, new Map(Object.entries(dim)), seededRandom(seed)), ...given };
}

function describe(results: readonly DeviceTimes[]): string {
  const width = Math.max(6, ...results.map(({ device }) => device.length));
  const row = (name: string, cells: readonly string[]): string =>
    `${name.padEnd(width)}  ${cells.map((cell) => cell.padStart(11)).join(' ')}\n`;
  const head = ['median ms', 'half within', '', 'fastest ms', 'first ms', 'load ms', 'runs'];
  const rows = results.map((result) =>
    row(result.device, [
      ...[result.medianMs, result.lowerMs, result.upperMs, result.fastestMs].map(milliseconds),
      ...[result.firstMs, result.loadMs].map(milliseconds),
      String(result.runs),
    ]),
  );
  return `${row('device', head)}${rows.join('')}`;
}

const milliseconds = (value: number): string => value.toFixed(value >= 100 ? 0 : 3);

/** Milliseconds of runs: the middle one, and how far the others are spread. */
interface Spread {
  readonly runs: number;
  readonly medianMs: number;
  readonly fastestMs: number;
  /** A quarter of the runs took less. */
  readonly lowerMs: number;
  /** A quarter of the runs took more. */
  readonly upperMs: number;
}

/** The spread of at least one time. */
export function spreadOf(times: readonly number[]): Spread {
  const sorted = times.toSorted((a, b) => a - b);
  return {
    runs: sorted.length,
    medianMs: quantile(sorted, 0.5),
    fastestMs: quantile(sorted, 0),
    lowerMs: quantile(sorted, 0.25),
    upperMs: quantile(sorted, 0.75),
  };
}

/** Between neighbours in proportion. */
function quantile(sorted: readonly number[], share: number): number {
  const place = share * (sorted.length - 1);
  const [low = Number.NaN, high = low] = [sorted[Math.floor(place)], sorted[Math.ceil(place)]];
  return low + (high - low) * (place - Math.floor(place));
}
