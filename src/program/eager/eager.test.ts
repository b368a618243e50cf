import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { DeviceTensor } from '../../client/values/device-tensor.ts';
import { Session } from '../../client/session.ts';
import { Tensor } from '../../client/values/tensor.ts';
import { array, configure, counters, f32, type NdArray, program, scope } from '../index.ts';
import { LeastRecent } from '../runners/least-recent.ts';
import { moduleText, Runner } from '../runners/runner.ts';

beforeAll(() => configure({ device: 'host', worker: false }));
afterAll(() => configure({}));

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const turn = () => new Promise((resolve) => setTimeout(resolve, 5));

describe('eager arrays', () => {
  test('a long loop is compiled once, and read at its end', async () => {
    const w = array([
      [1, 1],
      [0, 1],
    ]);
    const run = async (): Promise<number[]> => {
      let x = array([[1, 0]]);
      for (let i = 0; i < 70; i++) x = x.matmul(w);
      return [...(await x.data())].map(Number);
    };
    expect(await run()).toEqual([1, 70]);
    const { compiled } = counters();
    expect(await run()).toEqual([1, 70]);
    expect(await run()).toEqual([1, 70]);
    // The end of one loop and the begin of the next may make one computation more.
    expect(counters().compiled - compiled).toBeLessThanOrEqual(1);
  });

  test('an array of the page stays on the device from its second run on', async () => {
    const x = array(new Float32Array(2000).fill(2));
    const double = program({ x: f32('n') }, ({ x: own }) => own.mul(2).slice([0, 1]));
    const run = vi.spyOn(Session.prototype, 'run');
    for (let i = 0; i < 4; i++) expect(await double({ x }).data()).toEqual(Float32Array.of(4));
    const given = run.mock.calls.map(([inputs]) => (inputs as Record<string, unknown>)['x']);
    run.mockRestore();
    // One of them is the upload.
    expect(given.filter((value) => value instanceof Tensor)).toHaveLength(2);
    expect(given.filter((value) => value instanceof DeviceTensor)).toHaveLength(3);
    expect(await x.slice([0, 2]).toArray()).toEqual([2, 2]);
  });

  test('memory is freed by using, by scopes, and by the collector', async () => {
    const dispose = vi.spyOn(DeviceTensor.prototype, 'dispose');
    // Frees arrays that other tests left, until none are.
    for (let quiet = 0; quiet < 10; quiet++) {
      collectGarbage();
      await turn();
      if (dispose.mock.calls.length > 0) quiet = 0;
      dispose.mockClear();
    }
    const freed = async (count: number): Promise<void> => {
      for (let i = 0; i < 200 && dispose.mock.calls.length < count; i++) {
        collectGarbage();
        await turn();
      }
      expect(dispose.mock.calls.length).toBe(count);
      dispose.mockClear();
    };
    {
      using y = array([1]).add(1);
      await y.data();
    }
    await freed(1);
    const kept = scope(() => {
      const inner = array([1]).add(2);
      void inner.data();
      return inner.mul(2);
    });
    expect(await kept.data()).toEqual(Float32Array.of(6));
    await freed(1);
    const lose = async (): Promise<void> => {
      await array([1]).add(3).data();
    };
    await lose();
    await freed(1);
    dispose.mockRestore();
    expect(await kept.item()).toBe(6);
  });

  test('what was used longest ago goes, and frees its session with the last of its results', async () => {
    const dropped: number[] = [];
    const cache = new LeastRecent<number>(2, (value) => dropped.push(value));
    cache.of('a', () => 1);
    cache.of('b', () => 2);
    cache.of('a', () => 3);
    cache.of('c', () => 4);
    expect([cache.get('a'), cache.get('b'), dropped]).toEqual([1, undefined, [2]]);

    const f: { readonly module: Parameters<typeof moduleText>[0] } = program(
      { x: f32(1) },
      ({ x }: { x: NdArray }) => x.add(1),
    );
    const runner = new Runner(() => moduleText(f.module));
    const data = { host: Tensor.from([1]), runs: 0, readers: new Set<Promise<unknown>>() };
    const [result] = await runner.run([data]);
    const dispose = vi.spyOn(Session.prototype, 'dispose');
    runner.retire();
    if (!(result instanceof DeviceTensor)) throw new Error('a result of another kind');
    expect((await result.read()).data).toEqual(Float32Array.of(2));
    expect(dispose).not.toHaveBeenCalled();
    Runner.release(result);
    await turn();
    expect(dispose).toHaveBeenCalledTimes(1);
    dispose.mockRestore();
  });
});
