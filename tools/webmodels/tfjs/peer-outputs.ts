import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { seededRandom } from '../../../src/core/random.ts';
import { isDType } from '../../../src/core/tensor/dtype.ts';
import { HostTensor } from '../../../src/core/tensor/host-tensor.ts';
import { elementCount } from '../../../src/core/tensor/shape.ts';
import type { GraphModel } from './graph-models.ts';
import { openPeerGraph, type PeerGraph } from './open-tfjs.ts';

const CACHE = fileURLToPath(new URL('../../../.weft-cache/webmodels/tfjs', import.meta.url));

/** Of a dimension that a model leaves open, other than the first. */
const OPEN_SIZE = 192;

type Tensors = Readonly<Record<string, HostTensor>>;

/** What a graph model is run on, and what TensorFlow.js gives for it. */
export interface PeerRun {
  readonly inputs: Tensors;
  readonly outputs: Tensors;
}

/** The run of a model in TensorFlow.js, from the cache where it is there: some take a minute. */
export async function peerRun(model: GraphModel): Promise<PeerRun> {
  const file = join(CACHE, `${model.name}.json`);
  if (existsSync(file)) return parse(readFileSync(file, 'utf8'));
  const graph = await openPeerGraph(model);
  const inputs = inputsOf(graph);
  const outputs = await graph.run(inputs);
  graph.dispose();
  mkdirSync(CACHE, { recursive: true });
  writeFileSync(file, JSON.stringify({ inputs: stored(inputs), outputs: stored(outputs) }));
  return { inputs, outputs };
}

/** Pictures with areas and noise, from 0 to 1, or to 255 for integers; the state of a video that begins, and its scale. */
function inputsOf({ inputs }: PeerGraph): Tensors {
  const tensors = inputs.map(({ name, dtype, shape }) => {
    if (!isDType(dtype)) throw new Error(`input ${name}: got ${dtype}, expected numbers`);
    if (/^r\di$/.test(name)) return [name, HostTensor.zeros(dtype, [1, 1, 1, 1])] as const;
    if (shape.length === 0) return [name, HostTensor.from(dtype, [], [1])] as const;
    const sizes = shape.map((dim, axis) => (dim > 0 ? dim : axis === 0 ? 1 : OPEN_SIZE));
    const random = seededRandom(elementCount(sizes));
    const most = dtype === 'int32' ? 255 : 1;
    const values = Array.from({ length: elementCount(sizes) }, (_, i) => {
      const value = most * (0.5 + 0.4 * Math.sin(i / 50) + 0.1 * random());
      return dtype === 'int32' ? Math.round(value) : value;
    });
    return [name, HostTensor.from(dtype, sizes, values)] as const;
  });
  return Object.fromEntries(tensors);
}

type Stored = Readonly<Record<string, { dtype: string; shape: number[]; bytes: string }>>;

const stored = (tensors: Tensors): Stored =>
  Object.fromEntries(
    Object.entries(tensors).map(([name, { dtype, shape, bytes }]) => [
      name,
      { dtype, shape: [...shape], bytes: Buffer.from(bytes).toString('base64') },
    ]),
  );

function parse(text: string): PeerRun {
  const { inputs, outputs } = JSON.parse(text) as { inputs: Stored; outputs: Stored };
  return { inputs: restored(inputs), outputs: restored(outputs) };
}

const restored = (tensors: Stored): Tensors =>
  Object.fromEntries(
    Object.entries(tensors).map(([name, { dtype, shape, bytes }]) => {
      if (!isDType(dtype)) throw new Error(`internal: a tensor of ${dtype} was stored`);
      const data = new Uint8Array(Buffer.from(bytes, 'base64'));
      return [name, HostTensor.fromBytes(dtype, shape, data)];
    }),
  );
