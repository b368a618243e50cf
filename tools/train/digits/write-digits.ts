import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { HostTensor } from '../../../src/core/tensor/host-tensor.ts';
import { buildDigits } from '../../models/digits.ts';
import { main as writeModels } from '../../models/main.ts';
import type { Trainer } from '../trainer.ts';
import { DIGIT_PARAMETERS } from './digit-network.ts';

const folder = fileURLToPath(new URL('../../../models/digits/', import.meta.url));

/** Writes trained parameters as models/digits/model.onnx, and what is made of that file. */
export async function writeDigits(trainer: Trainer): Promise<number> {
  const tensor = async (name: string): Promise<HostTensor> =>
    HostTensor.from('float32', DIGIT_PARAMETERS.get(name) ?? [], await trainer.read(name));
  const { onnx } = buildDigits({
    'conv1.weight': await tensor('conv1'),
    'conv1.bias': await tensor('bias1'),
    'conv2.weight': await tensor('conv2'),
    'conv2.bias': await tensor('bias2'),
    'dense.weight': await tensor('dense'),
    'dense.bias': await tensor('bias3'),
  });
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${folder}model.onnx`, onnx);
  return writeModels();
}
