import { configureWorker, Session, type SharingCounters, Tensor } from '../../src/client/index.ts';
import { HostTensor } from '../../src/core/tensor/host-tensor.ts';
import { compileOnnx } from '../../src/frontend/index.ts';
import { firstDifference } from '../../src/core/tensor/all-close.ts';
import { nodeGpu } from '../../src/testing/node-gpu.ts';
import { writeOnnxModel } from '../../src/testing/onnx-writer.ts';
import { seededRandom } from '../../src/core/random.ts';

const MODELS = 20;
const REQUESTS = 2000;
/** Requests under way at a time. */
const CLIENTS = 8;
/** The weights of all models are so many times the budget. */
const OVERCOMMITMENT = 4;
const SAMPLES = 4;

type Random = () => number;

interface Model {
  readonly name: string;
  /** An ONNX file, and its weights in bytes. */
  readonly file: Uint8Array;
  readonly weightBytes: number;
  readonly samples: readonly Sample[];
  readonly isPinned: boolean;
  readonly priority: number;
}

interface Sample {
  readonly x: Tensor;
  readonly expected: HostTensor;
}

interface Layer {
  readonly inputs: number;
  readonly outputs: number;
  readonly weights: Float32Array<ArrayBuffer>;
}

/** 20 models on one device with room for a quarter of their weights; half-way the device is lost. */
export async function main(): Promise<number> {
  const random = seededRandom(11);
  const models = Array.from({ length: MODELS }, (_, index) => makeModel(index, random));
  const total = models.reduce((sum, { weightBytes }) => sum + weightBytes, 0);
  const memoryBudget = Math.floor(total / OVERCOMMITMENT);
  const { gpu, lose } = losable(await nodeGpu());
  configureWorker({ worker: false, gpu, memoryBudget });
  const sessions: Session[] = [];
  try {
    for (const model of models) sessions.push(await load(model, gpu));
    const latencies: number[][] = models.map(() => []);
    const failures: string[] = [];
    let next = 0;
    const client = async (): Promise<void> => {
      while (next < REQUESTS) {
        if (++next === REQUESTS / 2) lose();
        const index = pick(random);
        const failure = await ask(models[index], sessions[index], {
          random,
          times: latencies[index],
        });
        if (failure !== undefined) failures.push(failure);
      }
    };
    await Promise.all(Array.from({ length: CLIENTS }, client));
    const counters = await Promise.all(sessions.map(countersOf));
    printTable(models, counters, latencies);
    return verdict(counters, failures, { total, memoryBudget });
  } finally {
    for (const session of sessions) await session.dispose();
  }
}

/** The first models are asked for more often than the last ones. */
function pick(random: Random): number {
  return Math.floor(MODELS * random() ** 2);
}

/** Asks once; what went wrong, if anything. */
async function ask(
  model: Model | undefined,
  session: Session | undefined,
  { random, times }: { readonly random: Random; readonly times: number[] | undefined },
): Promise<string | undefined> {
  const sample = model?.samples[Math.floor(random() * SAMPLES)];
  if (model === undefined || sample === undefined || session === undefined) return 'internal: none';
  const begin = performance.now();
  try {
    const { y } = await session.run({ x: sample.x });
    times?.push(performance.now() - begin);
    if (y === undefined) return `${model.name}: no result`;
    const actual = new HostTensor('float32', y.shape, y.data);
    const difference = firstDifference(actual, sample.expected, { rtol: 1e-4, atol: 1e-4 });
    return difference && `${model.name}: ${difference}`;
  } catch (error) {
    return `${model.name}: ${String(error)}`;
  }
}

/** Sources of all kinds: files, models to be compiled, and streams that cannot be read again. */
async function load(model: Model, gpu: GPU): Promise<Session> {
  const { isPinned: pin, priority, file } = model;
  const options = { worker: false, device: 'webgpu', gpu, pin, priority } as const;
  const kind = Number(model.name.slice(1)) % 4;
  if (kind === 0) return Session.load(file, options);
  const weft = new Blob([compileOnnx(file).toBytes()]);
  if (kind === 1) return Session.load(weft.stream(), options);
  return Session.load(kind === 2 ? weft : await weft.arrayBuffer(), options);
}

async function countersOf(session: Session): Promise<SharingCounters> {
  const { sharing } = await session.memory();
  if (sharing === undefined) throw new Error('internal: a session shares nothing');
  return sharing;
}

function verdict(
  counters: readonly SharingCounters[],
  failures: readonly string[],
  { total, memoryBudget }: { readonly total: number; readonly memoryBudget: number },
): number {
  const sum = (pickOne: (one: SharingCounters) => number): number =>
    counters.reduce((all, one) => all + pickOne(one), 0);
  const peak = Math.max(...counters.map(({ peakHeldBytes }) => peakHeldBytes));
  const megabytes = (bytes: number): string => (bytes / 2 ** 20).toFixed(1);
  console.log(
    `weights of ${megabytes(total)} MB in ${megabytes(memoryBudget)} MB, at most ${megabytes(peak)} held; ` +
      `${sum(({ hits }) => hits)} hits, ${sum(({ misses }) => misses)} misses, ` +
      `${sum(({ evictions }) => evictions)} evictions; after the loss of the device ` +
      `${sum(({ rebuilds }) => rebuilds)} sessions built again, ${sum(({ retries }) => retries)} runs retried`,
  );
  for (const failure of failures.slice(0, 10)) console.error(failure);
  const complaints = [
    ...(failures.length > 0 ? [`${failures.length} of ${REQUESTS} requests failed`] : []),
    ...(peak > memoryBudget ? ['the budget was exceeded'] : []),
    ...(sum(({ evictions }) => evictions) === 0 ? ['nothing was evicted'] : []),
    ...(sum(({ rebuilds }) => rebuilds) === 0 ? ['nothing was built again'] : []),
    ...(counters.some((one) => one.isPinned && one.evictions > 0) ? ['a pinned one went'] : []),
  ];
  for (const complaint of complaints) console.error(complaint);
  if (complaints.length === 0) console.log(`all ${REQUESTS} requests as expected`);
  return complaints.length === 0 ? 0 : 1;
}

