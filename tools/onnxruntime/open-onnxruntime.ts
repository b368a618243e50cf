import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isDType, type TypedArray } from '../../src/core/tensor/dtype.ts';
import { HostTensor } from '../../src/core/tensor/host-tensor.ts';

const here = fileURLToPath(new URL('.', import.meta.url));

/** What each package exports from, in the folder of its name. */
const ENTRIES = { web: 'onnxruntime-web/dist/ort.node.min.js', node: 'onnxruntime-node' } as const;

/** An input or output. */
export type PeerValue = Pick<HostTensor, 'dtype' | 'shape' | 'data'>;

/** A tensor of onnxruntime. */
interface PeerTensor {
  readonly type: string;
  readonly dims: readonly number[];
  readonly data: TypedArray;
}

/** A loaded model. */
interface PeerSession {
  run(feeds: Readonly<Record<string, PeerTensor>>): Promise<Readonly<Record<string, PeerTensor>>>;
  release(): Promise<void>;
}

/** The part of either package that is used here. */
export interface Peer {
  readonly env: { readonly wasm: { numThreads: number }; logLevel: string };
  readonly InferenceSession: {
    create(model: Uint8Array, options: object): Promise<PeerSession>;
  };
  readonly Tensor: new (dtype: string, data: TypedArray, shape: readonly number[]) => PeerTensor;
}

/** A model in onnxruntime, by values of Weft. */
export interface PeerModel {
  run(inputs: Readonly<Record<string, PeerValue>>): Promise<Readonly<Record<string, HostTensor>>>;
  release(): Promise<void>;
}

/** The CPU runtime of onnxruntime-web on one thread, or onnxruntime-node, which is installed if it is missing. */
export function openOnnxRuntime(kind: keyof typeof ENTRIES): Peer {
  const folder = join(here, kind);
  const entry = join(folder, 'node_modules', ENTRIES[kind]);
  if (!existsSync(entry)) {
    console.log(
      `Installing the runtime to compare with (tools/onnxruntime/${kind}/package.json) …`,
    );
    execFileSync('npm', ['ci', '--ignore-scripts'], { cwd: folder, stdio: 'inherit' });
  }
  // Not `import()`: Vite would resolve the files that the runtime imports.
  const peer = createRequire(import.meta.url)(entry) as Peer;
  if (kind === 'web') {
    peer.env.wasm.numThreads = 1;
    peer.env.logLevel = 'fatal';
  }
  return peer;
}

/** Opens a model in a runtime; by default onnxruntime-node with its optimisations. */
export async function openPeerModel(
  bytes: Uint8Array,
  peer = openOnnxRuntime('node'),
  options: object = { logSeverityLevel: 3 },
): Promise<PeerModel> {
  const session = await peer.InferenceSession.create(bytes, options);
  return {
    run: async (inputs) => {
      const feeds = Object.entries(inputs).map(
        ([name, { dtype, data, shape }]) =>
          [name, new peer.Tensor(dtype, data.slice(), shape)] as const,
      );
      const results = Object.entries(await session.run(Object.fromEntries(feeds)));
      return Object.fromEntries(results.map(([name, tensor]) => [name, hostTensor(name, tensor)]));
    },
    release: () => session.release(),
  };
}

function hostTensor(name: string, { type, dims, data }: PeerTensor): HostTensor {
  if (!isDType(type)) throw new Error(`output "${name}" is ${type}`);
  return new HostTensor(type, dims, data.slice());
}
