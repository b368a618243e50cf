import type { CasePlan, Peer, RunName, RuntimeName } from './cases/bench-case.ts';
import { type Cell, differs, rateOf, type Standard, timeOf } from './cells.ts';
import type { CaseResult, ColdResult } from './measure-case.ts';
import type { Method } from './methods.ts';
import type { MachineFigure } from './page/machine-steps.ts';
import type { AdapterReport } from './page/measure-ceilings.ts';
import type { RuntimeResult } from './race.ts';
import { figure, markdown } from './table.ts';

const TITLES: Readonly<Record<RuntimeName, string>> = {
  weft: 'Weft',
  onnxruntime: 'onnxruntime-web',
  tensorflow: 'TensorFlow.js',
  jax: 'jax-js',
};

const RUN_TITLES: Readonly<Record<RunName, string>> = {
  ...TITLES,
  'weft-resident': 'Weft on device',
  'weft-float32': 'Weft float32',
  'weft-one-thread': 'Weft on one thread',
  floor: 'floor',
  'multiply-adds': 'multiply-adds',
  'byte-products': 'byte products',
};

export interface Outcome {
  readonly plan: CasePlan;
  readonly result: CaseResult;
}

interface TableOptions {
  readonly peers: readonly Peer[];
  readonly method: Method;
  readonly ceilings: AdapterReport;
}

/** A column of the warm table: its title and the cells of its rows. */
interface Column {
  readonly title: string;
  readonly cell: (outcome: Outcome) => string;
}

/** The warm runs as a Markdown table; each row says what was to be reached and whether it was. */
export function warmTable(outcomes: readonly Outcome[], options: TableOptions): string {
  const { peers, method } = options;
  const time = (name: RunName, title = RUN_TITLES[name]): Column => ({
    title: `${title} ms`,
    cell: ({ result }) => milliseconds(result.runtimes[name], method) + memory(result, name),
  });
  const columns: Column[] = [
    { title: 'case', cell: ({ plan }) => plan.title },
    {
      title: `${method.floor.title} ms`,
      cell: ({ result }) => milliseconds(result.runtimes.floor, method),
    },
    time('weft'),
    ...(method.residentPeers.length > 0 ? [time('weft-resident')] : []),
    ...peers.flatMap((peer) => [
      time(peer),
      { title: 'ratio', cell: ({ result }: Outcome) => cellText(cellAgainst(result, peer)) },
    ]),
    { title: 'of ceiling', cell: (outcome) => shareCell(outcome, options) },
    ...OWN.flatMap(({ against, title }) =>
      outcomes.some(({ result }) => cellAgainst(result, against) !== undefined)
        ? [{ title, cell: ({ result }: Outcome) => cellText(cellAgainst(result, against)) }]
        : [],
    ),
  ];
  return markdown(
    columns.map(({ title }) => title),
    outcomes.map((outcome) => columns.map(({ cell }) => cell(outcome))),
  );
}

/** Comparisons of Weft with itself, and of its memory with that of the fastest peer. */
const OWN = [
  { against: 'float32', title: 'own float32' },
  { against: 'oneThread', title: 'own, one thread' },
  { against: 'memory', title: 'memory' },
] as const;

const cellAgainst = ({ cells }: CaseResult, name: Peer | Standard): Cell | undefined =>
  cells.find(({ against }) => against === name);

/** A time, and whether Weft was in the page where it is elsewhere otherwise. */
function milliseconds(result: RuntimeResult | undefined, method: Method): string {
  if (result === undefined) return '';
  if ('failure' in result) return 'fails';
  const isMarked = method.inPageMs > 0 && result.isInPage;
  return `${figure(result.ms)}${isMarked ? '*' : ''}`;
}

/** Such as `, 8.50 MB`, where it is counted. */
function memory({ runtimes }: CaseResult, name: RunName): string {
  const result = runtimes[name];
  const bytes = result && 'ms' in result ? result.peakBytes : undefined;
  return bytes === undefined ? '' : `, ${figure(bytes / 2 ** 20)} MB`;
}

