import type { DeviceRates } from '../core/contracts/device-rates.ts';
import { macrotask } from '../core/async/macrotask.ts';
import type { PrimitiveFunction } from '../core/contracts/primitive-function.ts';
import { elementCount, type Shape } from '../core/tensor/shape.ts';
import { add } from '../ops/elementwise/elementwise-binary.ts';
import { matmul } from '../ops/linear/matmul.ts';
import type { Device, DeviceBuffer, DeviceTensor, PreparedKernels } from './device.ts';

/** Does a measurement when nothing else uses the device. */
export type MeasuringTurn = <T>(work: () => Promise<T>) => Promise<T>;

interface Sample {
  readonly primitive: PrimitiveFunction;
  readonly shape: Shape;
  /** Launches, each of the result of the one before. */
  readonly count: number;
}

const SIDE = 512;
const LENGTH = 2 ** 21;
const FLOAT_BYTES = 4;

const SMALL = sample('small', add.name, [64]);
const LARGE = sample('large', add.name, [LENGTH]);
const PRODUCT = sample('product', matmul.name, [SIDE, SIDE]);

const ONE: Sample = { ...SMALL, count: 1 };
const MANY: Sample = { ...SMALL, count: 257 };
const STREAM: Sample = { ...LARGE, count: 4 };
const PRODUCTS: Sample = { ...PRODUCT, count: 2 };

/** Clocks of browsers are coarse, up to a millisecond: the mean of as many repetitions is taken. */
const BATCH_MS = 12;
const BATCH_COUNT = 2;
/** Nothing counts as faster. */
const LEAST_MS = 1e-4;

/**
 * Measures a device, in four turns of some 30 ms each. Rejects when the device
 * is lost or has no memory.
 */
export async function measureRates(
  device: Device,
  turn: MeasuringTurn = (work) => work(),
): Promise<DeviceRates> {
  const primitives = [SMALL, LARGE, PRODUCT].map(({ primitive }) => primitive);
  const kernels = await device.prepare(primitives);
  const time = (what: Sample): Promise<number> => turn(() => timeSample(device, kernels, what));
  try {
    const oneMs = await time(ONE);
    const manyMs = await time(MANY);
    const launchMs = Math.max((manyMs - oneMs) / (MANY.count - ONE.count), LEAST_MS);
    const roundTripMs = Math.max(oneMs - launchMs, LEAST_MS);
    /**
     * Milliseconds of one launch, without what it takes to launch it, as far as that can be told
     * apart.
     */
    const kernelMs = async (what: Sample): Promise<number> => {
      const each = Math.max((await time(what)) - roundTripMs, LEAST_MS) / what.count;
      return Math.max(each - launchMs, each / 4);
    };
    const streamMs = await kernelMs(STREAM);
    const productMs = await kernelMs(PRODUCTS);
    return {
      roundTripMs,
      launchMs,
      operationsPerMs: (2 * SIDE ** 3) / productMs,
      bytesPerMs: (3 * FLOAT_BYTES * LENGTH) / streamMs,
    };
  } finally {
    kernels.dispose();
  }
}

function sample(name: string, op: string, shape: Shape): Pick<Sample, 'primitive' | 'shape'> {
  const type = { dtype: 'float32', shape } as const;
  const body = [{ op, inputs: [0, 1], attributes: {} }];
  const results = [{ value: 2, type }];
  return { primitive: { name, params: [type, type], body, results }, shape };
}

/** The mean of the faster of two batches, after one repetition that counts for nothing. */
async function timeSample(
  device: Device,
  kernels: PreparedKernels,
  { primitive, shape, count }: Sample,
): Promise<number> {
  const kernel = kernels.get(primitive.name);
  const byteLength = elementCount(shape) * FLOAT_BYTES;
  const buffers: DeviceBuffer[] = [];
  const tensor = (): DeviceTensor => {
    const buffer = device.createBuffer(byteLength);
    buffers.push(buffer);
    return { buffer, byteOffset: 0, dtype: 'float32', shape };
  };
  try {
    let [input, output] = [tensor(), tensor()];
    const operand = tensor();
    const once = async (): Promise<void> => {
      for (let launch = 0; launch < count; launch++) {
        kernel?.launch([input, operand, output]);
        [input, output] = [output, input];
      }
      await device.read([{ buffer: input.buffer, byteOffset: 0, byteLength: FLOAT_BYTES }]);
    };
    await once();
    let least = Number.POSITIVE_INFINITY;
    for (let batch = 0; batch < BATCH_COUNT; batch++) {
      await macrotask();
      least = Math.min(least, await meanMs(once, BATCH_MS));
    }
    return least;
  } finally {
    for (const buffer of buffers) buffer.destroy();
  }
}

/** Milliseconds of one repetition, on average of as many as take `leastMs` in all. */
async function meanMs(work: () => Promise<void>, leastMs: number): Promise<number> {
  const begin = performance.now();
  for (let count = 1; ; count++) {
    await work();
    const ms = performance.now() - begin;
    if (ms >= leastMs) return ms / count;
  }
}
