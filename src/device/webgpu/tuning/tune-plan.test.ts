import { expect, test } from 'vitest';
import type { LaunchPlan } from '../../../core/launch-plan.ts';
import { type Trial, tunePlan, type TuningTask } from './tune-plan.ts';

interface Variant {
  /** Milliseconds by measurement; the last one stays. */
  readonly ms: readonly number[];
  readonly isWrong?: boolean;
  readonly failure?: string;
}

/** Plans are the names of the variants that were chosen, in order of places. */
function task(places: Readonly<Record<string, Readonly<Record<string, Variant>>>>, firstMs = 10) {
  const live = new Set<string>();
  const abort = new AbortController();
  const fake: TuningTask = {
    signal: abort.signal,
    plan(choices): LaunchPlan {
      const chosen = Object.entries(places).flatMap(
        ([place, variants]) => choices.get(place, Object.keys(variants)) ?? 'first',
      );
      const launch = { label: '', bindings: [], params: new Uint32Array(), workgroups: [1, 1, 1] };
      return {
        launches: [{ ...launch, workgroups: [1, 1, 1], code: chosen.join() }],
        scratchByteLengths: [],
      };
    },
    async prepare({ launches }): Promise<Trial> {
      const names = (launches[0]?.code ?? '').split(',');
      const variants = Object.values(places).flatMap((known, i) => known[names[i] ?? ''] ?? []);
      const failure = variants.find((variant) => variant.failure !== undefined)?.failure;
      if (failure !== undefined) throw new Error(failure);
      const name = `${names.join()} ${live.size}`;
      live.add(name);
      let count = 0;
      return {
        async measure() {
          const times = variants.map(({ ms }) => ms[Math.min(count, ms.length - 1)] ?? 0);
          count++;
          return times.length === 0 ? firstMs : Math.min(...times);
        },
        agreesWith: async () => !variants.some(({ isWrong }) => isWrong === true),
        dispose: () => void live.delete(name),
      };
    },
  };
  return { task: fake, live, abort };
}

test('the fastest variant is taken, by whatever places it is made of', async () => {
  const { task: fake, live } = task({
    a: { slow: { ms: [12] }, fast: { ms: [8] }, faster: { ms: [5] } },
    b: { fastest: { ms: [3] } },
  });
  const tuned = await tunePlan(fake);
  expect(tuned).toMatchObject({ firstMs: 10, chosenMs: 3 });
  expect(tuned?.choices).toEqual(new Map(Object.entries({ a: 'faster', b: 'fastest' })));
  expect(tuned?.tried.map(({ name, ms }) => [name, ms])).toEqual([
    ['slow', 12],
    ['fast', 8],
    ['faster', 5],
    ['fastest', 3],
  ]);
  expect(live).toEqual(new Set());
});

test.each([
  ['a margin that noise could make', { ms: [9.5] }],
  ['being fast in the first comparison only', { ms: [5, 5, 5, 5, 5, 12] }],
  ['being fast now and then', { ms: [5, 12, 5, 12, 5] }],
  ['wrong results, however fast', { ms: [1], isWrong: true }],
  ['code that does not compile', { ms: [1], failure: 'no such function' }],
])('%s is not enough', async (_, variant) => {
  const { task: fake, live } = task({ a: { other: variant } });
  const tuned = await tunePlan(fake);
  expect(tuned).toMatchObject({ choices: new Map(), firstMs: 10, chosenMs: 10 });
  expect(live).toEqual(new Set());
});

test('why a variant is out of the question is told', async () => {
  const { task: fake } = task({
    a: { wrong: { ms: [1], isWrong: true }, broken: { ms: [1], failure: 'no such function' } },
  });
  expect((await tunePlan(fake))?.tried).toEqual([
    {
      place: 'a',
      name: 'wrong',
      ms: undefined,
      refusal: 'its results differ from those of the first choice',
    },
    { place: 'a', name: 'broken', ms: undefined, refusal: 'no such function' },
  ]);
});

test('variants that are the same plan are measured once', async () => {
  const { task: fake } = task({ a: { first: { ms: [10] }, other: { ms: [5] } } });
  expect((await tunePlan(fake))?.tried.map(({ name }) => name)).toEqual(['other']);
});

test('a plan without places takes no time', async () => {
  expect(await tunePlan(task({}).task)).toBeUndefined();
});

test('an abort ends it and frees what it made', async () => {
  const { task: fake, live, abort } = task({ a: { other: { ms: [5] } } });
  const tuning = tunePlan(fake);
  abort.abort();
  await expect(tuning).rejects.toThrow('aborted');
  expect(live).toEqual(new Set());
});