/** Such as `9.3x of 8x`, `5.1x of 8x: missed`, `2.3x of 6x: missed, the floor is 5.1x`. */
function cellText(cell: Cell | undefined): string {
  if (cell === undefined) return '';
  const { ratio, target, most, isReached } = cell;
  const promised = target === undefined ? '' : ` of ${target}x`;
  return `${figure(ratio)}x${promised}${verdict(cell)}${cell.differs ? ' (outputs differ)' : ''}`;

  function verdict({ floorShare }: Cell): string {
    const best = cell?.isBest === true ? ', best of 3' : '';
    if (target === undefined || (isReached && ratio >= target)) return best;
    if (isReached) return `: ${Math.round(100 * floorShare)}% of copying${best}`;
    const reason = most < target ? `, the floor is ${figure(most)}x` : '';
    return `: missed${reason}${best}`;
  }
}

/** Such as `80%`, `78% of 75%`. */
function shareCell(outcome: Outcome, { ceilings, method }: TableOptions): string {
  const cell = cellAgainst(outcome.result, 'ceiling');
  if (cell?.target !== undefined) {
    const text = `${percent(cell.ratio)} of ${percent(cell.target)}`;
    return `${text}${cell.isReached ? '' : ': missed'}${cell.isBest ? ', best of 3' : ''}`;
  }
  const { work } = outcome.plan;
  const { runtimes } = outcome.result;
  const resident = method.residentPeers.length > 0 ? timeOf(runtimes, 'weft-resident') : undefined;
  const ms = resident ?? timeOf(runtimes, 'weft');
  if (work === undefined || ms === undefined) return '';
  if ('bytes' in work) return percent(work.bytes / ms / 1e6 / ceilings.gbps);
  return percent(work.flops / ms / 1e6 / (rateOf(runtimes, 'multiply-adds') ?? ceilings.gflops));
}

const percent = (share: number): string => `${Math.round(100 * share)}%`;

/** Contestants that could not run a case, each in a line with the reason. */
export function failures(outcomes: readonly Outcome[]): string[] {
  return outcomes.flatMap(({ plan, result }) =>
    Object.entries(result.runtimes).flatMap(([name, runtime]) =>
      'failure' in runtime && name !== 'floor'
        ? [`- ${plan.title}: ${RUN_TITLES[name as RunName]} fails: ${runtime.failure}`]
        : [],
    ),
  );
}

/** Costs of the machine itself as a Markdown table. */
export function machineTable(figures: readonly MachineFigure[]): string {
  return markdown(
    ['cost', 'figure', 'unit'],
    figures.map(({ what, value, unit, most }) => {
      const promised = most === undefined ? '' : ` of at most ${most}`;
      return [what, `${figure(value)}${promised}${isOver(value, most) ? ': missed' : ''}`, unit];
    }),
  );
}

const isOver = (value: number, most: number | undefined): boolean =>
  most !== undefined && !(value <= most);

/** The result of a case, printed before the tables. */
export function progress({ runtimes, cold }: CaseResult, method: Method): string[] {
  const starts = cold.map(
    ({ runtime, source, totalMs }) => `${TITLES[runtime]}${source} cold ${figure(totalMs)} ms`,
  );
  const runs = Object.entries(runtimes).map(
    ([name, result]) => `${RUN_TITLES[name as RunName]} ${milliseconds(result, method)} ms`,
  );
  return [starts.join(', '), runs.join(', ')].filter((line) => line !== '');
}

/**
 * Cases in which Weft fails or is not known to be right, and promises that were not kept, each in a
 * line. Where outputs are published, a peer that gives others is no complaint about Weft.
 */
