import type { CasePlan, Peer, RuntimeName } from './cases/bench-case.ts';
import type { CaseResult, ColdResult, RuntimeResult } from './measure-case.ts';
import type { MachineFigure } from './page/machine-steps.ts';
import type { AdapterReport } from './page/measure-ceilings.ts';

export const TITLES: Readonly<Record<RuntimeName, string>> = {
  weft: 'Weft',
  onnxruntime: 'onnxruntime-web',
  tensorflow: 'TensorFlow.js',
  jax: 'jax-js',
};

/** Largest difference from published outputs, or between two runtimes, over the range of the output. */
export const TOLERANCE = 1e-3;

export interface Outcome {
  readonly plan: CasePlan;
  readonly result: CaseResult;
}

/** The warm runs as a Markdown table; each row says what was to be reached and whether it was. */
export function warmTable(
  outcomes: readonly Outcome[],
  peers: readonly Peer[],
  ceilings: AdapterReport,
): string {
  const header = [
    'case',
    'floor ms',
    'Weft ms',
    ...peers.flatMap((peer) => [`${TITLES[peer]} ms`, 'ratio']),
  ];
  const rows = outcomes.map(({ plan, result }) => [
    plan.title,
    figure(result.floorMs),
    milliseconds(result.runtimes.weft),
    ...peers.flatMap((peer) => [
      milliseconds(result.runtimes[peer]),
      ratioCell(plan.targets[peer], result, peer),
    ]),
    shareCell(plan, result.runtimes.weft, ceilings),
  ]);
  return markdown([...header, 'of ceiling'], rows);
}

function milliseconds(result: RuntimeResult | undefined): string {
  if (result === undefined) return '';
  return 'failure' in result ? 'fails' : figure(result.medianMs);
}

/** Such as `9.3x of 8x`, `5.1x of 8x: missed`, `2.3x of 6x: missed, the floor is 5.1x`. */
function ratioCell(
  target: number | undefined,
  { runtimes, floorMs }: CaseResult,
  name: Peer,
): string {
  const { weft, [name]: peer } = runtimes;
  const promised = target === undefined ? '' : ` of ${target}x`;
  if (weft === undefined || peer === undefined || 'failure' in weft || 'failure' in peer) return '';
  const ratio = peer.medianMs / weft.medianMs;
  const most = peer.medianMs / floorMs;
  const reason = target !== undefined && most < target ? `, the floor is ${figure(most)}x` : '';
  const verdict = target !== undefined && ratio < target ? `: missed${reason}` : '';
  return `${figure(ratio)}x${promised}${verdict}${differs(peer) ? ' (outputs differ)' : ''}`;
}

function differs(result: RuntimeResult): boolean {
  return 'difference' in result && !((result.difference ?? 0) <= TOLERANCE);
}

function shareCell(
  { work }: CasePlan,
  weft: RuntimeResult | undefined,
  { gflops, gbps }: AdapterReport,
): string {
  if (work === undefined || weft === undefined || 'failure' in weft) return '';
  const share =
    'flops' in work
      ? work.flops / weft.medianMs / 1e6 / gflops
      : work.bytes / weft.medianMs / 1e6 / gbps;
  return `${Math.round(100 * share)}%`;
}

/** Peers that could not run a case, each in a line with the reason. */
export function failures(outcomes: readonly Outcome[]): string[] {
  return outcomes.flatMap(({ plan, result }) =>
    Object.entries(result.runtimes).flatMap(([name, runtime]) =>
      'failure' in runtime
        ? [`- ${plan.title}: ${TITLES[name as RuntimeName]} fails: ${runtime.failure}`]
        : [],
    ),
  );
}

/** Costs of the machine itself as a Markdown table. */
export function machineTable(figures: readonly MachineFigure[]): string {
  return markdown(
    ['cost', 'figure', 'unit'],
    figures.map(({ what, value, unit }) => [what, figure(value), unit]),
  );
}

