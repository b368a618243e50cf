import { expect, test } from 'vitest';
import { compile } from '../compiler/compile.ts';
import { parseModule } from '../compiler/ir/text/parse.ts';
import { DeviceTensor } from './values/device-tensor.ts';
import { sharedNodeGpu } from '../testing/node-gpu.ts';
import { writeOnnxModel } from '../testing/onnx-writer.ts';
import type { Inputs } from './values/input-value.ts';
import { Session } from './session.ts';
import { Tensor } from './values/tensor.ts';

/** Adds to a row of a state, and gives the row before. */
const STEP = `def @main(
  %state: Tensor[(4, 64), float32], %at: Tensor[(1, 1), int32], %row: Tensor[(1, 64), float32],
  results=["state", "before"]
) {
  let %before = gather_nd(%state, %at);
  (scatter_nd(%state, %at, %row, reduction="add"), %before)
}`;

const options = { worker: false, device: 'wasm' } as const;
const zeros = (): Tensor => new Tensor('float32', new Float32Array(256), [4, 64]);
const row = new Tensor('float32', new Float32Array(64).fill(1), [1, 64]);
const at = new Tensor('int32', Int32Array.of(2), [1, 1]);

function load(): Promise<Session> {
  return Session.load(compile(parseModule(STEP)).toBytes(), options);
}

test('results that are named stay on the device, and go back in without a copy', async () => {
  await using session = await load();
  let state: Tensor | DeviceTensor = zeros();
  const peaks: number[] = [];
  for (let n = 0; n < 6; n++) {
    const inputs: Inputs = { state, at, row };
    const outputs = await session.run(inputs, { keep: ['state'], donate: ['state'] });
    const { before } = outputs;
    state = outputs.state;
    expect(state).toBeInstanceOf(DeviceTensor);
    expect(before instanceof Tensor && before.data[63]).toBe(n);
    peaks.push((await session.memory()).peakBytes);
  }
  expect(new Set(peaks.slice(2)).size).toBe(1);
  const { data } = await (state as DeviceTensor).read();
  expect([data[128], data[0]]).toEqual([6, 0]);
});

test('a tensor that was not given away is as it was', async () => {
  await using session = await load();
  const first = await session.run({ state: zeros(), at, row }, { keep: 'device' });
  const { state } = first;
  if (state === undefined) throw new Error('no state');
  for (let n = 0; n < 4; n++) {
    const { state: next } = await session.run({ state, at, row });
    expect(next?.data[128]).toBe(2);
  }
  expect((await state.read()).data[128]).toBe(1);
});

test('what was given away is gone, also when the run fails', async () => {
  await using session = await load();
  const { state } = await session.run({ state: zeros(), at, row }, { keep: 'device' });
  if (state === undefined) throw new Error('no state');
  await session.run({ state, at, row }, { donate: ['state'] });
  await expect(state.read()).rejects.toThrow('a handle that was disposed of');
  await expect(session.run({ state, at, row })).rejects.toThrow('a handle that was disposed of');
  state.dispose();
});

test('names that the function does not have are refused', async () => {
  await using session = await load();
  const inputs = { state: zeros(), at, row };
  await expect(
    session.run(inputs, { donate: ['stat'] }),
  ).rejects.toThrowErrorMatchingInlineSnapshot(
    `[UsageError: run: got donate ["stat"], expected a list of names among state, at, row.]`,
  );
  await expect(session.run(inputs, { keep: ['y'] })).rejects.toThrowErrorMatchingInlineSnapshot(
    `[UsageError: run: got keep ["y"], expected a list of names among state, before.]`,
  );
});

test('a cache of GroupQueryAttention that is long enough is changed where it lies', async () => {
  const [heads, size, length] = [2, 64, 4096];
  const bytes = writeOnnxModel({
    opset: 17,
    opsets: { 'com.microsoft': 1 },
    inputs: [
      ...['q', 'k', 'v'].map((name) => ({
        name,
        dtype: 'float32' as const,
        shape: [1, 1, heads * size],
      })),
      ...['keys', 'values'].map((name) => ({
        name,
        dtype: 'float32' as const,
        shape: [1, heads, 'past', size],
      })),
      { name: 'lasts', dtype: 'int32', shape: [1] },
      { name: 'total', dtype: 'int32', shape: [] },
    ],
    nodes: [
      {
        op: 'GroupQueryAttention',
        domain: 'com.microsoft',
        inputs: ['q', 'k', 'v', 'keys', 'values', 'lasts', 'total'],
        outputs: ['y', 'newKeys', 'newValues'],
        attributes: { num_heads: heads, kv_num_heads: heads },
      },
    ],
    outputs: ['y', 'newKeys', 'newValues'],
  });
  await using session = await Session.load(bytes, options);
  const row = new Tensor('float32', new Float32Array(heads * size).fill(1), [1, 1, heads * size]);
  const empty = () =>
    new Tensor('float32', new Float32Array(heads * length * size), [1, heads, length, size]);
  let [keys, values]: (Tensor | DeviceTensor)[] = [empty(), empty()];
  const cacheBytes = 2 * 4 * heads * length * size;
  for (const last of [4000, 4001, 4002]) {
    const inputs: Inputs = {
      q: row,
      k: row,
      v: row,
      keys: keys ?? empty(),
      values: values ?? empty(),
      lasts: Tensor.from(Int32Array.of(last)),
      total: new Tensor('int32', Int32Array.of(last + 1), []),
    };
    const outputs = await session.run(inputs, {
      keep: ['newKeys', 'newValues'],
      donate: ['keys', 'values'],
    });
    [keys, values] = [outputs.newKeys, outputs.newValues];
  }
  expect((await session.memory()).peakBytes).toBeLessThan(1.2 * cacheBytes);
  const { data } = await (keys as DeviceTensor).read();
  expect([3999, 4000, 4002, 4003].map((place) => data[place * size])).toEqual([0, 1, 1, 0]);
});

