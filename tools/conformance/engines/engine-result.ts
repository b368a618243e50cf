import type { EngineFacts } from './engine.ts';

export interface Count {
  readonly passed: number;
  readonly total: number;
  readonly failures: readonly string[];
  /** Cases that are refused by name before anything runs: strings, sequences, training and the like. */
  readonly refused?: readonly string[];
}

/** Results of the runs in an engine. An undefined one was not run: it does not exist there, or was not found. */
export interface EngineResult {
  readonly title: string;
  readonly facts: EngineFacts;
  readonly operators: Count;
  readonly ownModels: Count;
  readonly sharedModels: Count | undefined;
  readonly onnxCases: Count | undefined;
  readonly browserTests: Count | undefined;
}

const COLUMNS: readonly (readonly [title: string, cell: (result: EngineResult) => string])[] = [
  ['engine', ({ title }) => title],
  ['adapter', ({ facts }) => `${facts.adapter}, as ${facts.adapterClass}`],
  ['float16', ({ facts }) => yesOrNo(facts.hasFloat16)],
  ['subgroups', ({ facts }) => yesOrNo(facts.hasSubgroups)],
  ['timestamps', ({ facts }) => yesOrNo(facts.hasTimestamps)],
  ['operator cases', ({ operators }) => countCell(operators)],
  ['ONNX cases', ({ onnxCases }) => countCell(onnxCases)],
  ['models', ({ ownModels, sharedModels }) => countCell(sumOf(ownModels, sharedModels))],
  ['browser tests', ({ browserTests }) => countCell(browserTests)],
];

/** A table in Markdown, with a line for each engine. */
export function engineTable(results: readonly EngineResult[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [
    line(COLUMNS.map(([title]) => title)),
    line(COLUMNS.map(() => '---')),
    ...results.map((result) => line(COLUMNS.map(([, cell]) => cell(result)))),
  ].join('\n');
}

/** Everything that failed, a line each. */
export function failuresOf(result: EngineResult): string[] {
  const counts = Object.values(result).filter((value: unknown) => isCount(value));
  return counts.flatMap(({ failures }) => failures.map((line) => `${result.title}: ${line}`));
}

function isCount(value: unknown): value is Count {
  return typeof value === 'object' && value !== null && 'failures' in value;
}

function sumOf(a: Count, b: Count | undefined): Count {
  if (b === undefined) return a;
  return {
    passed: a.passed + b.passed,
    total: a.total + b.total,
    failures: [...a.failures, ...b.failures],
  };
}

const yesOrNo = (has: boolean): string => (has ? 'yes' : 'no');

function countCell(count: Count | undefined): string {
  if (count === undefined) return '–';
  const { passed, total, refused = [] } = count;
  const cell = passed === total ? `all ${total}` : `${passed} of ${total}`;
  return refused.length === 0 ? cell : `${cell}; ${refused.length} refused`;
}

/** A line for each engine that refuses other cases than the first one. */
export function refusalsThatDiffer([first, ...others]: readonly EngineResult[]): string[] {
  const expected = first?.onnxCases?.refused ?? [];
  return others.flatMap(({ title, onnxCases }) => {
    const refused = onnxCases?.refused ?? [];
    const names = [
      ...refused.filter((name) => !expected.includes(name)),
      ...expected.filter((name) => !refused.includes(name)),
    ];
    return names.length === 0
      ? []
      : [`${title}: ${names.join(', ')}: refused either here or in ${first?.title}`];
  });
}
