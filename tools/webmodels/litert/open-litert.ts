import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright';
import { launchChromium } from '../../../scripts/launch-chromium.ts';
import { type PageServer, servePages } from '../../../bench/serve-pages.ts';
import type { DType } from '../../../src/core/tensor/dtype.ts';
import { HostTensor } from '../../../src/core/tensor/host-tensor.ts';
import { webPackages } from '../models.ts';
import { type PageAnswer, type PageTensor, readPhotograph, runModel } from './in-page.ts';

export type Tensors = Readonly<Record<string, HostTensor>>;

/** LiteRT.js in a page of Chromium, on wasm and one thread. */
export interface LiteRtPeer {
  /**
   * The outputs of a model for each of some inputs, by the names of its first signature. Throws where LiteRT.js refuses the model, with
   * what it wrote to the console.
   */
  run(model: Uint8Array, runs: readonly Tensors[]): Promise<readonly Tensors[]>;
  /** A photograph as (1, height, width, 3), stretched to that size, from 0 to 1. */
  photograph(file: Uint8Array, size: { width: number; height: number }): Promise<HostTensor>;
  close(): Promise<void>;
}

/** LiteRT's numbers of element types. */
const ELEMENT_TYPES: Readonly<Record<number, DType>> = {
  1: 'float32',
  2: 'int32',
  3: 'uint8',
  4: 'int64',
  6: 'bool',
  7: 'int16',
  9: 'int8',
  10: 'float16',
  11: 'float64',
  13: 'uint64',
  16: 'uint32',
  17: 'uint16',
};

/** Installs LiteRT.js if it is missing, and opens a page for it. */
export async function openLiteRt(): Promise<LiteRtPeer> {
  const server = await servePages({
    pages: fileURLToPath(new URL('page', import.meta.url)),
    peers: webPackages(),
    warm: [],
    isIsolated: false,
  });
  const browser = await launchChromium();
  const page = await browser.newPage();
  // LiteRT tells its log why it refuses a model, and the caller nothing.
  const errors: string[] = [];
  page.on('console', (line) => {
    if (line.text().startsWith('ERROR:')) errors.push(line.text());
  });
  await page.goto(`${server.origin}/index.html`);
  return {
    async run(model, runs) {
      errors.length = 0;
      const { outputs } = await answerOf({ page, server, errors }, model, runs);
      return outputs.map((byName) =>
        Object.fromEntries(
          Object.entries(byName).map(([name, tensor]) => [name, hostTensor(name, tensor)]),
        ),
      );
    },
    async photograph(file, { width, height }) {
      server.offer(new Map([['/photograph', file]]));
      const pixels = Buffer.from(await page.evaluate(readPhotograph, { width, height }), 'base64');
      const data = Float32Array.from(pixels, (value) => value / 255);
      return new HostTensor('float32', [1, height, width, 3], data);
    },
    async close() {
      await browser.close();
      server.close();
    },
  };
}

interface OpenPage {
  readonly page: Page;
  readonly server: PageServer;
  readonly errors: readonly string[];
}

async function answerOf(
  { page, server, errors }: OpenPage,
  model: Uint8Array,
  runs: readonly Tensors[],
): Promise<PageAnswer> {
  server.offer(new Map([['/model.tflite', model]]));
  const given = runs.map((inputs) =>
    Object.entries(inputs).map(([name, { bytes }]) => ({
      name,
      bytes: Buffer.from(bytes).toString('base64'),
    })),
  );
  let answer: PageAnswer | undefined;
  let thrown: unknown;
  try {
    answer = await page.evaluate(runModel, { runs: given, signature: 0 });
  } catch (error) {
    thrown = error;
    // An abort leaves the module unusable.
    await page.reload();
  }
  if (answer !== undefined && errors.length === 0) return answer;
  const said = errors.length > 0 ? errors.join('\n') : String(thrown);
  throw new Error(`LiteRT.js refuses the model: ${said}`, { cause: thrown });
}

function hostTensor(name: string, { elementType, shape, bytes }: PageTensor): HostTensor {
  const dtype = ELEMENT_TYPES[elementType];
  if (dtype === undefined) throw new Error(`output ${name}: LiteRT's element type ${elementType}`);
  return HostTensor.fromBytes(dtype, [...shape], new Uint8Array(Buffer.from(bytes, 'base64')));
}
