import type { Placement } from '../../src/worker/protocol/loaded-session.ts';
import type { Outcome } from './conformance-case.ts';

const REASON_LENGTH = 300;

/** Counts by operator, failures with their reasons, and the closing line. */
export function formatReport(outcomes: readonly Outcome[]): string {
  const failed = outcomes.filter(({ status }) => status === 'failed');
  return [
    ...operatorTable(outcomes),
    '',
    ...hostNodes(outcomes),
    '',
    ...(failed.length === 0 ? [] : ['Failures', ...failed.map(formatFailure), '']),
    closingLine(outcomes),
  ].join('\n');
}

export function closingLine(outcomes: readonly Outcome[]): string {
  const count = (status: Outcome['status']): number =>
    outcomes.filter((outcome) => outcome.status === status).length;
  return `${count('passed')} passed, ${count('failed')} failed, ${count('skipped')} skipped`;
}

function hostNodes(outcomes: readonly Outcome[]): string[] {
  const counts = new Map<string, number>();
  const add = (what: string): unknown => counts.set(what, (counts.get(what) ?? 0) + 1);
  for (const { hostReason, placements = [] } of outcomes) {
    if (hostReason !== undefined) add(`all nodes (${hostReason})`);
    for (const what of new Set(placements.map(describePlacement))) add(what);
  }
  if (counts.size === 0) return ['Nodes on the host device: none'];
  const lines = [...counts].sort(([a], [b]) => (a < b ? -1 : 1));
  return [
    'Nodes on the host device',
    ...lines.map(([what, count]) => `  ${what} in ${count} data set${count === 1 ? '' : 's'}`),
  ];
}

function describePlacement({ operator, reason }: Placement): string {
  return `${operator} (${reason})`;
}

/** The reason in one line that can be read; `--json` has all of it. */
function formatFailure({ caseName, dataSet, reason = '' }: Outcome): string {
  const line = reason.replaceAll(/\s+/g, ' ');
  const shown = line.length > REASON_LENGTH ? `${line.slice(0, REASON_LENGTH)}…` : line;
  return `  ${caseName} ${dataSet}: ${shown}`;
}

function operatorTable(outcomes: readonly Outcome[]): string[] {
  const rows = new Map<string, Record<Outcome['status'], number>>();
  for (const { operators, status } of outcomes) {
    for (const operator of operators) {
      const row = rows.get(operator) ?? { passed: 0, failed: 0, skipped: 0 };
      row[status]++;
      rows.set(operator, row);
    }
  }
  const width = Math.max(8, ...[...rows.keys()].map((name) => name.length));
  const line = (name: string, cells: readonly (string | number)[]): string =>
    name.padEnd(width) + cells.map((cell) => String(cell).padStart(9)).join('');
  return [
    line('operator', ['passed', 'failed', 'skipped']),
    ...[...rows]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, row]) => line(name, [row.passed, row.failed, row.skipped])),
  ];
}
