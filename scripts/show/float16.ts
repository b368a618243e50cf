import { Session, Tensor } from '../../src/client/index.ts';
import { compile } from '../../src/compiler/compile.ts';
import { parseModule } from '../../src/compiler/ir/text/parse.ts';
import {
  expectedOf,
  inputOf,
  numbersOf,
  program,
  PROGRAMS,
  relativeError,
  ROWS,
  TOLERANCE,
  WIDTH,
} from '../../src/compiler/testing/float16-programs.ts';
import { nodeGpu } from '../../src/testing/node-gpu.ts';
import { inputsOf, LAYERS, plantedModel, type Plant, PLANTS } from './float16/planted-model.ts';
import { Checks } from './text/checks.ts';

const DEVICES = ['host', 'wasm', 'webgpu'] as const;
type Kind = (typeof DEVICES)[number];

/** Of the values of a sound model so many may be named at most. */
const FALSE_SHARE = 0.05;
const SAMPLES = 4;

/**
 * `npm run show -- float16`: norms and softmax that a model spells out in float16 are right whatever their size inside; what
 * a model stores beyond float16 is named. Resolves to 0 only when all of it holds.
 */
export async function main(): Promise<number> {
  const checks = new Checks();
  checks.section(
    `Spelled out in float16, values inside above 65,504: expected is the result in doubles, within ${TOLERANCE.toFixed(4)} of its range`,
  );
  for (const device of DEVICES) await showPrograms(device, checks);
  checks.section(
    `A network of ${LAYERS} layers, in each of which one node stores what float16 does not hold: expected is the name of that node`,
  );
  for (const device of DEVICES) await showPlanted(device, checks);
  return checks.end();
}

async function open(source: Uint8Array, device: Kind): Promise<Session> {
  const gpu = device === 'webgpu' ? { gpu: await nodeGpu() } : {};
  return Session.load(source, { worker: false, device, ...gpu });
}

async function showPrograms(device: Kind, checks: Checks): Promise<void> {
  for (const [name, body, scale, meaning] of PROGRAMS) {
    const x = inputOf(scale);
    const session = await open(compile(parseModule(program(body))).toBytes(), device);
    const { result } = await session.run({ x: new Tensor('float16', x.data, [ROWS, WIDTH]) });
    const got = result instanceof Tensor ? numbersOf(result) : [];
    const error = relativeError(got, expectedOf(x, meaning));
    checks.check(
      error <= TOLERANCE,
      `${device}: ${name} of inputs up to ${scale}: ${error.toFixed(5)}`,
    );
    await session.dispose();
  }
}

async function showPlanted(device: Kind, checks: Checks): Promise<void> {
  const samples = Array.from({ length: SAMPLES }, (_, seed) => inputsOf(seed));
  const sound = await open(plantedModel(undefined), device);
  const { departure, calls, largestError } = await sound.verify(samples[0] ?? {});
  checks.check(
    departure === undefined,
    `${device}: none in the sound one, ${calls} calls compared, largest error ${largestError.toFixed(4)}`,
  );
  const { overflows, values } = await sound.overflows(samples);
  checks.check(
    overflows.length <= FALSE_SHARE * values,
    `${device}: ${overflows.length} of its ${values} values are named as near the limit`,
  );
  await sound.dispose();
  for (const plant of PLANTS) await showPlant(plant, samples, device, checks);
}

async function showPlant(
  plant: Plant,
  samples: readonly ReturnType<typeof inputsOf>[],
  device: Kind,
  checks: Checks,
): Promise<void> {
  const session = await open(plantedModel(plant), device);
  const { departure } = await session.verify(samples[0] ?? {});
  const named = `node "${plant}"`;
  const sources = departure?.sources ?? [];
  checks.check(
    sources.includes(named),
    `${device}: verify, expected ${named}: ${sources.join(', ') || 'nothing'}`,
  );
  const { overflows } = await session.overflows(samples);
  const found = overflows.findIndex((range) => range.sources.includes(named));
  checks.check(
    found >= 0,
    `${device}: overflows names it as ${found + 1} of ${overflows.length}, up to ${overflows[found]?.largest.toPrecision(3)}`,
  );
  await session.dispose();
}