/** Appends a row to a state, and gives the sum of all rows. */
const GROW = `def @main(
  %state: Tensor[(n, 64), float32], %row: Tensor[(1, 64), float32], results=["state", "sum"]
) {
  let %all = concat(%state, %row, axis=0);
  (%all, reduce_sum(%all, axes=[0]))
}`;

test.each(['wasm', 'host'] as const)(
  'a state that is given away grows where it lies, on %s',
  async (device) => {
    const source = compile(parseModule(GROW), { verify: true }).toBytes();
    await using session = await Session.load(source, { worker: false, device });
    let state: Tensor | DeviceTensor = new Tensor('float32', new Float32Array(0), [0, 64]);
    const live: number[] = [];
    for (let n = 1; n <= 40; n++) {
      const inputs: Inputs = { state, row };
      const outputs = await session.run(inputs, { keep: ['state'], donate: ['state'] });
      const { sum } = outputs;
      state = outputs.state;
      expect(sum instanceof Tensor && sum.data[63]).toBe(n);
      live.push((await session.memory()).liveBytes);
    }
    // It moves to twice the room, and takes as much until that is used up.
    expect(new Set(live).size).toBeLessThan(8);
    const kept = state as DeviceTensor;
    expect(kept.shape).toEqual([40, 64]);
    const [longer, other] = [
      await session.run({ state: kept, row }, { keep: ['state'] }),
      await session.run({ state: kept, row: new Tensor('float32', new Float32Array(64), [1, 64]) }),
    ];
    // Not given away: both begin with the same rows, and neither writes into the other.
    expect((await longer.state.read()).data.at(-1)).toBe(1);
    expect(other.state?.data.at(-1)).toBe(0);
    expect((await kept.read()).data).toEqual(new Float32Array(40 * 64).fill(1));
    longer.state.dispose();
    kept.dispose();
  },
);

/** A cache of keys of three heads, as decoders have it, and what a query finds in it. */
const CACHE = `def @main(
  %past: Tensor[(1, 3, n, 4), float32], %row: Tensor[(1, 3, 1, 4), float32], results=["present", "sums"]
) {
  let %present = concat(%past, %row, axis=2);
  (%present, reduce_sum(%present, axes=[2]))
}`;

const DOUBLED = `def @main(%x: Tensor[(1, 3, n, 4), float32], results=["y"]) { add(%x, %x) }`;

test.each(['webgpu', 'wasm', 'host'] as const)(
  'a cache of several heads grows where it lies, and other sessions read it, on %s',
  async (device) => {
    const gpu = device === 'webgpu' ? { gpu: await sharedNodeGpu() } : {};
    const loaded = [CACHE, DOUBLED].map((text) => {
      const source = compile(parseModule(text), { verify: true }).toBytes();
      return Session.load(source, { worker: false, device, ...gpu });
    });
    const [session, other] = await Promise.all(loaded);
    if (session === undefined || other === undefined) throw new Error('no sessions');
    const rowOf = (n: number): Tensor =>
      new Tensor(
        'float32',
        Float32Array.from({ length: 12 }, (_, i) => n + (i >> 2) * 100),
        [1, 3, 1, 4],
      );
    let past: Tensor | DeviceTensor = new Tensor('float32', new Float32Array(0), [1, 3, 0, 4]);
    const live: number[] = [];
    for (let n = 1; n <= 20; n++) {
      const inputs: Inputs = { past, row: rowOf(n) };
      const outputs = await session.run(inputs, { keep: ['present'], donate: ['past'] });
      past = outputs.present;
      const { sums } = outputs;
      expect(sums instanceof Tensor && sums.data[11]).toBe(200 * n + (n * (n + 1)) / 2);
      live.push((await session.memory()).liveBytes);
    }
    expect(new Set(live).size).toBeLessThan(8);
    const kept = past as DeviceTensor;
    const expected = [0, 100, 200].flatMap((head) =>
      Array.from({ length: 80 }, (_, i) => head + 1 + (i >> 2)),
    );
    expect(kept.shape).toEqual([1, 3, 20, 4]);
    expect([...(await kept.read()).data]).toEqual(expected);
    for (let turn = 0; turn < 4; turn++) {
      const { y } = await other.run({ x: kept });
      expect([...(y?.data ?? [])]).toEqual(expected.map((value) => 2 * value));
    }
    const longer = await session.run({ past: kept, row: rowOf(0) }, { keep: ['present'] });
    expect((await longer.present.read()).data[20 * 4]).toBe(0);
    expect([...(await kept.read()).data]).toEqual(expected);
    const { y } = await other.run({ x: kept }, { donate: ['x'] });
    expect(y?.data.at(-1)).toBe(440);
    longer.present.dispose();
    await Promise.all([session.dispose(), other.dispose()]);
  },
);
