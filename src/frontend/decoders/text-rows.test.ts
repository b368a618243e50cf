import { expect, test } from 'vitest';
import type { DeviceTensor } from '../../client/values/device-tensor.ts';
import { Session } from '../../client/session.ts';
import { Tensor } from '../../client/values/tensor.ts';
import { compile } from '../../compiler/compile.ts';
import { type SamplingOptions, samplingOf } from '../../text/sampling.ts';
import { testModelBytes } from '../../text/testing/open-test-model.ts';
import { takeDrawn } from '../../text/testing/take-drawn.ts';
import { sharedNodeGpu } from '../../testing/node-gpu.ts';
import { textModule } from './text-module.ts';

const VOCABULARY = 512;
const CHUNK = 8;
/** How many tokens prompts have, padding included. */
const LENGTH = 16;

interface Row {
  readonly prompt: readonly number[];
  readonly sampling: SamplingOptions;
}

const tokensOf = (length: number): number[] =>
  Array.from({ length }, (_, i) => ((i * 71 + length * 13) % 500) + 1);

const ROWS: readonly Row[] = [
  { prompt: tokensOf(5), sampling: { temperature: 0, seed: 1 } },
  { prompt: tokensOf(16), sampling: { temperature: 1.5, topK: 30, topP: 0.9, seed: 2 } },
  { prompt: tokensOf(11), sampling: { temperature: 0.8, frequencyPenalty: 0.5, seed: 3 } },
];

let program: Uint8Array | undefined;

/** Three chunks of tokens of some texts at a time. */
async function generate(session: Session, rows: readonly Row[]): Promise<number[][]> {
  const count = rows.length;
  const int32 = (values: readonly number[], shape = [count]) =>
    new Tensor('int32', Int32Array.from(values), shape);
  const samplings = rows.map(({ sampling }) => samplingOf(sampling, VOCABULARY));
  const lengths = rows.map(({ prompt }) => prompt.length);
  const padded = rows.flatMap(({ prompt }) =>
    Array.from({ length: LENGTH }, (_, i) => prompt[i] ?? 499),
  );
  let state: Record<string, DeviceTensor> = await session.run(
    { rows: count, capacity: 64 },
    { function: 'allocate', keep: 'device' },
  );
  state = await session.run(
    {
      tokens: int32(padded, [count, LENGTH]),
      first: int32(rows.map(() => 0)),
      lengths: int32(lengths),
      ...state,
    },
    { function: 'prefill', keep: 'device', donate: Object.keys(state) },
  );
  const floats = (values: readonly number[], width: number) =>
    new Tensor('float32', Float32Array.from(values), [count, width]);
  const none = new Array<number>(count * VOCABULARY).fill(0);
  let counts: Tensor | DeviceTensor = int32(none, [count, VOCABULARY]);
  const texts: number[][] = rows.map(() => []);
  for (let turn = 0; turn < 3; turn++) {
    const outputs: Record<string, DeviceTensor> = await session.run(
      {
        count: CHUNK,
        // The options of all rows together; a row without one of them has neutral settings for it.
        options: samplings.reduce((all, { options }) => all | options, 0),
        settings: floats(
          samplings.flatMap(({ settings }) => settings),
          8,
        ),
        bias: floats(none, VOCABULARY),
        allowed: new Tensor('uint32', new Uint32Array(count * 16), [count, 16]),
        keys: new Tensor('uint32', Uint32Array.from(samplings.flatMap(({ key }) => key)), [
          count,
          2,
        ]),
        first: int32(lengths.map((length) => length + turn * CHUNK)),
        seen: int32(none, [count, VOCABULARY]),
        ...state,
        counts,
      },
      { keep: 'device' },
    );
    const { drawn, counts: counted, ...next } = outputs;
    const { ids } = takeDrawn(await drawn?.read());
    for (const [i, id] of ids.entries()) texts[Math.floor(i / CHUNK)]?.push(id);
    drawn?.dispose();
    if (counted) counts = counted;
    state = next;
  }
  return texts;
}

test.each(['host', 'wasm', 'webgpu'] as const)(
  'texts of other lengths and settings are those that each is alone on %s',
  async (device) => {
    const gpu = device === 'webgpu' ? { gpu: await sharedNodeGpu() } : {};
    program ??= compile(textModule(testModelBytes()), { verify: true }).toBytes();
    const session = await Session.load(program, { device, worker: false, ...gpu });
    const alone: number[][] = [];
    for (const row of ROWS) alone.push(...(await generate(session, [row])));
    expect(await generate(session, ROWS)).toEqual(alone);
    expect(new Set(alone.map(String)).size).toBe(3);
    await session.dispose();
  },
);
