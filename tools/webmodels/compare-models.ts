import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Session, Tensor } from '../../src/client/index.ts';
import { nodeGpu } from '../../src/testing/node-gpu.ts';
import { relativeError } from '../real-models/compare-outputs.ts';
import type { Checks } from '../show/checks.ts';
import { openLiteRt } from './litert/open-litert.ts';
import { readWebModel, WEB_MODELS, type WebModel, webPackages } from './models.ts';

/** In float32, for sums in another order: the largest error of an output, relative to its range. */
const TOLERANCE = 1e-4;
const DEVICES = ['host', 'wasm', 'webgpu'] as const;
/** For one submit on a software adapter that shares its cores. */
const DEVICE_TIMEOUT_MS = 300_000;

/** Photographs of people, whose faces, hands and bodies the models look for. */
const PHOTOGRAPHS = ['sample1.jpg', 'sample4.jpg'];

/** Each TensorFlow Lite model on photographs, beside LiteRT.js. */
export async function showModels(checks: Checks, words: readonly string[]): Promise<void> {
  checks.section(
    `TensorFlow Lite models on ${PHOTOGRAPHS.length} photographs: errors relative to the range of each output, at most ${TOLERANCE}`,
  );
  const gpu = await nodeGpu();
  const peer = await openLiteRt();
  const named = words.filter((word) => !(DEVICES as readonly string[]).includes(word));
  const devices = DEVICES.filter(
    (device) => words.length === named.length || words.includes(device),
  );
  try {
    for (const model of WEB_MODELS) {
      if (named.length > 0 && !named.includes(model.name)) continue;
      for (const device of devices) {
        try {
          const { text, isGood } = await compareOne(model, { device, peer, gpu });
          checks.check(
            isGood,
            `${model.name} (${model.pack}, ${model.license}) on ${device}: ${text}`,
          );
        } catch (error) {
          checks.check(false, `${model.name} on ${device}: ${String(error)}`);
        }
      }
    }
  } finally {
    await peer.close();
  }
}

interface Options {
  readonly device: (typeof DEVICES)[number];
  readonly peer: Awaited<ReturnType<typeof openLiteRt>>;
  readonly gpu: GPU;
}

async function compareOne(model: WebModel, { device, peer, gpu }: Options) {
  const bytes = readWebModel(model);
  const own = { gpu, deviceTimeout: DEVICE_TIMEOUT_MS };
  const session = await Session.load(bytes.slice(), {
    worker: false,
    device,
    ...(device === 'webgpu' ? own : {}),
  });
  try {
    const [input] = session.inputs;
    if (input === undefined) throw new Error('got no input');
    const [, height = 1, width = 1] = input.shape.map(Number);
    const errors: number[] = [];
    for (const photograph of PHOTOGRAPHS) {
      const file = readFileSync(join(webPackages(), '@vladmandic/face-api/demo', photograph));
      const given = await peer.photograph(file, { width, height });
      const outputs = await session.run({
        [input.name]: new Tensor('float32', given.data.slice(), given.shape),
      });
      if (model.isUnresolved === true) {
        const values = Object.values(outputs).flatMap(({ data }) => Array.from(data, Number));
        errors.push(values.every(Number.isFinite) ? 0 : Infinity);
        continue;
      }
      const [expected = {}] = await peer.run(bytes, [{ [input.name]: given }]);
      for (const [name, output] of Object.entries(expected)) {
        const got = outputs[name];
        if (got === undefined) throw new Error(`got no output ${name}`);
        errors.push(relativeError(got, output, name));
      }
    }
    const error = Math.max(...errors);
    const elsewhere = session.placements.length;
    const said =
      model.isUnresolved === true
        ? 'outputs are finite; LiteRT.js lacks its operators'
        : `error ${error.toExponential(1)}`;
    const placed = elsewhere === 0 ? '' : `, ${elsewhere} operators on another device`;
    return { isGood: error <= TOLERANCE, text: `${said}${placed}` };
  } finally {
    await session.dispose();
  }
}
