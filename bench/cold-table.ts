import type { ColdResult } from './measure-cold.ts';
import type { Method } from './methods.ts';
import { type Outcome, TITLES } from './report.ts';
import { figure, markdown } from './table.ts';

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
