import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { type Change, roomOf } from './change.ts';
import type { Tier } from './reaching-tests.ts';

/** How far a change has come. */
export interface Result {
  readonly state: 'noticed' | 'survived' | 'unfinished';
  /** The tier that noticed it, or the last one that it was tried with. */
  readonly tier: Tier;
  /** The test that failed. */
  readonly by?: string | undefined;
  readonly seconds: number;
  /** Tests that passed so far, with their tier. */
  readonly passed: readonly string[];
}

/** Results by the ids of their changes, in a file that is written after each step. */
export class Results {
  readonly #path: string;
  readonly #results: Record<string, Result>;

  constructor(path: string) {
    this.#path = path;
    this.#results = existsSync(path)
      ? (JSON.parse(readFileSync(path, 'utf8')) as Record<string, Result>)
      : {};
  }

  of({ id }: Change): Result | undefined {
    return this.#results[id];
  }

  /** Without a result, it is forgotten. */
  keep({ id }: Change, result: Result | undefined): void {
    if (result === undefined) delete this.#results[id];
    else this.#results[id] = result;
    mkdirSync(dirname(this.#path), { recursive: true });
    writeFileSync(`${this.#path}.partial`, JSON.stringify(this.#results, null, 1));
    renameSync(`${this.#path}.partial`, this.#path);
  }
}

/** Returns true if nothing is left to try in a tier. */
export function isDone(result: Result | undefined, tier: Tier): boolean {
  if (result === undefined || result.state === 'unfinished') return false;
  return result.state === 'noticed' || tier === 'test' || result.tier === 'all';
}

const COLUMNS: Readonly<Record<string, (result: Result | undefined) => boolean>> = {
  planted: () => true,
  '`npm test`': (result) => result?.state === 'noticed' && result.tier === 'test',
  'only `--all`': (result) => result?.state === 'noticed' && result.tier === 'all',
  survived: (result) => result?.state === 'survived',
};

/** Markdown: a line for each room with what became of its changes, and a line for each that survived. */
export function resultTable(
  changes: readonly Change[],
  { results, describe }: { results: Results; describe: (change: Change) => string },
): string {
  const row = (title: string, own: readonly Change[]): string => {
    const counts = Object.values(COLUMNS).map(
      (belongs) => own.filter((change) => belongs(results.of(change))).length,
    );
    return `| ${[title, ...counts].join(' | ')} |`;
  };
  const rooms = [...new Set(changes.map(({ file }) => roomOf(file)))].sort();
  const lines = rooms.map((room) =>
    row(
      `\`${room}/\``,
      changes.filter(({ file }) => roomOf(file) === room),
    ),
  );
  const survivors = changes.flatMap((change) => {
    const { state, passed = [] } = results.of(change) ?? {};
    const isReached = passed.some((test) => test !== 'types');
    const line = `- ${describe(change)}${isReached ? '' : '; no test reaches the file'}`;
    return state === 'survived' ? [line] : [];
  });
  const open = changes.filter((change) => !isDone(results.of(change), 'test')).length;
  return [
    `| room | ${Object.keys(COLUMNS).join(' | ')} |`,
    '|---|---|---|---|---|',
    ...lines,
    row('all', changes),
    '',
    ...survivors,
    ...(open > 0 ? ['', `${open} of these were not tried yet.`] : []),
  ].join('\n');
}
