import type { HostTensor } from '../../../src/core/tensor/host-tensor.ts';
import { openOnnxRuntime, openPeerModel } from '../../onnxruntime/open-onnxruntime.ts';
import type { ModelCase } from './node-case.ts';

/** Runs a model and gives its outputs in order for each of its feeds, or rejects with the reason. */
export type PeerRuntime = (model: ModelCase) => Promise<readonly HostTensor[]>;

/** onnxruntime-web without the rewriting of graphs. */
export function openPeerRuntime(): PeerRuntime {
  const peer = openOnnxRuntime('web');
  const options = { graphOptimizationLevel: 'disabled', logSeverityLevel: 4 };
  return async ({ bytes, feeds, moreFeeds = [], outputs }) => {
    const model = await openPeerModel(bytes.slice(), peer, options);
    const all: HostTensor[] = [];
    try {
      for (const given of [feeds, ...moreFeeds]) {
        const results = await model.run(given);
        for (const name of outputs) {
          const result = results[name];
          if (result === undefined) throw new Error(`output "${name}" is missing`);
          all.push(result);
        }
      }
      return all;
    } finally {
      await model.release();
    }
  };
}
