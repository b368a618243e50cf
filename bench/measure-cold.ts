import type { BuiltCase, CasePlan, RuntimeName } from './cases/bench-case.ts';
import { startRequest } from './contestants.ts';
import { limited, messageOf } from './limited.ts';
import { type Lab, openPage } from './open-page.ts';
import type { ColdStart } from './page/contestant-steps.ts';
import type { SentBytes } from './serve-pages.ts';

export interface ColdResult extends ColdStart {
  readonly runtime: RuntimeName;
  /** Which file Weft loaded. */
  readonly source: '.onnx' | '.weft' | '';
  readonly sent: SentBytes;
}

type ColdKind = Pick<ColdResult, 'runtime' | 'source'>;

interface ColdOptions {
  /** True if Weft is in the page's own thread, as in the warm runs. */
  readonly isInPage: boolean;
}

/** Rounds of those that no time was promised for. */
const UNPROMISED_ROUNDS = 3;

/**
 * Each start in a fresh context: no cache of files, no compiled pipelines, a new device. The runtimes
 * start by turns, and of each the start of the median time counts, or the fastest.
 */
export async function measureCold(
  lab: Lab,
  { plan, built }: { readonly plan: CasePlan; readonly built: BuiltCase },
  options: ColdOptions,
): Promise<ColdResult[]> {
  const peers = lab.peers.filter((peer) => plan.peers.includes(peer));
  const kinds: readonly ColdKind[] = [
    { runtime: 'weft', source: '.weft' },
    { runtime: 'weft', source: '.onnx' },
    ...peers.map((runtime) => ({ runtime, source: '' as const })),
  ];
  const { rounds, budgetMs, statistic } = lab.method.cold;
  const results = kinds.map((): ColdResult[] => []);
  const begin = performance.now();
  for (let round = 0; round < Math.min(rounds, lab.runs); round++) {
    if (round > 0 && performance.now() - begin > budgetMs) break;
    for (const [i, kind] of kinds.entries()) {
      if (round >= UNPROMISED_ROUNDS && kind.source === '.onnx') continue;
      const result = await startCold(lab, { plan, built, kind }, options);
      if (result !== undefined) results[i]?.push(result);
    }
  }
  return results.flatMap((starts) => {
    const sorted = starts.toSorted((a, b) => a.totalMs - b.totalMs);
    const index = statistic === 'median' ? sorted.length >> 1 : 0;
    return sorted.slice(index, index + 1);
  });
}

interface ColdCase {
  readonly plan: CasePlan;
  readonly built: BuiltCase;
  readonly kind: ColdKind;
}

async function startCold(
  lab: Lab,
  { plan, built: { benchCase }, kind: { runtime, source } }: ColdCase,
  { isInPage }: ColdOptions,
): Promise<ColdResult | undefined> {
  const page = await openPage(lab);
  try {
    await page.evaluate((bench) => globalThis.bench.prepare(bench), benchCase);
    lab.server.takeSentBytes();
    const request = startRequest(lab, plan.launches);
    const start = await limited(
      page.evaluate(([name, bench, request]) => globalThis.bench.start(name, bench, request), [
        runtime,
        benchCase,
        { ...request, isInPage, isAheadOfTime: source === '.weft' },
      ] as const),
    );
    return { runtime, source, ...start, sent: lab.server.takeSentBytes() };
  } catch (error) {
    console.error(`  cold ${runtime}: ${messageOf(error)}`);
    return undefined;
  } finally {
    await page.context().close();
  }
}