function printTable(
  models: readonly Model[],
  counters: readonly SharingCounters[],
  latencies: readonly (readonly number[])[],
): void {
  console.log('model       weights    runs    hits  misses  evicted  rebuilt  median ms   95 % ms');
  for (const [index, { name, weightBytes }] of models.entries()) {
    const one = counters[index];
    if (one === undefined) continue;
    const times = (latencies[index] ?? []).toSorted((a, b) => a - b);
    const at = (part: number): string => (times[Math.floor(times.length * part)] ?? 0).toFixed(1);
    const label = `${name}${one.isPinned ? ' pinned' : ''}`;
    const cells = [
      `${Math.round(weightBytes / 1024)} KB`.padStart(8),
      ...[times.length, one.hits, one.misses].map((count) => String(count).padStart(7)),
      ...[one.evictions, one.rebuilds].map((count) => String(count).padStart(8)),
      ...[at(0.5), at(0.95)].map((ms) => ms.padStart(9)),
    ];
    console.log(`${label.padEnd(11)}${cells.join(' ')}`);
  }
}

/** WebGPU whose devices can be taken away. */
function losable(gpu: GPU): { readonly gpu: GPU; readonly lose: () => void } {
  const devices: GPUDevice[] = [];
  const requestAdapter: GPU['requestAdapter'] = async (options) => {
    const adapter = await gpu.requestAdapter(options);
    if (adapter === null) return null;
    const requestDevice = adapter.requestDevice.bind(adapter);
    adapter.requestDevice = async (descriptor) => {
      const device = await requestDevice(descriptor);
      devices.push(device);
      return device;
    };
    return adapter;
  };
  const lose = (): void => {
    for (const device of devices.splice(0)) device.destroy();
  };
  const losing: Pick<GPU, 'requestAdapter'> = { requestAdapter };
  return { gpu: losing as GPU, lose };
}

/** Some layers with ReLU between them. */
function makeModel(index: number, random: Random): Model {
  const width = 96 + 32 * (index % 5);
  const layers = Array.from({ length: 2 + (index % 4) }, () => makeLayer(width, width, random));
  const nodes = layers.flatMap((_, i) => {
    const isLast = i === layers.length - 1;
    const product = {
      op: 'MatMul',
      inputs: [i === 0 ? 'x' : `x${i}`, `w${i}`],
      outputs: [isLast ? 'y' : `p${i}`],
    };
    return isLast
      ? [product]
      : [product, { op: 'Relu', inputs: [`p${i}`], outputs: [`x${i + 1}`] }];
  });
  const initializers = Object.fromEntries(
    layers.map(({ inputs, outputs, weights }, i) => [
      `w${i}`,
      new HostTensor('float32', [inputs, outputs], weights),
    ]),
  );
  const inputs = [{ name: 'x', dtype: 'float32' as const, shape: ['n', width] }];
  const samples = Array.from({ length: SAMPLES }, (_, rows) =>
    makeSample(layers, { rows: rows + 1, width, random }),
  );
  return {
    name: `m${index}`,
    file: writeOnnxModel({ nodes, inputs, outputs: ['y'], initializers }),
    weightBytes: layers.reduce((sum, { weights }) => sum + weights.byteLength, 0),
    samples,
    isPinned: index === 3,
    priority: index % 2 === 0 ? 1 : 2,
  };
}

function makeLayer(inputs: number, outputs: number, random: Random): Layer {
  const scale = 2 / Math.sqrt(inputs);
  const weights = Float32Array.from({ length: inputs * outputs }, () => (random() - 0.5) * scale);
  return { inputs, outputs, weights };
}

/** The model's expected result, computed in double precision. */
function makeSample(
  layers: readonly Layer[],
  {
    rows,
    width,
    random,
  }: { readonly rows: number; readonly width: number; readonly random: Random },
): Sample {
  const data = Float32Array.from({ length: rows * width }, () => random() - 0.5);
  let values: ArrayLike<number> = data;
  for (const [index, layer] of layers.entries()) {
    const product = multiply(values, layer, rows);
    values = index === layers.length - 1 ? product : product.map((value) => Math.max(value, 0));
  }
  const expected = HostTensor.from('float32', [rows, width], Array.from(values));
  return { x: new Tensor('float32', data, [rows, width]), expected };
}

function multiply(x: ArrayLike<number>, layer: Layer, rows: number): Float64Array {
  const { inputs, outputs, weights } = layer;
  const result = new Float64Array(rows * outputs);
  for (let row = 0; row < rows; row++) {
    for (let k = 0; k < inputs; k++) {
      const factor = x[row * inputs + k] ?? 0;
      for (let column = 0; column < outputs; column++) {
        const at = row * outputs + column;
        result[at] = (result[at] ?? 0) + factor * (weights[k * outputs + column] ?? 0);
      }
    }
  }
  return result;
}
