import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Deferred } from '../../core/async/deferred.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { moduleToJson } from '../../compiler/ir/json/json.ts';
import { parseModule } from '../../compiler/ir/text/parse.ts';
import { compileOnnx } from '../../frontend/index.ts';
import { ownModel } from '../../frontend/onnx/testing/own-model.ts';
import { importers, operators } from '../../frontend/onnx/testing/own-operators.ts';
import { HOSTILE_MODELS } from '../../testing/hostile-models.ts';
import { writeOnnxModel } from '../../testing/onnx-writer.ts';
import type { FromCompiler, ToCompiler } from './compile-protocol.ts';
import { COMPILER_NAME } from '../protocol/session-service.ts';
import { serveCompiler } from './compile-service.ts';
import { loadProgram } from '../sources/load-program.ts';
import type { CompileTables, LoadContext, LoadedProgram } from '../host/loaded-program.ts';
import type { LoadRequest } from '../protocol/load-request.ts';

type Behaviour = 'serves' | 'hangs' | 'fails to start';

let behaviour: Behaviour = 'serves';
/** Options that the script shared by all threads passes to `serve`. */
let servedTables: CompileTables | undefined;
const started: FakeWorker[] = [];
/** Resolves when a thread starts. */
let starting = new Deferred();

/** A worker of the same script, in this thread: what is posted is cloned and arrives later. */
class FakeWorker {
  readonly name: string | undefined;
  isTerminated = false;
  readonly #listeners = new Map<string, (event: unknown) => void>();
  readonly #receive: (message: ToCompiler) => void;

