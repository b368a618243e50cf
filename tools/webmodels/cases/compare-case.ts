import { Session, Tensor } from '../../../src/client/index.ts';
import { UnsupportedError } from '../../../src/core/errors.ts';
import { firstDifference } from '../../../src/core/tensor/all-close.ts';
import { HostTensor } from '../../../src/core/tensor/host-tensor.ts';
import { formatShape, sameShape } from '../../../src/core/tensor/shape.ts';
import type { LiteModelCase } from './lite-graph.ts';

export type CaseDevice = 'host' | 'wasm' | 'webgpu';

export type CaseTensors = Readonly<Record<string, HostTensor>>;

/** How a model's outputs compare with those of a peer. */
export interface CaseVerdict {
  readonly kind: 'same' | 'different' | 'refused';
  /** Where and by how much, or why it is refused. */
  readonly reason?: string;
  /** Codes of reals among the outputs, and how many of them are a step off. */
  readonly codes: number;
  readonly steps: number;
}

/** The outputs of a model in Weft. Throws what `Session` throws. */
export async function runCase(
  { bytes, feeds, outputs }: LiteModelCase,
  device: CaseDevice,
  gpu?: GPU,
): Promise<CaseTensors> {
  const session = await Session.load(bytes.slice(), {
    device,
    worker: false,
    ...(gpu === undefined ? {} : { gpu }),
  });
  try {
    const inputs = Object.entries(feeds).map(
      ([name, { dtype, data, shape }]) => [name, new Tensor(dtype, data.slice(), shape)] as const,
    );
    const results = await session.run(Object.fromEntries(inputs));
    return Object.fromEntries(
      outputs.map(({ name }) => {
        const result = results[name];
        if (result === undefined) throw new Error(`output ${name} is missing`);
        return [name, new HostTensor(result.dtype, result.shape, result.data)];
      }),
    );
  } finally {
    await session.dispose();
  }
}

/** What comes of a model on a device beside the outputs of a peer. Rejects for errors other than refusals. */
export async function judgeCase(
  model: LiteModelCase,
  expected: CaseTensors,
  { device, gpu }: { readonly device: CaseDevice; readonly gpu?: GPU },
): Promise<CaseVerdict> {
  let got: CaseTensors;
  try {
    got = await runCase(model, device, gpu);
  } catch (thrown) {
    const reason = thrown instanceof Error ? thrown.message : String(thrown);
    return {
      kind: thrown instanceof UnsupportedError ? 'refused' : 'different',
      reason,
      codes: 0,
      steps: 0,
    };
  }
  let [codes, steps] = [0, 0];
  const reasons: string[] = [];
  for (const { name, quantization } of model.outputs) {
    const [actual, wanted] = [got[name], expected[name]];
    if (actual === undefined || wanted === undefined)
      throw new Error(`internal: no output ${name}`);
    if (quantization === undefined) {
      const difference = differenceOf(model, actual, wanted);
      if (difference !== undefined) reasons.push(`${name}: ${difference}`);
      continue;
    }
    const { off, most } = codesOff(actual, wanted);
    codes += wanted.elementCount;
    steps += off;
    // A chain of operators may carry a step on.
    if (most > model.nodes.length) reasons.push(`${name}: codes are ${most} off`);
  }
  const reason = reasons.join('; ');
  return { kind: reason === '' ? 'same' : 'different', reason, codes, steps };
}

/** A graph's values are compared by the range of the outputs, since errors of large terms remain in small sums. */
function differenceOf(
  { nodes }: LiteModelCase,
  actual: HostTensor,
  expected: HostTensor,
): string | undefined {
  const own = Math.max(...nodes.map(({ atol = 1e-5 }) => atol));
  const rtol = Math.max(...nodes.map(({ rtol: given = 1e-3 }) => given));
  const finite = Array.from(expected.data as ArrayLike<number | bigint>, Number).filter(
    Number.isFinite,
  );
  const largest = finite.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  const atol = nodes.length > 1 ? Math.max(own, 1e-4 * largest) : own;
  return firstDifference(actual, expected, { rtol, atol });
}

function codesOff(
  actual: HostTensor,
  expected: HostTensor,
): { readonly off: number; readonly most: number } {
  if (actual.dtype !== expected.dtype || !sameShape(actual.shape, expected.shape)) {
    throw new Error(
      `got ${actual.dtype} ${formatShape(actual.shape)}, expected ${expected.dtype} ${formatShape(expected.shape)}`,
    );
  }
  let [off, most] = [0, 0];
  for (let i = 0; i < expected.elementCount; i++) {
    const step = Math.abs(Number(actual.data[i]) - Number(expected.data[i]));
    if (step > 0) off++;
    most = Math.max(most, step);
  }
  return { off, most };
}
