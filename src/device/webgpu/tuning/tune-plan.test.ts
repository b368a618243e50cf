import { expect, test } from 'vitest';
import type { LaunchPlan } from '../../../core/contracts/launch-plan.ts';
import { DeviceLostError, UnsupportedError } from '../../../core/errors.ts';
import { ALL_AT_ONCE, hasVariants, type Trial, tunePlan, type TuningTask } from './tune-plan.ts';

interface Variant {
  /** Milliseconds by measurement; the last one stays. */
  readonly ms: readonly number[];
  readonly isWrong?: boolean;
  /** The message with which compiling the variant fails. */
  readonly failure?: string;
  /** The error with which launching the variant fails. */
  readonly fault?: Error;
  readonly refusal?: Error;
  readonly scratch?: number;
  /** The choice without which this variant is not offered. */
  readonly behind?: string;
}

/** Plans are the names of the variants that were chosen, in order of places. */
function task(places: Readonly<Record<string, Readonly<Record<string, Variant>>>>, firstMs = 10) {
  const live = new Set<string>();
  const abort = new AbortController();
  const fake: TuningTask = {
    signal: abort.signal,
    turns: ALL_AT_ONCE,
    moreScratch: 50,
    plan(choices): LaunchPlan {
      const chosen: string[] = [];
      const scratchByteLengths = [100];
      for (const [place, variants] of Object.entries(places)) {
        const names = Object.keys(variants).filter((name) => {
          const { behind } = variants[name] ?? {};
          return behind === undefined || chosen.includes(behind);
        });
        const name = choices.get(place, names) ?? 'first';
        const variant = variants[name];
        if (variant?.refusal !== undefined) throw variant.refusal;
        if (variant?.scratch !== undefined) scratchByteLengths.push(variant.scratch);
        chosen.push(name);
      }
      const launch = { label: '', bindings: [], params: new Uint32Array(), workgroups: [1, 1, 1] };
      return {
        launches: [{ ...launch, workgroups: [1, 1, 1], code: chosen.join() }],
        scratchByteLengths,
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
        async agreesWith() {
          const fault = variants.find((variant) => variant.fault !== undefined)?.fault;
          if (fault !== undefined) throw fault;
          return !variants.some(({ isWrong }) => isWrong === true);
        },
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
  expect(tuned.choices).toEqual(new Map(Object.entries({ a: 'faster', b: 'fastest' })));
  expect(tuned.tried.map(({ name, ms }) => [name, ms])).toEqual([
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
  ['a launch that the adapter refuses', { ms: [1], fault: new Error('too many workgroups') }],
  ['what cannot be planned', { ms: [1], refusal: new UnsupportedError('too many buffers') }],
  ['more scratch than a little more', { ms: [1], scratch: 51 }],
])('%s is not enough', async (_, variant) => {
  const { task: fake, live } = task({ a: { other: variant } });
  const tuned = await tunePlan(fake);
  expect(tuned).toMatchObject({ choices: new Map(), firstMs: 10, chosenMs: 10 });
  expect(live).toEqual(new Set());
});

test('why a variant is out of the question is told', async () => {
  const { task: fake } = task({
    a: {
      wrong: { ms: [1], isWrong: true },
      broken: { ms: [1], failure: 'no such function' },
      faulty: { ms: [1], fault: new Error('too many workgroups') },
      unplanned: { ms: [1], refusal: new UnsupportedError('too many buffers') },
      large: { ms: [1], scratch: 51 },
    },
  });
  expect((await tunePlan(fake)).tried).toEqual([
    {
      place: 'a',
      name: 'wrong',
      ms: undefined,
      refusal: 'its results differ from those of the first choice',
    },
    { place: 'a', name: 'broken', ms: undefined, refusal: 'no such function' },
    { place: 'a', name: 'faulty', ms: undefined, refusal: 'too many workgroups' },
    { place: 'a', name: 'unplanned', ms: undefined, refusal: 'too many buffers' },
    {
      place: 'a',
      name: 'large',
      ms: undefined,
      refusal: 'it takes 151 bytes of scratch, of 150 at most',
    },
  ]);
});

test('variants that are the same plan are measured once', async () => {
  const { task: fake } = task({ a: { first: { ms: [10] }, other: { ms: [5] } } });
  expect((await tunePlan(fake)).tried.map(({ name }) => name)).toEqual(['other']);
});

test('places that come with a variant are tuned once it is taken', async () => {
  const { task: fake } = task({
    a: { other: { ms: [5] } },
    b: { inside: { ms: [2], behind: 'other' } },
  });
  const tuned = await tunePlan(fake);
  expect(tuned.choices).toEqual(new Map(Object.entries({ a: 'other', b: 'inside' })));
  const { task: slower } = task({
    a: { other: { ms: [15] } },
    b: { inside: { ms: [2], behind: 'other' } },
  });
  expect((await tunePlan(slower)).tried.map(({ name }) => name)).toEqual(['other']);
});

test('a lost device ends it', async () => {
  const { task: fake, live } = task({
    a: { fast: { ms: [5] }, deadly: { ms: [1], fault: new DeviceLostError('gone') } },
  });
  await expect(tunePlan(fake)).rejects.toThrow('gone');
  expect(live).toEqual(new Set());
});

test('every measurement is a turn of its own, and nothing compiles while the device is in use', async () => {
  const { task: fake } = task({ a: { other: { ms: [5] } } });
  const events: string[] = [];
  let isTurn = false;
  const { prepare } = fake;
  await tunePlan({
    ...fake,
    async prepare(plan) {
      events.push(isTurn ? 'prepare in a turn' : 'prepare');
      return prepare(plan);
    },
    turns: {
      idle: async () => void events.push('idle'),
      async take(work) {
        events.push('turn');
        isTurn = true;
        const result = await work();
        isTurn = false;
        return result;
      },
    },
  });
  const rounds = new Array<string>(5).fill('turn');
  expect(events).toEqual(['idle', 'prepare', 'idle', 'prepare', 'turn', ...rounds, ...rounds]);
});

test('a plan without places has nothing to tune', () => {
  expect(hasVariants(task({}).task.plan)).toBe(false);
  expect(hasVariants(task({ a: { other: { ms: [5] } } }).task.plan)).toBe(true);
});

test('an abort ends it and frees what it made', async () => {
  const { task: fake, live, abort } = task({ a: { other: { ms: [5] } } });
  const tuning = tunePlan(fake);
  abort.abort();
  await expect(tuning).rejects.toThrow('aborted');
  expect(live).toEqual(new Set());
});
