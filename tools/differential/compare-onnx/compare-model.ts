import { Session, Tensor } from '../../../src/client/index.ts';
import { dtypeInfo } from '../../../src/core/tensor/dtype.ts';
import { HostTensor } from '../../../src/core/tensor/host-tensor.ts';
import { firstDifference } from '../../../src/core/tensor/all-close.ts';
import type { ModelCase } from './node-case.ts';
import type { PeerRuntime } from './peer-runtime.ts';

export type Verdict =
  | { readonly kind: 'same'; readonly results: readonly HostTensor[] }
  /** The runtime does not take the model, so there is nothing to compare. */
  | { readonly kind: 'peer refuses'; readonly reason: string; readonly isTakenByWeft: boolean }
  | { readonly kind: 'weft refuses'; readonly reason: string }
  | { readonly kind: 'different'; readonly reason: string };

export interface CompareOptions {
  readonly device: 'webgpu' | 'host';
  readonly gpu?: GPU;
}

const LIMIT_MS = 60_000;

/** Runs a model in both runtimes. Never rejects. */
export async function compareModel(
  model: ModelCase,
  peer: PeerRuntime,
  options: CompareOptions,
): Promise<Verdict> {
  let expected: readonly HostTensor[];
  try {
    expected = await peer(model);
  } catch (thrown) {
    const actual = await runWeft(model, options).catch(() => undefined);
    return { kind: 'peer refuses', reason: messageOf(thrown), isTakenByWeft: actual !== undefined };
  }
  let actual: readonly HostTensor[];
  try {
    actual = await runWeft(model, options);
  } catch (thrown) {
    return { kind: 'weft refuses', reason: messageOf(thrown) };
  }
  for (const [i, tensor] of expected.entries()) {
    const result = actual[i];
    const difference = result === undefined ? 'missing' : differenceOf(result, tensor, model);
    if (difference !== undefined) {
      const { outputs } = model;
      const run = i < outputs.length ? '' : ` of run ${Math.floor(i / outputs.length)}`;
      return {
        kind: 'different',
        reason: `output ${outputs[i % outputs.length]}${run}: ${difference}`,
      };
    }
  }
  return { kind: 'same', results: expected };
}

async function runWeft(
  { bytes, feeds, moreFeeds = [], outputs }: ModelCase,
  { device, gpu }: CompareOptions,
): Promise<HostTensor[]> {
  const session = await Session.load(bytes.slice(), {
    device,
    worker: false,
    signal: AbortSignal.timeout(LIMIT_MS),
    ...(gpu === undefined ? {} : { gpu }),
  });
  const all: HostTensor[] = [];
  try {
    for (const given of [feeds, ...moreFeeds]) {
      const tensors = Object.entries(given).map(
        ([name, { dtype, data, shape }]) => [name, new Tensor(dtype, data.slice(), shape)] as const,
      );
      const results = await session.run(Object.fromEntries(tensors), {
        signal: AbortSignal.timeout(LIMIT_MS),
      });
      for (const name of outputs) {
        const result = results[name];
        if (result === undefined) throw new Error(`output "${name}" is missing`);
        all.push(new HostTensor(result.dtype, result.shape, result.data));
      }
    }
    return all;
  } finally {
    await session.dispose();
  }
}

function differenceOf(
  actual: HostTensor,
  expected: HostTensor,
  { nodes }: ModelCase,
): string | undefined {
  const step = Math.max(...nodes.map((node) => node.step ?? 0));
  const rtol = Math.max(1e-3, ...nodes.map((node) => node.rtol ?? 0));
  const atol = Math.max(1e-5, ...nodes.map((node) => node.atol ?? 0));
  if (step > 0 && dtypeInfo(expected.dtype).category !== 'float') {
    const asFloat = ({ dtype, data, shape }: HostTensor) => ({
      dtype,
      tensor: HostTensor.from('float64', shape, Array.from(data as ArrayLike<number>, Number)),
    });
    if (actual.dtype !== expected.dtype) return `dtype ${actual.dtype}, expected ${expected.dtype}`;
    return firstDifference(asFloat(actual).tensor, asFloat(expected).tensor, {
      rtol: 0,
      atol: step,
    });
  }
  const isHalf = expected.dtype === 'float16';
  return firstDifference(actual, expected, {
    rtol: isHalf ? rtol + 2 ** -10 : rtol,
    atol: isHalf ? atol + 2 ** -24 : atol,
  });
}

function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : String(thrown);
}
