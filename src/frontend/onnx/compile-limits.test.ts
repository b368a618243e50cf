import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { DEFAULT_LIMITS } from '../../core/limits/compile-limits.ts';
import { CompileLimitError, errorFromData, errorToData } from '../../core/errors.ts';
import { Executable } from '../../compiler/compile.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { HOSTILE_MODELS } from '../../testing/hostile-models.ts';
import { type OnnxNodeSpec, writeOnnxModel } from '../../testing/onnx-writer.ts';
import { compileOnnx } from './compile-onnx.ts';
import { compileInTurns, compileSmallInTurns } from './compile-in-turns.ts';

function hostile(title: string): Uint8Array {
  const model = HOSTILE_MODELS.find((candidate) => candidate.title === title);
  if (model === undefined) throw new Error(`there is no hostile model "${title}"`);
  return model.bytes();
}

/** `x + 1 + 1 …`, a node for each. */
function chain(length: number): Uint8Array {
  const nodes = Array.from({ length }, (_, i): OnnxNodeSpec => {
    const from = i === 0 ? 'x' : `y${i - 1}`;
    return { op: 'Add', inputs: [from, 'one'], outputs: [`y${i}`], name: `add ${i}` };
  });
  return writeOnnxModel({
    nodes,
    inputs: [{ name: 'x', shape: [2] }],
    outputs: [`y${length - 1}`],
    initializers: { one: HostTensor.from('float32', [1], [1]) },
  });
}

