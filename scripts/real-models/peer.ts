import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { ModelInputs } from './model-inputs.ts';

/** An output of a run. */
export interface PeerOutput {
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly data: ArrayLike<number | bigint>;
}

/** A model in onnxruntime-node. */
export interface Peer {
  /** The outputs by name. */
  run(inputs: ModelInputs): Promise<{ readonly outputs: ReadonlyMap<string, PeerOutput> }>;
  close(): Promise<void>;
}

interface PeerTensor {
  readonly type: string;
  readonly dims: readonly number[];
  readonly data: ArrayLike<number | bigint>;
}

interface PeerModule {
  readonly Tensor: new (
    type: string,
    data: ArrayLike<number | bigint>,
    dims: readonly number[],
  ) => PeerTensor;
  readonly InferenceSession: {
    create(
      bytes: Uint8Array,
      options: { readonly logSeverityLevel: number },
    ): Promise<{
      run(feeds: Readonly<Record<string, PeerTensor>>): Promise<Record<string, PeerTensor>>;
      release(): Promise<void>;
    }>;
  };
}

const ERRORS_ONLY = 3;

/** Opens a model in the onnxruntime-node that is installed in `folder`. */
export async function openPeer(folder: string, model: Uint8Array): Promise<Peer> {
  const require = createRequire(join(folder, 'package.json'));
  const peer = require('onnxruntime-node') as PeerModule;
  const session = await peer.InferenceSession.create(model, { logSeverityLevel: ERRORS_ONLY });
  return {
    async run(inputs) {
      const feeds = Object.fromEntries(
        Object.entries(inputs).map(([name, { dtype, data, shape }]) => [
          name,
          new peer.Tensor(dtype, data, shape),
        ]),
      );
      const results = Object.entries(await session.run(feeds));
      const outputs = results.map(
        ([name, { type, dims, data }]) => [name, { dtype: type, shape: dims, data }] as const,
      );
      return { outputs: new Map(outputs) };
    },
    close: () => session.release(),
  };
}
