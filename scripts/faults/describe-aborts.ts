import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { Session } from '../../src/client/index.ts';
import { nodeGpu } from '../../src/testing/node-gpu.ts';
import { FaultyGpu } from '../../src/testing/faulty-gpu.ts';
import { openTestModel } from '../../src/text/testing/open-test-model.ts';
import type { TextModel } from '../../src/text/index.ts';
import { type AbortedWork, abortAnywhere } from './abort-anywhere.ts';
import { checkRun, expectedOf, sampleInput, snapshotOf } from './session-life.ts';
import { smallModel, smallOnnx } from './small-model.ts';

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
