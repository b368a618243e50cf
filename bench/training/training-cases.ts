import { compile } from '../../src/compiler/compile.ts';
import type { HostTensor } from '../../src/core/tensor/host-tensor.ts';
import { gradOnnx } from '../../src/frontend/training/grad-onnx.ts';
import { digits, mlp, type TrainingModel, transformer } from './training-models.ts';

/** Training steps that the peers are compared in. */
export const TRAINING_CASES = ['train-mlp', 'train-digits', 'train-transformer'] as const;
export type TrainingCaseName = (typeof TRAINING_CASES)[number];

/** Tensors of floats as the page gets them. */
interface TrainingTensor {
  readonly shape: readonly number[];
  readonly url: string;
}

/** A case as the page gets it. */
export interface TrainingCase {
  readonly name: TrainingCaseName;
  /** Address of the executable, with the names of its state. */
  readonly executable: string;
  readonly state: readonly string[];
  readonly parameters: Readonly<Record<string, TrainingTensor>>;
  readonly x: TrainingTensor;
  readonly targets: TrainingTensor;
}

/** The learning rate of Adam, in all runtimes. */
export const RATE = 1e-3;

const MODELS: Readonly<Record<TrainingCaseName, () => TrainingModel>> = {
  'train-mlp': mlp,
  'train-digits': digits,
  'train-transformer': transformer,
};

interface BuiltTraining {
  readonly trainingCase: TrainingCase;
  readonly files: ReadonlyMap<string, Uint8Array>;
}

/** A case with the bytes behind its addresses. */
export function buildTraining(name: TrainingCaseName): BuiltTraining {
  const { onnx, parameters, x, targets } = MODELS[name]();
  const { module, state } = gradOnnx(onnx, {
    wrt: Object.keys(parameters),
    loss: { name: 'cross_entropy' },
    targets: 'float32',
    optimizer: { name: 'adam' },
    rate: RATE,
  });
  const files = new Map<string, Uint8Array>();
  const place = (file: string, bytes: Uint8Array): string => {
    const url = `/training/${name}/${file}`;
    files.set(url, bytes);
    return url;
  };
  const placed = (file: string, { shape, bytes }: HostTensor): TrainingTensor => ({
    shape,
    url: place(`${file}.bin`, bytes),
  });
  const executable = place('train.weft', compile(module).toBytes());
  const entries = Object.entries(parameters).map(([key, tensor]) => [key, placed(key, tensor)]);
  return {
    trainingCase: {
      name,
      executable,
      state,
      parameters: Object.fromEntries(entries),
      x: placed('x', x),
      targets: placed('targets', targets),
    },
    files,
  };
}
