import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isDType, type TypedArray } from '../../src/core/tensor/dtype.ts';
import { HostTensor } from '../../src/core/tensor/host-tensor.ts';

const folder = dirname(fileURLToPath(import.meta.url));
const entry = join(folder, 'node_modules/onnxruntime-node');

/** An input or output. */
export type PeerValue = Pick<HostTensor, 'dtype' | 'shape' | 'data'>;

interface PeerTensor {
  readonly type: string;
  readonly dims: readonly number[];
  readonly data: TypedArray;
}

interface PeerSession {
  run(feeds: Readonly<Record<string, PeerTensor>>): Promise<Readonly<Record<string, PeerTensor>>>;
  release(): Promise<void>;
}

interface Peer {
  readonly InferenceSession: {
    create(model: Uint8Array, options: object): Promise<PeerSession>;
  };
  readonly Tensor: new (dtype: string, data: TypedArray, shape: readonly number[]) => PeerTensor;
}

/** A model in onnxruntime-node, with its optimisations. */
export interface PeerModel {
  run(inputs: Readonly<Record<string, PeerValue>>): Promise<Readonly<Record<string, HostTensor>>>;
  release(): Promise<void>;
}

/** Opens a model in onnxruntime-node on the CPU, which is installed if it is missing. */
export async function openPeerModel(bytes: Uint8Array): Promise<PeerModel> {
  if (!existsSync(entry)) {
    console.log('Installing the runtime to compare with (tools/onnxruntime/package.json) …');
    execFileSync('npm', ['ci', '--ignore-scripts'], { cwd: folder, stdio: 'inherit' });
  }
  const peer = createRequire(import.meta.url)(entry) as Peer;
  const session = await peer.InferenceSession.create(bytes, { logSeverityLevel: 3 });
  return {
    run: async (inputs) => {
      const feeds = Object.entries(inputs).map(
        ([name, { dtype, data, shape }]) => [name, new peer.Tensor(dtype, data, shape)] as const,
      );
      const results = Object.entries(await session.run(Object.fromEntries(feeds)));
      return Object.fromEntries(results.map(([name, tensor]) => [name, hostTensor(name, tensor)]));
    },
    release: () => session.release(),
  };
}

function hostTensor(name: string, { type, dims, data }: PeerTensor): HostTensor {
  if (!isDType(type)) throw new Error(`output "${name}" is ${type}`);
  return new HostTensor(type, dims, data);
}
