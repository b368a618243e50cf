import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isDType, type TypedArray } from '../../../src/core/tensor/dtype.ts';
import { HostTensor } from '../../../src/core/tensor/host-tensor.ts';
import type { ModelCase } from './node-case.ts';

const folder = dirname(dirname(fileURLToPath(import.meta.url)));
const entry = join(folder, 'node_modules/onnxruntime-web/dist/ort.node.min.js');

/** A tensor of onnxruntime. */
export interface PeerTensor {
  readonly type: string;
  readonly dims: readonly number[];
  readonly data: TypedArray;
}

/** A loaded model. */
export interface PeerSession {
  run(feeds: Readonly<Record<string, object>>): Promise<Readonly<Record<string, PeerTensor>>>;
  release(): Promise<void>;
}

/** The part of onnxruntime-web that is used here. */
export interface Peer {
  readonly env: { wasm: { numThreads: number }; logLevel: string };
  readonly InferenceSession: {
    create(model: Uint8Array, options: object): Promise<PeerSession>;
  };
  readonly Tensor: new (dtype: string, data: TypedArray, shape: readonly number[]) => PeerTensor;
}

/** Runs a model and gives its outputs in order for each of its feeds, or rejects with the reason. */
export type PeerRuntime = (model: ModelCase) => Promise<readonly HostTensor[]>;

/** The CPU runtime of onnxruntime-web on one thread, which is installed if it is missing. */
export function openPeer(): Peer {
  if (!existsSync(entry)) {
    console.log('Installing the runtime to compare with (tools/differential/package.json) …');
    execFileSync('npm', ['ci', '--ignore-scripts'], { cwd: folder, stdio: 'inherit' });
  }
  // Not `import()`: Vite would resolve the files that the runtime imports.
  const peer = createRequire(import.meta.url)(entry) as Peer;
  peer.env.wasm.numThreads = 1;
  peer.env.logLevel = 'fatal';
  return peer;
}

/** {@link openPeer}, without the rewriting of graphs. */
export function openPeerRuntime(): PeerRuntime {
  const peer = openPeer();
  return (model) => run(peer, model);
}

async function run(
  peer: Peer,
  { bytes, feeds, moreFeeds = [], outputs }: ModelCase,
): Promise<HostTensor[]> {
  const session = await peer.InferenceSession.create(bytes.slice(), {
    graphOptimizationLevel: 'disabled',
    logSeverityLevel: 4,
  });
  const all: HostTensor[] = [];
  try {
    for (const given of [feeds, ...moreFeeds]) {
      const tensors = Object.entries(given).map(
        ([name, { dtype, data, shape }]) =>
          [name, new peer.Tensor(dtype, data.slice(), shape)] as const,
      );
      const results = await session.run(Object.fromEntries(tensors));
      all.push(...outputs.map((name) => hostTensor(results[name], name)));
    }
    return all;
  } finally {
    await session.release();
  }
}

function hostTensor(tensor: PeerTensor | undefined, name: string): HostTensor {
  if (tensor === undefined || !isDType(tensor.type)) {
    throw new Error(`output "${name}" is ${tensor?.type ?? 'missing'}`);
  }
  return new HostTensor(tensor.type, tensor.dims, tensor.data.slice());
}
