import { limited, messageOf } from '../limited.ts';
import { type Lab, openPage } from '../open-page.ts';
import type {
  GradientDistance,
  TrainingFigures,
  TrainingRuntime,
} from '../page/training/measure-training.ts';
import { figure } from '../table.ts';
import { buildTraining, RATE, type TrainingCaseName } from './training-cases.ts';

/** So many times as fast as the faster of the peers a step has to be. */
const TARGET = 1.5;
/** Losses of the first steps may differ by this share. */
const TOLERANCE = 0.01;
/** Of the gradients of a parameter in jax-js, by norms. */
const GRADIENT_TOLERANCE = 1e-4;

/** Of a case, in which all runtimes make their steps one after the other. */
const LIMIT_MS = 900_000;

export interface TrainingResult {
  readonly name: TrainingCaseName;
  readonly runtimes: Readonly<Record<string, TrainingFigures>>;
}

/** Measures a step of training in all runtimes. */
export async function measureTrainings(
  lab: Lab,
  names: readonly TrainingCaseName[],
): Promise<TrainingResult[]> {
  const results: TrainingResult[] = [];
  for (const name of names) {
    console.error(name);
    const { trainingCase, files } = buildTraining(name);
    lab.server.offer(files);
    const peers = (['jax', 'tensorflow'] as const).filter((peer) => lab.peers.includes(peer));
    const runtimes: readonly TrainingRuntime[] = ['weft', ...peers];
    const request = { trainingCase, device: lab.device, rate: RATE, runtimes, rounds: lab.runs };
    const page = await openPage(lab);
    try {
      const measured = await limited(
        page.evaluate((given) => globalThis.bench.training(given), request),
        LIMIT_MS,
      );
      results.push({ name, runtimes: measured });
      for (const [runtime, figures] of Object.entries(measured)) {
        console.error(`  ${runtime}: ${describe(figures, lab)}`);
      }
    } catch (error) {
      console.error(`  ${messageOf(error)}`);
      results.push({ name, runtimes: { weft: { failure: messageOf(error) } } });
    } finally {
      await page.context().close();
    }
  }
  return results;
}

const msOf = (figures: TrainingFigures | undefined, { device }: Pick<Lab, 'device'>): number => {
  if (figures === undefined || 'failure' in figures) return Number.NaN;
  return device === 'wasm' ? figures.leastMs : figures.medianMs;
};

function describe(figures: TrainingFigures, lab: Lab): string {
  if ('failure' in figures) return `failed: ${figures.failure.split('\n')[0] ?? ''}`;
  const megabytes = figures.peakBytes / 2 ** 20;
  const [first = 0] = figures.losses;
  const last = figures.losses.at(-1) ?? 0;
  return (
    `${figure(msOf(figures, lab))} ms a step, ${figure(megabytes)} MB at the peak, ` +
    `loss ${first.toFixed(4)} to ${last.toFixed(4)}${describeGradients(figures.apart)}`
  );
}

function describeGradients(apart: GradientDistance | undefined): string {
  if (apart === undefined) return '';
  return `, gradients at most ${apart.relative.toExponential(1)} from Weft's (${apart.parameter})`;
}

/** The table of the steps, with ratios to the faster of the peers and to the smaller of their memories. */
export function trainingTable(results: readonly TrainingResult[], lab: Lab): string {
  const rows = results.map(({ name, runtimes }) => {
    const cells = ['weft', 'jax', 'tensorflow'].map((runtime) => {
      const figures = runtimes[runtime];
      if (figures === undefined) return '';
      if ('failure' in figures) return 'failed';
      return `${figure(msOf(figures, lab))} ms, ${figure(figures.peakBytes / 2 ** 20)} MB`;
    });
    const { speed, memory } = ratiosOf(runtimes, lab);
    return `| ${[name, ...cells, ratio(speed), ratio(memory)].join(' | ')} |`;
  });
  return [
    `| step of training | Weft | jax-js | TensorFlow.js | as fast (of ${TARGET}x) | memory (at most 1x) |`,
    '|---|---|---|---|---|---|',
    ...rows,
  ].join('\n');
}

const ratio = (value: number): string => (Number.isNaN(value) ? '' : `${value.toFixed(2)}x`);

function ratiosOf(
  runtimes: TrainingResult['runtimes'],
  lab: Pick<Lab, 'device'>,
): { speed: number; memory: number } {
  const { weft, ...peers } = runtimes;
  const running = Object.values(peers).flatMap((figures) =>
    'failure' in figures ? [] : [figures],
  );
  if (weft === undefined || 'failure' in weft || running.length === 0) {
    return { speed: Number.NaN, memory: Number.NaN };
  }
  const best = running.reduce((a, b) => (msOf(a, lab) <= msOf(b, lab) ? a : b));
  return {
    speed: msOf(best, lab) / msOf(weft, lab),
    memory: weft.peakBytes / best.peakBytes,
  };
}

/** Targets that were missed and results that differ, a line each. */
export function trainingComplaints(results: readonly TrainingResult[], lab: Lab): string[] {
  return results.flatMap(({ name, runtimes }) => {
    const { weft } = runtimes;
    if (weft === undefined || 'failure' in weft) return [`${name}: Weft failed`];
    const { speed, memory } = ratiosOf(runtimes, lab);
    const slow = speed < TARGET ? [`${name}: ${ratio(speed)} of ${TARGET}x`] : [];
    const large = memory > 1 ? [`${name}: ${ratio(memory)} of the memory, at most 1x`] : [];
    const differing = Object.entries(runtimes).flatMap(([runtime, figures]) => {
      if ('failure' in figures) return [];
      const isOff = figures.losses.some((loss, i) => {
        const wanted = weft.losses[i] ?? Number.NaN;
        return !(Math.abs(loss - wanted) <= TOLERANCE * Math.abs(wanted));
      });
      const { apart } = figures;
      const isApart = apart !== undefined && !(apart.relative <= GRADIENT_TOLERANCE);
      return [
        ...(isOff ? [`${name}: losses of ${runtime} differ: ${figures.losses.join(', ')}`] : []),
        ...(isApart ? [`${name}: gradients of ${runtime} differ${describeGradients(apart)}`] : []),
      ];
    });
    return [...slow, ...large, ...differing];
  });
}
