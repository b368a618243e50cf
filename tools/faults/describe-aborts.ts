import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { openSnapshotStore, opfsStore, Session } from '../../src/client/index.ts';
import { nodeGpu } from '../../src/testing/node-gpu.ts';
import { FaultyFileSystem } from '../../src/testing/faulty-file-system.ts';
import { inTier } from '../../src/testing/tier.ts';
import { FaultyGpu } from '../../src/testing/faulty-gpu.ts';
import { openTestModel } from '../../src/text/testing/open-test-model.ts';
import type { TextModel } from '../../src/text/index.ts';
import { type AbortedWork, abortAnywhere } from './abort-anywhere.ts';
import { checkRun, expectedOf, sampleInput, snapshotOf } from './session-life.ts';
import { smallModel, smallOnnx } from './small-model.ts';
import { begin, executable, type State, step, weightsOf } from './training-life.ts';

const file = smallModel(true);
const expected = await expectedOf(file);

/** Every abort ends the work, or comes too late; nothing is left, and what comes next is right. */
async function expectClean<T>(work: AbortedWork<T>): Promise<void> {
  const { aborted, done, problems } = await abortAnywhere(work);
  expect(problems).toEqual([]);
  expect(aborted).toBeGreaterThan(0);
  expect(done).toBeGreaterThan(0);
}

/** What a session does on a device. */
export function describeSessionAborts(device: 'host' | 'wasm' | 'webgpu'): void {
  describe(`a session on ${device}`, () => {
    let faulty: FaultyGpu;
    let session: Session;
    const place = () => ({ worker: false, device, gpu: faulty.gpu }) as const;
    beforeAll(async () => {
      faulty = new FaultyGpu(await nodeGpu());
      session = await Session.load(file, place());
      await checkRun(session, expected);
    });
    afterAll(() => session.dispose());

    const runsOn = async (): Promise<void> => {
      await checkRun(session, expected);
      expect((await session.memory()).liveBytes).toBe(0);
    };

    /** What a load that was given up has on the device goes when it comes. */
    const settles = (before: object): Promise<void> =>
      vi.waitFor(() => expect({ ...faulty.live() }).toEqual({ ...before }), { timeout: 60_000 });

    test.each([
      ['an executable', file],
      ['a model', smallOnnx(true)],
    ])('the load of %s', async (_, source) => {
      const before = faulty.live();
      await expectClean({
        work: (signal) => Session.load(source.slice(), { ...place(), signal }),
        check: async (loaded) => {
          if (loaded) await checkRun(loaded, expected);
          await loaded?.dispose();
          await settles(before);
        },
      });
      await runsOn();
    });

    test.each<[string, (signal: AbortSignal) => Promise<unknown>]>([
      ['run', (signal) => session.run({ x: sampleInput() }, { signal })],
      ['profile', (signal) => session.profile({ x: sampleInput() }, { signal })],
      ['warm-up', (signal) => session.warmup({ n: 7 }, { signal })],
    ])('a %s', (_, work) => expectClean({ work, check: runsOn }));

    test('what a snapshot holds', async () => {
      const snapshot = await snapshotOf(session, expected);
      const before = faulty.live();
      await expectClean({
        work: (signal) => Session.resume(snapshot, { executable: file, ...place(), signal }),
        check: async (resumed) => {
          const outputs = await resumed?.resumed.runs[0]?.result();
          if (outputs) expect(outputs).toHaveProperty('y');
          await resumed?.dispose();
          await settles(before);
        },
      });
      await runsOn();
    });
  });
}

