import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { summarizeModel } from '../../tools/conformance/conformance-case.ts';
import { SHARE_OF_RANGE } from '../../tools/conformance/quantized-difference.ts';
import type { HostTensor } from '../../src/core/tensor/host-tensor.ts';
import { readTensorFile } from '../../src/frontend/onnx/protobuf/read-tensor.ts';
import type { BenchDevice, CasePlan, DeviceTargets, Targets } from './bench-case.ts';
import { buildCase } from './build-case.ts';

/** No model may lose by private memories. */
const APART = 0.97;
const WASM = { onnxruntime: 1.3, cold: 1.3, oneThread: { apart: APART } };
const WASM_COLD = { ...WASM, cold: 3 };
const LARGE = { onnxruntime: 8, cold: 4 };
const SMALL = { onnxruntime: 6, cold: 4 };

/** Those that have targets of their own come first, in this order; all others have the last ones. */
const MODELS: Readonly<Record<string, DeviceTargets>> = {
  'squeezenet-coreml': {
    webgpu: LARGE,
    wasm: { ...WASM_COLD, oneThread: { isolated: 1.3, apart: APART } },
  },
  'ultraface-rfb-320': { webgpu: LARGE, wasm: WASM },
  'light-resnet50': { webgpu: LARGE, wasm: WASM },
  'mnist-cntk': { webgpu: SMALL, wasm: WASM_COLD },
  'bert-toy': { webgpu: SMALL, wasm: WASM_COLD },
  'gpt2-past-tiny': { webgpu: SMALL, wasm: WASM },
  'silero-vad-v6-16k-op15': { webgpu: SMALL, wasm: WASM },
};
const OTHERS: DeviceTargets = { wasm: WASM };

/** The models in `folder` that the device has targets for, each with its first data set. */
export function modelCases(folder: string, device: BenchDevice): CasePlan[] {
  if (!existsSync(folder)) return [];
  const others = readdirSync(folder).filter((name) => !(name in MODELS));
  return [...Object.keys(MODELS), ...others.toSorted()]
    .filter((name) => existsSync(join(folder, name, 'model.onnx')))
    .flatMap((name) => {
      const targets = (MODELS[name] ?? OTHERS)[device];
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