/** Ratios that a cold start and the bytes of a runtime are to reach against onnxruntime-web. */
const COLD_TARGET = 4;
const BYTES_TARGET = 40;

/** The cold starts as a Markdown table, the parts of each in its last column. */
export function coldTable(outcomes: readonly Outcome[]): string {
  const rows = outcomes.flatMap(({ plan, result: { cold } }) => {
    const peer = cold.find(({ runtime }) => runtime === 'onnxruntime');
    return cold.map((start) => [
      plan.title,
      [TITLES[start.runtime], start.source].filter((word) => word !== '').join(' '),
      figure(start.totalMs),
      coldRatio(start, peer, { target: COLD_TARGET, of: ({ totalMs }) => totalMs }),
      figure(start.sent.runtime / 1024),
      coldRatio(start, peer, { target: BYTES_TARGET, of: ({ sent }) => sent.runtime }),
      start.parts.map(([part, ms]) => `${part} ${figure(ms)}`).join(', '),
    ]);
  });
  const header = ['case', 'runtime', 'cold ms', 'ratio', 'KB sent', 'ratio', 'parts, ms'];
  return markdown(header, rows);
}

interface ColdMeasure {
  readonly target: number;
  readonly of: (start: ColdResult) => number;
}

function coldRatio(
  start: ColdResult,
  peer: ColdResult | undefined,
  { target, of }: ColdMeasure,
): string {
  if (start.runtime !== 'weft' || peer === undefined) return '';
  const ratio = of(peer) / of(start);
  return `${figure(ratio)}x of ${target}x${ratio < target ? ': missed' : ''}`;
}

/** What a case gave, for whoever waits for the tables. */
export function progress({ runtimes, cold }: CaseResult): string[] {
  const starts = cold.map(
    ({ runtime, source, totalMs }) => `${TITLES[runtime]}${source} cold ${figure(totalMs)} ms`,
  );
  const runs = Object.entries(runtimes).map(
    ([name, result]) => `${TITLES[name as RuntimeName]} ${milliseconds(result)} ms`,
  );
  return [starts.join(', '), runs.join(', ')].filter((line) => line !== '');
}

/**
 * Cases in which Weft fails or is not known to be right, and promises that were not kept, each in a
 * line. Where outputs are published, a peer that gives others is no complaint about Weft.
 */
export function complaints(outcomes: readonly Outcome[]): {
  differing: string[];
  missed: string[];
} {
  const differing: string[] = [];
  const missed: string[] = [];
  for (const { plan, result } of outcomes) {
    const { weft, ...peers } = result.runtimes;
    if (weft === undefined) continue;
    if ('failure' in weft) {
      differing.push(`${plan.name}: Weft fails: ${weft.failure}`);
      continue;
    }
    if (differs(weft)) differing.push(`${plan.name}: Weft is off by ${weft.difference}`);
    for (const [name, peer] of Object.entries(peers)) {
      if ('failure' in peer) continue;
      if (weft.difference === undefined && differs(peer)) {
        differing.push(`${plan.name}: outputs differ from ${name}'s by ${peer.difference}`);
      }
      const cell = ratioCell(plan.targets[name as Peer], result, name as Peer);
      if (cell.includes('missed')) missed.push(`${plan.name} against ${name}: ${cell}`);
    }
  }
  return { differing, missed };
}

/** A number with three digits that say something. */
export function figure(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  if (value >= 100) return value.toFixed(0);
  return value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

/** A table with its columns aligned, so that a terminal shows it as well as a page. */
export function markdown(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = header.map((title, i) =>
    Math.max(title.length, 3, ...rows.map((row) => row[i]?.length ?? 0)),
  );
  const line = (cells: readonly string[]): string =>
    `| ${widths.map((width, i) => (cells[i] ?? '').padEnd(width)).join(' | ')} |`;
  return [line(header), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join(
    '\n',
  );
}
