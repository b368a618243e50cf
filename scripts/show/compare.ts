import { Session, Tensor } from '../../src/client/index.ts';
import { elementCount } from '../../src/core/tensor/element-count.ts';
import { brokenGpu } from '../../src/testing/broken-gpu.ts';
import { nodeGpu } from '../../src/testing/node-gpu.ts';
import { CLASSES, FUSED_MODEL, FUSED_NODES, INPUT_SHAPE, MODEL } from './compare/classes-model.ts';
import { Checks } from './text/checks.ts';

const x = new Tensor(
  'float32',
  Float32Array.from({ length: elementCount(INPUT_SHAPE) }, (_, i) => Math.sin(i)),
  INPUT_SHAPE,
);

/** The label of the fused kernel: that of its last operator. */
const LAST = 'sin';

/** Classes whose node is one kernel. */
const BY_NAME: ReadonlySet<string> = new Set([
  'convolution',
  'pooling',
  'matrix product',
  'softmax',
]);

/**
 * `npm run show -- compare`: one kernel of each class is made wrong, by a twentieth in every seventh element, and
 * `Session.compare` names its node; beside another device, another session and values from a file. Resolves to 0 only when all of it holds.
 */
export async function main(): Promise<number> {
  const checks = new Checks();
  checks.section('As it is: expected is that nothing departs from the host, nor from wasm');
  const sound = await Session.load(MODEL, {
    worker: false,
    device: 'webgpu',
    gpu: await nodeGpu(),
  });
  for (const against of ['host', 'wasm'] as const) {
    const { departure, calls, largestError } = await sound.compare({ x }, { against });
    const error = largestError.toExponential(1);
    checks.check(
      departure === undefined,
      `against ${against}: ${calls} calls, largest error ${error}`,
    );
  }
  await sound.dispose();
  checks.section(`One kernel of each of ${CLASSES.length} classes wrong: expected is its node`);
  for (const { title, label, node } of CLASSES) {
    const { gpu, broken } = brokenGpu(await nodeGpu(), (name) => name.startsWith(label));
    const session = await Session.load(MODEL, { worker: false, device: 'webgpu', gpu });
    const { departure } = await session.compare({ x });
    const sources = departure?.sources ?? [];
    const isNamed = broken.size > 0 && departure?.nans === 0 && sources.join() === `node "${node}"`;
    const got =
      departure === undefined
        ? 'nothing departs'
        : `${sources.join(', ')}, ${departure.got} for ${departure.expected}`;
    checks.check(isNamed, `${title}, wrong in ${[...broken].join(', ') || 'no shader'}: ${got}`);
    await session.dispose();
  }
  checks.section('A fused kernel of four operators, one of them wrong: expected is its node');
  for (const [operator, node] of FUSED_NODES) {
    const isBroken = (name: string): boolean => name.startsWith(operator) || name === LAST;
    const { gpu } = brokenGpu(await nodeGpu(), isBroken);
    const session = await Session.load(FUSED_MODEL, { worker: false, device: 'webgpu', gpu });
    const { departure } = await session.compare({ x });
    const { sources = [], unfused } = departure ?? {};
    checks.check(
      sources.length === FUSED_NODES.length && unfused?.source === `node "${node}"`,
      `wrong ${operator}: ${sources.join(', ')}; without fusion ${unfused?.source ?? 'none'}`,
    );
    await session.dispose();
  }
  checks.section('Another session, and its values as a file has them: expected is the same node');
  const right = await Session.load(MODEL, { worker: false, device: 'wasm' });
  const values = Object.fromEntries(
    (await right.trace({ x })).map(({ name, tensor }) => [name, tensor]),
  );
  for (const { title, label, node } of CLASSES.filter(({ title: name }) => BY_NAME.has(name))) {
    const { gpu } = brokenGpu(await nodeGpu(), (name) => name.startsWith(label));
    const session = await Session.load(MODEL, { worker: false, device: 'webgpu', gpu });
    for (const against of [right, values]) {
      const { departure } = await session.compare({ x }, { against });
      checks.check(
        departure?.sources.at(-1) === `node "${node}"`,
        `${title}, by ${against === right ? 'a session' : 'values'}: ${departure?.value ?? 'nothing departs'}`,
      );
    }
    await session.dispose();
  }
  await right.dispose();
  return checks.end();
}
