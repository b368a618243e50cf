import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installPackages } from '../../../scripts/install-packages.ts';
import { isDType, type TypedArray } from '../../../src/core/tensor/dtype.ts';
import { HostTensor } from '../../../src/core/tensor/host-tensor.ts';
import { type GraphModel, readGraphJson, readShards } from './graph-models.ts';

const FOLDER = fileURLToPath(new URL('.', import.meta.url));

type Tensors = Readonly<Record<string, HostTensor>>;

/** A graph model in TensorFlow.js, on its backend in plain JavaScript. */
export interface PeerGraph {
  /** A dimension that the model leaves open is negative. */
  readonly inputs: readonly {
    readonly name: string;
    readonly dtype: string;
    readonly shape: readonly number[];
  }[];
  /** The outputs by the names of their nodes. */
  run(inputs: Tensors): Promise<Tensors>;
  dispose(): void;
}

interface TfTensor {
  readonly dtype: string;
  readonly shape: number[];
  data(): Promise<TypedArray>;
  dispose(): void;
}

interface TfCore {
  setBackend(name: string): Promise<boolean>;
  tensor(data: TypedArray, shape: readonly number[], dtype: string): TfTensor;
}

interface TfGraphModel {
  readonly inputs: readonly { name: string; dtype: string; shape?: readonly number[] }[];
  readonly outputNodes: readonly string[];
  executeAsync(inputs: Readonly<Record<string, TfTensor>>): Promise<TfTensor | TfTensor[]>;
  dispose(): void;
}

interface TfConverter {
  loadGraphModel(handler: { load(): Promise<object> }): Promise<TfGraphModel>;
}

/** Opens a graph model in TensorFlow.js, which is installed if it is missing. */
export async function openPeerGraph(model: GraphModel): Promise<PeerGraph> {
  const { core, converter } = await packages();
  const json = readGraphJson(model);
  const { buffer } = readShards(model, json);
  const graph = await converter.loadGraphModel({
    load: () =>
      Promise.resolve({
        ...json,
        weightSpecs: json.weightsManifest.flatMap(({ weights }) => weights),
        weightData: buffer,
      }),
  });
  return {
    inputs: graph.inputs.map(({ name, dtype, shape = [] }) => ({ name, dtype, shape })),
    async run(inputs) {
      const feeds = Object.entries(inputs).map(
        ([name, { dtype, data, shape }]) => [name, core.tensor(data, shape, dtype)] as const,
      );
      const results = [await graph.executeAsync(Object.fromEntries(feeds))].flat();
      const outputs: [string, HostTensor][] = [];
      for (const [i, name] of graph.outputNodes.entries()) {
        const result = results[i];
        if (result === undefined) throw new Error(`output ${name}: got none from TensorFlow.js`);
        outputs.push([name, await hostTensor(result)]);
      }
      for (const tensor of [...feeds.map(([, feed]) => feed), ...results]) tensor.dispose();
      return Object.fromEntries(outputs);
    },
    dispose: () => graph.dispose(),
  };
}

async function packages(): Promise<{ readonly core: TfCore; readonly converter: TfConverter }> {
  installPackages(FOLDER, '@tensorflow/tfjs-converter');
  const require = createRequire(join(FOLDER, 'package.json'));
  const core = require('@tensorflow/tfjs-core') as TfCore;
  require('@tensorflow/tfjs-backend-cpu');
  await core.setBackend('cpu');
  return { core, converter: require('@tensorflow/tfjs-converter') as TfConverter };
}

async function hostTensor(tensor: TfTensor): Promise<HostTensor> {
  const { dtype, shape } = tensor;
  if (!isDType(dtype)) throw new Error(`TensorFlow.js gives ${dtype}, expected a type of numbers`);
  return new HostTensor(dtype, shape, (await tensor.data()).slice());
}
