import type { RpcDevicePage } from '../../e2e/pages/rpc-device.ts';
import type { Executable } from '../../src/bytecode/index.ts';
import { startRelay } from '../../src/cli/rpc/start-relay.ts';
import { Session, Tensor } from '../../src/client/index.ts';
import { compile, parseModule } from '../../src/frontend/index.ts';
import {
  connect,
  createToken,
  deriveRelayToken,
  findDevice,
  HostTensor,
} from '../../src/rpc/index.ts';
import { firstDifference } from '../../src/core/tensor/all-close.ts';
import { seededRandom } from '../../src/core/random.ts';
import { openPages, type Pages } from '../open-pages.ts';

const SAMPLES = 20;
const FEATURES = 64;
const CLASSES = 10;

/** One layer with softmax; the expected outputs are computed here, in double precision. */
const PROGRAM = `def @main(%x: Tensor[(n, ${FEATURES}), float32], %w: Tensor[(${FEATURES}, ${CLASSES}), float32]) {
  softmax(relu(matmul(%x, %w)), axis=1)
}`;

interface Sample {
  readonly x: HostTensor;
  readonly w: HostTensor;
  readonly expected: HostTensor;
}

/** A model compiled here runs in two pages, on WebGPU and on the host, and gives what it should. */
export async function main(): Promise<number> {
  const token = createToken();
  const relay = await startRelay({ port: 0, relayToken: await deriveRelayToken(token) });
  const pages = await openPages({ only: ['e2e/pages/rpc-device.html'] });
  try {
    const program = compile(parseModule(PROGRAM));
    const samples = makeSamples();
    let failures = 0;
    for (const kind of ['webgpu', 'host'] as const) {
      await lend(pages, { url: relay.url, key: kind, token, kind });
      failures += await check(program, samples, { url: relay.url, token, kind });
    }
    console.log(failures === 0 ? 'all as expected' : `${failures} differ`);
    return failures === 0 ? 0 : 1;
  } finally {
    await pages.close();
    await relay.close();
  }
}

interface Lending {
  readonly url: string;
  readonly token: string;
  readonly kind: 'webgpu' | 'host';
}

async function lend(pages: Pages, request: Lending & { readonly key: string }): Promise<void> {
  const page = await pages.open('e2e/pages/rpc-device.html');
  await page.evaluate(
    (asked) => (globalThis as unknown as { weftRpc: RpcDevicePage }).weftRpc.lend(asked),
    request,
  );
}

type Classify = (x: HostTensor, w: HostTensor) => Promise<unknown>;

/** How many results differ: of the function of a module, and of a session. */
async function check(
  program: Executable,
  samples: readonly Sample[],
  { url, token, kind }: Lending,
): Promise<number> {
  const remote = await connect(url, { token, key: kind, name: 'show' });
  const device = findDevice(remote, kind);
  const module = await remote.load(program, { device });
  const run = await module.getFunction('main');
  const session = await Session.load(program.toBytes(), { remote, device: kind });
  const differing =
    (await countDiffering(`${kind}, module`, run, samples)) +
    (await countDiffering(`${kind}, session`, runnerOf(session), samples));
  const [first] = samples;
  if (first === undefined) throw new Error('internal: no samples');
  const time = await remote.timeEvaluator(run, { number: 10, repeat: 5 })(first.x, first.w);
  const count = 2 * samples.length;
  console.log(
    `${remote.name}, ${session.device.name}: ${count - differing} of ${count} as expected, ` +
      `${time.median.toFixed(3)} ms a run (mean ${time.mean.toFixed(3)}, deviation ${time.standardDeviation.toFixed(3)})`,
  );
  await session.dispose();
  remote.close();
  return differing;
}

function runnerOf(session: Session): Classify {
  const toTensor = ({ dtype, data, shape }: HostTensor) => new Tensor(dtype, data, shape);
  return async (x, w) => {
    const [result] = Object.values(await session.run({ x: toTensor(x), w: toTensor(w) }));
    return result && new HostTensor(result.dtype, result.shape, result.data);
  };
}

async function countDiffering(
  name: string,
  classify: Classify,
  samples: readonly Sample[],
): Promise<number> {
  let count = 0;
  for (const { x, w, expected } of samples) {
    const actual = await classify(x, w);
    const difference =
      actual instanceof HostTensor
        ? firstDifference(actual, expected, { rtol: 1e-4, atol: 1e-5 })
        : 'no tensor';
    if (difference === undefined) continue;
    count++;
    console.error(`${name}: ${difference}`);
  }
  return count;
}

function makeSamples(): Sample[] {
  const random = seededRandom(7);
  const fill = (shape: readonly number[]): HostTensor => {
    const count = shape.reduce((product, dim) => product * dim, 1);
    return HostTensor.from(
      'float32',
      shape,
      Array.from({ length: count }, () => random() - 0.5),
    );
  };
  const w = fill([FEATURES, CLASSES]);
  return Array.from({ length: SAMPLES }, (_, i) => {
    const x = fill([(i % 5) + 1, FEATURES]);
    return { x, w, expected: classify(x, w) };
  });
}

function classify(x: HostTensor, w: HostTensor): HostTensor {
  const [rows = 0] = x.shape;
  const [a, b] = [Array.from(x.data, Number), Array.from(w.data, Number)];
  const result: number[] = [];
  for (let row = 0; row < rows; row++) {
    const scores = Array.from({ length: CLASSES }, (_, column) => {
      let sum = 0;
      for (let k = 0; k < FEATURES; k++) {
        sum += (a[row * FEATURES + k] ?? 0) * (b[k * CLASSES + column] ?? 0);
      }
      return Math.exp(Math.max(sum, 0));
    });
    const total = scores.reduce((sum, score) => sum + score, 0);
    result.push(...scores.map((score) => score / total));
  }
  return HostTensor.from('float32', [rows, CLASSES], result);
}