/** What a training does on a device. */
export function describeTrainingAborts(device: 'wasm' | 'webgpu'): void {
  describe(`a training on ${device}`, () => {
    let faulty: FaultyGpu;
    let session: Session;
    let before: State;
    let base: number;
    let expected: readonly number[];
    const place = () => ({ worker: false, device, gpu: faulty.gpu }) as const;
    beforeAll(async () => {
      faulty = new FaultyGpu(await nodeGpu());
      session = await Session.load(executable, place());
      before = await step(session, await begin(session), 0);
      base = (await session.memory()).liveBytes;
      const after = await step(session, before, 1);
      expected = await numbersOf(after);
      drop(after);
    });
    afterEach(() => vi.unstubAllGlobals());
    afterAll(() => session.dispose());

    const numbersOf = async (values: State) => Array.from((await weightsOf(values)).data, Number);

    /** The state behind the second step, which is let go. */
    const isRight = async (after: State): Promise<void> => {
      expect(await numbersOf(after)).toEqual(expected);
      drop(after);
    };

    const holdsNothing = (): Promise<void> =>
      vi.waitFor(async () => expect((await session.memory()).liveBytes).toBe(base));

    const trainsOn = async (): Promise<void> => {
      await isRight(await step(session, before, 1));
      await holdsNothing();
    };

    const trainsFrom = async (snapshot: Uint8Array<ArrayBuffer>): Promise<string> => {
      const other = await Session.resume(snapshot, { executable, ...place() });
      await isRight(await step(other, other.resumed.tensors as State, 1));
      await other.dispose();
      return other.resumed.note;
    };

    const taken = async (signal?: AbortSignal): Promise<Uint8Array<ArrayBuffer>> => {
      await session.pause();
      try {
        return await session.snapshot({ tensors: before, signal });
      } finally {
        await session.continue();
      }
    };

    test('a step', () =>
      expectClean({
        work: (signal) => step(session, before, 1, { signal }),
        check: async (after) => {
          if (after) await isRight(after);
          await trainsOn();
        },
      }));

    test('a step that takes over the state', () =>
      expectClean({
        work: async (signal) => {
          const own = await step(session, await begin(session), 0);
          try {
            return await step(session, own, 1, { donate: Object.keys(own), signal });
          } finally {
            drop(own);
          }
        },
        check: async (after) => {
          if (after) await isRight(after);
          await trainsOn();
        },
      }));

    test('a snapshot of its state', () =>
      expectClean({
        work: taken,
        check: async (snapshot) => {
          if (snapshot) await trainsFrom(snapshot);
          await trainsOn();
        },
      }));

    test('what a snapshot of it holds', async () => {
      const snapshot = await taken();
      const live = faulty.live();
      await expectClean({
        work: (signal) => Session.resume(snapshot, { executable, ...place(), signal }),
        check: async (other) => {
          if (other) await isRight(await step(other, other.resumed.tensors as State, 1));
          await other?.dispose();
          await vi.waitFor(() => expect(faulty.live()).toEqual(live), { timeout: 60_000 });
        },
      });
      await trainsOn();
    });

    test.each(inTier({ quick: ['private files'], long: ['memory', 'private files'] }))(
      'a checkpoint in %s',
      async (kind) => {
        vi.stubGlobal('navigator', { storage: new FaultyFileSystem({ inWorker: true }).storage });
        const store = kind === 'memory' ? await memoryStore() : await opfsStore('training');
        let count = 0;
        const contents = () => ({ tensors: before, note: String(++count) });
        const keep = async (signal?: AbortSignal): Promise<void> => {
          const checkpoints = await session.checkpointTo(store, { contents, everyMs: 1e6, signal });
          try {
            await checkpoints.now();
          } finally {
            await checkpoints.stop();
          }
        };
        await keep();
        let kept = '1';
        await expectClean({
          work: async (signal) => {
            await keep(signal);
            return String(count);
          },
          check: async (note) => {
            const latest = await store.latest();
            if (latest === undefined) throw new Error('the snapshot before is gone');
            const found = await trainsFrom(latest);
            expect(note === undefined ? [kept, String(count)] : [note]).toContain(found);
            kept = found;
            await trainsOn();
          },
        });
        await keep();
        expect(await trainsFrom((await store.latest()) ?? new Uint8Array())).toBe(String(count));
      },
    );
  });
}

function drop(values: State): void {
  for (const value of Object.values(values)) value.dispose();
}

function memoryStore() {
  const files = new Map<string, Uint8Array<ArrayBuffer>>();
  return openSnapshotStore({
    read: async (name) => files.get(name),
    write: async (name, bytes) => void files.set(name, bytes),
    remove: async (name) => void files.delete(name),
  });
}

/** What a language model does on a device. */
export function describeTextAborts(device: 'wasm' | 'webgpu'): void {
  describe(`a language model on ${device}`, () => {
    const prompt = [5, 9, 300, 41];
    const options = { temperature: 0.7, seed: 11, maxTokens: 24 };
    let model: TextModel;
    let whole: string;
    beforeAll(async () => {
      model = await openTestModel(device);
      whole = await model.generate(prompt, options).text();
    });
    afterAll(() => model.dispose());

    const writesOn = async (): Promise<void> => {
      expect(await model.generate(prompt, options).text()).toBe(whole);
    };

    test('its load', () =>
      expectClean({
        work: (signal) => openTestModel(device, { signal }),
        check: async (loaded) => {
          if (loaded) expect(await loaded.generate(prompt, options).text()).toBe(whole);
          await loaded?.dispose();
        },
      }));

    test('a text keeps what came, and goes on', () =>
      expectClean({
        work: async (signal) => {
          const generation = model.generate(prompt, { ...options, signal });
          const text = await generation.text();
          if (generation.finishReason !== 'aborted') return;
          const resumed = await model.resume(await generation.save());
          expect(text + (await resumed.text())).toBe(whole);
          signal.throwIfAborted();
        },
        check: writesOn,
      }));

    test('several texts', () =>
      expectClean({
        work: async (signal) => {
          const texts = await model.generateBatch([prompt, [7, 8]], { ...options, signal }).text();
          expect(whole.startsWith(texts[0] ?? '')).toBe(true);
          if (texts[0] !== whole) signal.throwIfAborted();
        },
        check: writesOn,
      }));
  });
}
