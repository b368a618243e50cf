import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { summarizeModel } from '../../tools/conformance/conformance-case.ts';
import { SHARE_OF_RANGE } from '../../tools/conformance/quantized-difference.ts';
import type { HostTensor } from '../../src/core/tensor/host-tensor.ts';
import { readTensorFile } from '../../src/frontend/onnx/protobuf/read-tensor.ts';
import type { BenchDevice, CasePlan, Targets } from './bench-case.ts';
import { buildCase } from './build-case.ts';
import { MODEL_TARGETS, TARGETS } from './targets.ts';

/** Those in the order of the table come first. */
const ORDER = [
  'squeezenet-coreml',
  'ultraface-rfb-320',
  'light-resnet50',
  'mnist-cntk',
  'bert-toy',
  'gpt2-past-tiny',
  'silero-vad-v6-16k-op15',
];

/** The models in `folder` that the device has targets for, each with its first data set. */
export function modelCases(folder: string, device: BenchDevice): CasePlan[] {
  if (!existsSync(folder)) return [];
  const others = readdirSync(folder).filter((name) => !ORDER.includes(name));
  return [...ORDER, ...others.toSorted()]
    .filter((name) => existsSync(join(folder, name, 'model.onnx')))
    .flatMap((name) => {
      const targets = TARGETS[device][name] ?? MODEL_TARGETS[device];
      return targets === undefined ? [] : [modelCase(folder, name, targets)];
    });
}

function modelCase(folder: string, name: string, targets: Targets): CasePlan {
  return {
    name,
    title: name,
    targets,
    peers: ['onnxruntime'],
    build() {
      const data = join(folder, name, 'test_data_set_0');
      const model = readFileSync(join(folder, name, 'model.onnx'));
      return buildCase(name, {
        model,
        inputs: readTensors(data, 'input_'),
        weights: [],
        expected: readTensors(data, 'output_'),
        ...(summarizeModel(model).isQuantized && { tolerance: SHARE_OF_RANGE }),
      });
    },
  };
}

function readTensors(folder: string, prefix: string): HostTensor[] {
  const files = readdirSync(folder).filter((file) => file.startsWith(prefix));
  files.sort((a, b) => Number(/\d+/.exec(a)?.[0]) - Number(/\d+/.exec(b)?.[0]));
  return files.map((file) => readTensorFile(readFileSync(join(folder, file))).tensor);
}