  constructor(_address: string, { name }: WorkerOptions) {
    this.name = name;
    started.push(this);
    starting.resolve();
    const post = (message: FromCompiler, transfer: readonly ArrayBuffer[] = []): void => {
      const data = structuredClone(message, { transfer: [...transfer] });
      setTimeout(() => this.#emit('message', { data }));
    };
    this.#receive = behaviour === 'serves' ? serveCompiler(post, servedTables) : () => undefined;
    if (behaviour !== 'fails to start') post({ kind: 'ready' });
    else setTimeout(() => this.#emit('error', new Event('error')));
    if (behaviour === 'hangs') {
      post({ kind: 'progress', done: 3, total: 22 });
      post({ kind: 'place', place: 'node "deep" (Add)' });
    }
  }

  addEventListener(type: string, listener: (event: unknown) => void): void {
    this.#listeners.set(type, listener);
  }

  postMessage(message: ToCompiler, transfer: readonly Transferable[]): void {
    const data = structuredClone(message, { transfer: [...transfer] });
    setTimeout(() => {
      if (!this.isTerminated) this.#receive(data);
    });
  }

  terminate(): void {
    this.isTerminated = true;
  }

  #emit(type: string, event: unknown): void {
    if (!this.isTerminated) this.#listeners.get(type)?.(event);
  }
}

beforeEach(() => {
  behaviour = 'serves';
  servedTables = undefined;
  started.length = 0;
  starting = new Deferred();
  vi.stubGlobal('DedicatedWorkerGlobalScope', FakeWorker);
  vi.stubGlobal('Worker', FakeWorker);
  vi.stubGlobal('location', { href: 'https://page.test/worker.js' });
});

afterEach(() => {
  vi.unstubAllGlobals();
});

const MODEL = writeOnnxModel({
  nodes: [{ op: 'MatMul', inputs: ['x', 'w'], outputs: ['y'] }],
  inputs: [{ name: 'x', shape: [1, 2] }],
  outputs: ['y'],
  initializers: { w: HostTensor.from('float32', [2, 2], [1, 2, 3, 4]) },
});

function load(
  bytes: Uint8Array,
  context: Partial<LoadContext> = {},
  compileLimits?: LoadRequest['compileLimits'],
): Promise<LoadedProgram> {
  const request: LoadRequest = {
    source: { kind: 'bytes', bytes },
    device: 'host',
    dims: {},
    compileLimits,
  };
  const { signal } = new AbortController();
  return loadProgram(request, { signal, onProgress: () => undefined, ...context });
}

function hostile(title: string): Uint8Array {
  const model = HOSTILE_MODELS.find((candidate) => candidate.title === title);
  if (model === undefined) throw new Error(`there is no hostile model "${title}"`);
  return model.bytes();
}

describe('a model that is compiled in a thread', () => {
  test('is the program that compiling here gives, data and progress included', async () => {
    const phases: string[] = [];
    const program = await load(
      MODEL,
      { onProgress: ({ phase, loaded, total }) => phases.push(`${phase} ${loaded}/${total}`) },
      { nodes: 10 },
    );
    const { data, ...expected } = compileOnnx(MODEL);
    expect(program.executable).toEqual(expected);
    expect(started.map(({ name }) => name)).toEqual([COMPILER_NAME]);
    const blocks: Uint8Array[] = [];
    for await (const { bytes } of program.blocks) blocks.push(bytes);
    expect(blocks).toEqual([data]);
    expect(program.dataHashes?.hashes).toHaveLength(1);
    expect(phases).toContain('compile 27/27');
    expect(phases.at(-1)).toBe('verify 1/1');
    expect(started[0]?.isTerminated).toBe(true);
  });

  test('is refused with the error of the thread, which ends', async () => {
    const loading = load(hostile('a sparse tensor of 1.7 GB'));
    await expect(loading).rejects.toMatchObject({
      name: 'CompileLimitError',
      message: expect.stringMatching(/^initializer "s": got 1700000000 bytes of folded tensors/),
      details: { limit: 'foldedBytes', reached: 1_700_000_000 },
    });
    expect(started.map(({ isTerminated }) => isTerminated)).toEqual([true]);
  });

  test('ends its thread at once when the load is aborted', async () => {
    behaviour = 'hangs';
    const controller = new AbortController();
    const loading = load(MODEL, { signal: controller.signal }, { nodes: 10 });
    await starting.promise;
    controller.abort(new Error('enough'));
    await expect(loading).rejects.toThrow('enough');
    expect(started[0]?.isTerminated).toBe(true);
  });

  test('ends a thread that does not heed its limit of time, and says where it was', async () => {
    behaviour = 'hangs';
    await expect(load(MODEL, {}, { milliseconds: 5 })).rejects.toThrow(
      'node "deep" (Add): got 1005 milliseconds of compiling, expected at most 5.',
    );
    expect(started[0]?.isTerminated).toBe(true);
  });

  test('has no limit of time but one that the caller gave', async () => {
    behaviour = 'hangs';
    const timers = vi.spyOn(globalThis, 'setTimeout');
    const controller = new AbortController();
    const loading = load(MODEL, { signal: controller.signal }, { nodes: 10, work: 1e6 });
    await starting.promise;
    await new Promise(setImmediate);
    controller.abort(new Error('enough'));
    await expect(loading).rejects.toThrow('enough');
    const delays = timers.mock.calls.map(([, delay = 0]) => delay).filter((delay) => delay > 0);
    // That of the start of a thread.
    expect(delays).toEqual([10_000]);
    timers.mockRestore();
  });
});

describe("operators and importers of one's own", () => {
  const opsIn = ({ executable }: LoadedProgram) =>
    executable.primitives.flatMap(({ body }) => body.map(({ op }) => op));

  test('are those of the thread, which runs the same script', async () => {
    servedTables = { operators, importers, isInThreads: true };
    const program = await load(ownModel('Decay'), { tables: servedTables }, { nodes: 10 });
    expect(opsIn(program)).toEqual(['decay']);
    expect(started).toHaveLength(1);
  });

  test('keep a model here where threads would not know them', async () => {
    const tables = { operators, importers, isInThreads: false };
    const program = await load(ownModel('Decay'), { tables }, { nodes: 10 });
    expect(opsIn(program)).toEqual(['decay']);
    expect(started).toEqual([]);
  });
});

test('a small model starts no thread', async () => {
  const program = await load(MODEL);
  expect(program.executable.functions).toHaveLength(1);
  expect(started).toEqual([]);
});

test.each([
  ['here', 1, 0],
  ['in a thread', 3, 1],
])('a program in JSON is compiled %s', async (_, order, threads) => {
  const slopes = Array.from(
    { length: order },
    (__, i) => `
    def @f${i + 1}(%y: Tensor[(), float32]) { let %g = gradient(@f${i})(%y); %g.1.0 }`,
  );
  const text = `
    def @steps(%k: int, %y: Tensor[(), float32]) -> Tensor[(), float32] {
      if (int_lt(%k, #5)) { @steps(int_add(%k, #1), mul(sin(%y), %y)) } else { %y }
    }
    def @f0(%y: Tensor[(), float32]) { @steps(#0, %y) }${slopes.join('')}
    def @main(%x: Tensor[(), float32]) { @f${order}(%x) }`;
  const json = new TextEncoder().encode(JSON.stringify(moduleToJson(parseModule(text))));
  const program = await load(json);
  expect(program.executable.functions.length).toBeGreaterThan(0);
  expect(started).toHaveLength(threads);
});

test('where no thread starts, the model is compiled here, within the same limits', async () => {
  behaviour = 'fails to start';
  const program = await load(MODEL, {}, { nodes: 10 });
  expect(program.executable.functions).toHaveLength(1);
  await expect(load(hostile('functions that double 30 times'), {}, { nodes: 10 })).rejects.toThrow(
    'ONNX model: got 60 nodes, expected at most 10.',
  );
  expect(started.map(({ isTerminated }) => isTerminated)).toEqual([true, true]);
});
