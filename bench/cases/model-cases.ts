import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { HostTensor } from '../../src/core/host-tensor.ts';
import { readTensorFile } from '../../src/frontend/onnx/protobuf/read-tensor.ts';
import type { CasePlan } from './bench-case.ts';
import { buildCase } from './build-case.ts';

/** Folder of each model in the order of the table, with the ratio to reach. */
const MODELS: Readonly<Record<string, number>> = {
  'squeezenet-coreml': 8,
  'ultraface-rfb-320': 8,
  'light-resnet50': 8,
  'mnist-cntk': 6,
  'bert-toy': 6,
  'gpt2-past-tiny': 6,
  'silero-vad-v6-16k-op15': 6,
};

/** The models in `folder`, each with its first data set. Those that are not there are left out. */
export function modelCases(folder: string): CasePlan[] {
  return Object.entries(MODELS)
    .filter(([name]) => existsSync(join(folder, name, 'model.onnx')))
    .map(([name, ratio]) => ({
      name,
      title: name,
      targets: { onnxruntime: ratio },
      peers: ['onnxruntime'] as const,
      isCold: true,
      build() {
        const data = join(folder, name, 'test_data_set_0');
        return buildCase(name, {
          model: readFileSync(join(folder, name, 'model.onnx')),
          inputs: readTensors(data, 'input_'),
          weights: [],
          expected: readTensors(data, 'output_'),
        });
      },
    }));
}

function readTensors(folder: string, prefix: string): HostTensor[] {
  const files = readdirSync(folder).filter((file) => file.startsWith(prefix));
  files.sort((a, b) => Number(/\d+/.exec(a)?.[0]) - Number(/\d+/.exec(b)?.[0]));
  return files.map((file) => readTensorFile(readFileSync(join(folder, file))).tensor);
}