describe('a model beyond a limit is refused', () => {
  const folded =
    /got \d+ bytes of folded tensors, expected at most 134\d{6}\. If you trust the model, raise the limit: compileLimits: \{ foldedBytes: \d+ \}, or --limit foldedBytes=\d+\.$/;
  test.each<[string, RegExp]>([
    [
      'functions that double 30 times',
      /^node "b" \(Add\) of function hostile\.f0 of .* … .*: got 50001 nodes, expected at most 50000\. If you trust the model, raise the limit: compileLimits: \{ nodes: 100002 \}, or --limit nodes=100002\.$/,
    ],
    [
      'functions that double inside an If',
      /^node "inner" \(hostile\.f\d+\) of (then|else)_branch of node "b" \(If\) of .*: got 50001 nodes, expected at most 50000\./,
    ],
    ['functions with a hundred attributes', /: got 50001 nodes, expected at most 50000\./],
    [
      'functions 5,000 deep',
      /^node "b" \(hostile\.f4799\) of function hostile\.f4800 of .*: got functions that call functions more than 200 deep, expected fewer levels\. Inline the functions of the model before it is loaded\.$/,
    ],
    ['300,000 nodes', /^ONNX model: got 300000 nodes, expected at most 50000\./],
    ['a sparse tensor of 1.7 GB', /^initializer "s": got 1700000000 bytes of folded tensors/],
    ['sparse tensors of 60 MB each', /^initializer "s2": got 180000000 bytes/],
    ['a window of 2^31 samples', /^node "w" \(HannWindow\): got 17179869184 bytes/],
    ['a constant that Concat doubles', folded],
    ['a constant that Expand makes huge', folded],
    [
      'sizes that are products of sums',
      /^size: got a formula of more than 4096 operations, expected a shorter one\. Give symbolic dimensions numbers when the model is compiled\.$/,
    ],
  ])('%s', (title, message) => {
    let thrown: unknown;
    try {
      compileOnnx(hostile(title));
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(CompileLimitError);
    expect(String(thrown).replace(/^CompileLimitError: /, '')).toMatch(message);
  });
});

describe('limits that are given', () => {
  test('of nodes: as many are compiled, one more is not', () => {
    expect(compileOnnx(chain(40), { compileLimits: { nodes: 40 } }).functions).toHaveLength(1);
    expect(() => compileOnnx(chain(41), { compileLimits: { nodes: 40 } })).toThrow(
      'ONNX model: got 41 nodes, expected at most 40. If you trust the model, raise the limit: compileLimits: { nodes: 82 }, or --limit nodes=82.',
    );
  });

  test('of bytes: the remedy of the message lets the model through', () => {
    const model = writeOnnxModel({
      nodes: [
        { op: 'Transpose', inputs: ['w'], outputs: ['t'], name: 'turn' },
        { op: 'MatMul', inputs: ['x', 't'], outputs: ['y'] },
      ],
      inputs: [{ name: 'x', shape: [1, 3] }],
      outputs: ['y'],
      initializers: { w: HostTensor.from('float32', [2, 3], [1, 2, 3, 4, 5, 6]) },
    });
    let raised = 0;
    try {
      compileOnnx(model, { compileLimits: { foldedBytes: 8 } });
    } catch (error) {
      expect(error).toMatchObject({
        name: 'CompileLimitError',
        details: { limit: 'foldedBytes', most: 8, reached: 24, where: 'node "turn"' },
      });
      raised = Number(/--limit foldedBytes=(\d+)\.$/.exec(String(error))?.[1]);
    }
    expect(raised).toBe(48);
    expect(compileOnnx(model, { compileLimits: { foldedBytes: raised } }).functions).toHaveLength(
      1,
    );
  });

  test('of time', () => {
    expect(() => compileOnnx(chain(500), { compileLimits: { milliseconds: 1e-6 } })).toThrow(
      /^compiler: got \d+ milliseconds of compiling, expected at most 0\.000001\. .*or --limit milliseconds=\d+\.$/,
    );
  });

  test.each<[object, string]>([
    [{ nodes: 0 }, 'compileLimits: got nodes 0, expected a number above 0.'],
    [{ foldedBytes: NaN }, 'compileLimits: got foldedBytes NaN, expected a number above 0.'],
    [
      { bytes: 1 },
      'compileLimits: got an unknown option "bytes", expected only nodes, foldedBytes, work, milliseconds.',
    ],
  ])('%o is refused', (limits, message) => {
    expect(() => compileOnnx(chain(1), { compileLimits: limits })).toThrow(message);
  });

  test('the defaults are those that are documented', () => {
    expect(DEFAULT_LIMITS).toEqual({
      nodes: 50_000,
      foldedBytes: 134_217_728,
      work: 6_000_000,
      milliseconds: Infinity,
    });
  });
});

describe.each([
  ['a clock that stands still', () => 0],
  ['a clock that runs 100 times as fast', () => 100 * Date.now()],
])('under %s', (_, now) => {
  const model = chain(200);
  const expected = compileOnnx(model).toBytes();

  beforeEach(() => vi.spyOn(performance, 'now').mockImplementation(now));
  afterEach(() => void vi.restoreAllMocks());

  test('the same is compiled', async () => {
    expect(compileOnnx(model).toBytes()).toEqual(expected);
    expect(Executable.of(await compileInTurns(model)).toBytes()).toEqual(expected);
    // A turn that seems long leaves the model to a thread.
    const small = await compileSmallInTurns(model);
    expect(small === undefined ? expected : Executable.of(small).toBytes()).toEqual(expected);
  });

  test('the same is refused, and by the same number of steps', () => {
    const compileLimits = { work: 1000 };
    expect(() => compileOnnx(model, { compileLimits })).toThrow(
      /: got 1001 steps of compiling, expected at most 1000\. .*or --limit work=2002\.$/,
    );
  });
});

test('the error keeps its class and its details on the way out of a worker', () => {
  const error = new CompileLimitError('too much', { details: { limit: 'nodes', reached: 3 } });
  const copy = errorFromData(structuredClone(errorToData(error)));
  expect(copy).toBeInstanceOf(CompileLimitError);
  expect(copy).toMatchObject({ message: 'too much', details: { limit: 'nodes', reached: 3 } });
});

describe('compiling beside others', () => {
  test('gives the same bytes, whichever way', async () => {
    const model = chain(20);
    const expected = compileOnnx(model).toBytes();
    expect(Executable.of(await compileInTurns(model)).toBytes()).toEqual(expected);
    const small = await compileSmallInTurns(model);
    expect(small && Executable.of(small).toBytes()).toEqual(expected);
  });

  test('lets others run between passes, and heeds the signal there', async () => {
    const controller = new AbortController();
    let turns = 0;
    const turn = (): void => {
      turns++;
      next = setImmediate(turn);
    };
    let next = setImmediate(turn);
    const passes: number[] = [];
    const compiling = compileInTurns(chain(200), {
      signal: controller.signal,
      onProgress: (done) => {
        passes.push(done);
        if (done === 5) controller.abort(new Error('enough'));
      },
    });
    await expect(compiling).rejects.toThrow('enough');
    clearImmediate(next);
    expect(passes).toEqual([1, 2, 3, 4, 5]);
    expect(turns).toBeGreaterThan(0);
  });

  test.each([
    'functions that double 30 times',
    'a sparse tensor of 1.7 GB',
    'a constant that Concat doubles',
    'a constant that Tile doubles',
    'a constant that Pad makes huge',
    'a window of 2^31 samples',
    'sizes that are products of sums',
    '300,000 nodes',
  ])('%s is no small model', async (title) => {
    expect(await compileSmallInTurns(hostile(title))).toBeUndefined();
  });

  test('a model with files beside it is no small one', async () => {
    const model = writeOnnxModel({
      nodes: [{ op: 'Add', inputs: ['x', 'w'], outputs: ['y'] }],
      inputs: [{ name: 'x', shape: [2] }],
      outputs: ['y'],
      externalInitializers: { w: { dtype: 'float32', shape: [2], place: { location: 'w.bin' } } },
    });
    expect(await compileSmallInTurns(model)).toBeUndefined();
  });
});
