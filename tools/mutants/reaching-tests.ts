import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { readImportedNames } from '../../scripts/imports/read-imports.ts';
import { browserTestsByScript } from './browser-tests.ts';
import { roomOf } from './change.ts';

/** `test`: what `npm test` runs; `all`: what it runs with `--all`. */
export type Tier = 'test' | 'all';

/** Tests of other modes, and those of these tools themselves, which read the sources as texts. */
const OTHER_TEST = /\.(shared|built)\.test\.ts$|^tools\/mutants\//;
const LONG_TEST = /\.(ci|long)\.test\.ts$/;
/** How tests and what they import ask for their tier. */
const ASKS = /WEFT_ALL|WEFT_TIER|import\.meta\.env\.MODE/;
/** Rooms whose code runs in pages, and the part of their tests that `npm test` runs. */
const PAGE_ROOMS: ReadonlySet<string> = new Set(['demo', 'inspector', 'playground']);
const SMOKE = 'e2e/smoke.spec.ts';
const WORKER = /new URL\(\s*'(\.[^']*\.ts)',\s*import\.meta\.url/g;

/** Which tests reach a file by imports, `import()` and the files of workers; types load nothing. */
export class ReachingTests {
  readonly #root: string;
  /** Files by what they import. */
  readonly #importers = new Map<string, Set<string>>();
  /** All that reaches a file which asks for the long tier. */
  readonly #askAll = new Set<string>();
  readonly #byScript: ReadonlyMap<string, readonly string[]>;

  constructor(root: string) {
    this.#root = root;
    this.#byScript = browserTestsByScript(root);
    const asking: string[] = [];
    for (const [path, names] of readImportedNames(
      ['src', 'scripts', 'tools', 'bench', 'e2e'].map((name) => join(root, name)),
    )) {
      const text = readFileSync(path, 'utf8');
      if (ASKS.test(text)) asking.push(this.#name(path));
      const workers = [...text.matchAll(WORKER)].map(([, name = '']) => join(dirname(path), name));
      const loaded = names.flatMap((name) => (name.kind === 'type' ? [] : (name.path ?? [])));
      for (const target of [...loaded, ...workers]) {
        const known = this.#importers.get(this.#name(target)) ?? new Set();
        this.#importers.set(this.#name(target), known.add(this.#name(path)));
      }
    }
    for (const file of asking) {
      for (const [reached] of this.#distances(file)) this.#askAll.add(reached);
    }
  }

  /**
   * The tests of a tier: of its own folder, of its own room, then by their distance, and browser tests of code of pages
   * behind them. For `all` only those that do more than in `test`.
   */
  of(file: string, tier: Tier): string[] {
    const rank = (test: string): number =>
      dirname(test) === dirname(file) ? 0 : roomOf(test) === roomOf(file) ? 1 : 2;
    const isRun = (test: string): boolean =>
      tier === 'test' ? !LONG_TEST.test(test) : LONG_TEST.test(test) || this.#askAll.has(test);
    const distances = this.#distances(file);
    const unitTests = [...distances]
      .filter(([test]) => test.endsWith('.test.ts') && !OTHER_TEST.test(test) && isRun(test))
      .sort(([a, x], [b, y]) => rank(a) - rank(b) || x - y || (a < b ? -1 : 1))
      .map(([test]) => test);
    if (!PAGE_ROOMS.has(roomOf(file))) return unitTests;
    const browserTests = [...distances.keys()].flatMap((name) => this.#byScript.get(name) ?? []);
    const own = browserTests.filter((spec) => (spec === SMOKE) === (tier === 'test'));
    return [...unitTests, ...new Set(own.toSorted())];
  }

  #name(path: string): string {
    return relative(this.#root, path).replaceAll('\\', '/');
  }

  #distances(file: string): Map<string, number> {
    const distances = new Map([[file, 0]]);
    for (const [reached, distance] of distances) {
      for (const importer of this.#importers.get(reached) ?? []) {
        if (!distances.has(importer)) distances.set(importer, distance + 1);
      }
    }
    return distances;
  }
}