export function warmComplaints(outcomes: readonly Outcome[]): {
  differing: string[];
  missed: string[];
} {
  const differing: string[] = [];
  const missed: string[] = [];
  for (const { plan, result } of outcomes) {
    const { weft } = result.runtimes;
    if (weft === undefined) continue;
    for (const [name, run] of Object.entries(result.runtimes)) {
      if (name.startsWith('weft')) {
        if ('failure' in run) differing.push(`${plan.name}: ${name} fails: ${run.failure}`);
        else if (differs(run)) differing.push(`${plan.name}: ${name} is off by ${run.difference}`);
      } else if (differs(run) && 'difference' in weft && weft.difference === undefined) {
        const difference = 'difference' in run ? run.difference : undefined;
        differing.push(`${plan.name}: outputs differ from ${name}'s by ${difference}`);
      }
    }
    for (const cell of result.cells) {
      if (cell.isReached) continue;
      const share = cell.against === 'ceiling';
      const text = share
        ? `${percent(cell.ratio)} of ${percent(cell.target ?? 0)}`
        : cellText(cell);
      missed.push(`${plan.name} against ${cell.against}: ${text}`);
    }
  }
  return { differing, missed };
}

/** Costs that are above what was promised, each in a line. */
export function machineComplaints(figures: readonly MachineFigure[]): string[] {
  return figures
    .filter(({ value, most }) => isOver(value, most))
    .map(({ what, value, unit, most }) => `${what}: ${figure(value)} ${unit} of at most ${most}`);
}

/** One start of Weft beside that of onnxruntime-web. */
interface ColdRow {
  readonly title: string;
  readonly start: ColdResult;
  /** Texts of the ratios of time and of bytes. */
  readonly ratio: string;
  readonly bytesRatio: string;
}

/** The cold starts as a Markdown table, the parts of each in its last column. */
export function coldTable(outcomes: readonly Outcome[], method: Method): string {
  const header = ['case', 'runtime', 'cold ms', 'ratio', 'KB sent', 'ratio', 'parts, ms'];
  const rows = coldRows(outcomes, method).map(({ title, start, ratio, bytesRatio }) => [
    title,
    [TITLES[start.runtime], start.source].filter((word) => word !== '').join(' '),
    figure(start.totalMs),
    ratio,
    figure(start.sent.runtime / 1024),
    bytesRatio,
    start.parts.map(([part, ms]) => `${part} ${figure(ms)}`).join(', '),
  ]);
  return markdown(header, rows);
}

/** Promises about cold starts that were not kept, each in a line. */
export function coldComplaints(outcomes: readonly Outcome[], method: Method): string[] {
  return coldRows(outcomes, method).flatMap(({ title, start, ratio, bytesRatio }) => {
    const name = `${title} ${start.source}`;
    return [
      ...(ratio.includes('missed') ? [`${name}, cold: ${ratio}`] : []),
      ...(bytesRatio.includes('missed') ? [`${name}, bytes: ${bytesRatio}`] : []),
    ];
  });
}

function coldRows(outcomes: readonly Outcome[], method: Method): ColdRow[] {
  return outcomes.flatMap(({ plan, result: { cold } }) => {
    const peer = cold.find(({ runtime }) => runtime === 'onnxruntime');
    return cold.map((start) => ({
      title: plan.title,
      start,
      ratio: coldRatio(start, peer, {
        target: method.cold.sources.includes(start.source) ? plan.targets.cold : undefined,
        of: ({ totalMs }) => totalMs,
      }),
      bytesRatio: coldRatio(start, peer, {
        target: start.source === '' ? undefined : method.fewerBytes[start.source],
        of: ({ sent }) => sent.runtime,
      }),
    }));
  });
}

interface ColdMeasure {
  readonly target: number | undefined;
  readonly of: (start: ColdResult) => number;
}

function coldRatio(
  start: ColdResult,
  peer: ColdResult | undefined,
  { target, of }: ColdMeasure,
): string {
  if (start.runtime !== 'weft' || peer === undefined) return '';
  const ratio = of(peer) / of(start);
  if (target === undefined) return `${figure(ratio)}x`;
  return `${figure(ratio)}x of ${target}x${ratio < target ? ': missed' : ''}`;
}
