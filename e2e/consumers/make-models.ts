import { readFileSync } from 'node:fs';
import { HostTensor } from '../../src/core/tensor/host-tensor.ts';
import { compileOnnx } from '../../src/frontend/index.ts';
import { COLOURS } from '../../src/tasks/testing/colours-model.ts';
import { testModelBytes } from '../../src/text/testing/open-test-model.ts';
import { writeOnnxModel } from '../../src/testing/onnx-writer.ts';
import { bias, weight } from './outcome.ts';

const ROWS = [0, 1, 2, 3];
const COLUMNS = [0, 1, 2];

/** One dense layer, as a model and as an executable: y = softmax(relu(x · W + b)), x of [1, 4]. */
export function makeModels(): ReadonlyMap<string, Uint8Array> {
  const weights = ROWS.flatMap((row) => COLUMNS.map((column) => weight(row, column)));
  const onnx = writeOnnxModel({
    nodes: [
      { op: 'MatMul', inputs: ['x', 'W'], outputs: ['product'] },
      { op: 'Add', inputs: ['product', 'b'], outputs: ['sum'] },
      { op: 'Relu', inputs: ['sum'], outputs: ['hidden'] },
      { op: 'Softmax', inputs: ['hidden'], outputs: ['y'] },
    ],
    inputs: [{ name: 'x', shape: [1, 4] }],
    outputs: ['y'],
    initializers: {
      W: HostTensor.from('float32', [4, 3], weights),
      b: HostTensor.from('float32', [3], COLUMNS.map(bias)),
    },
  });
  return new Map([
    ['dense.onnx', onnx],
    ['dense.weft', compileOnnx(onnx).toBytes()],
  ]);
}

/** A file of the stories, whose tokenizer the small language model has. */
const story = (name: string) =>
  readFileSync(new URL(`../../public/models/stories/${name}`, import.meta.url));
const json = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));
const TEMPLATE = '{% for message in messages %}{{ message.content }}\n{% endfor %}';

/** Folders of a language model of seeded weights, and of a classifier that names the colour of a picture. */
export function makeFolders(): ReadonlyMap<string, Uint8Array> {
  return new Map<string, Uint8Array>([
    ['text/onnx/model.onnx', testModelBytes()],
    ['text/config.json', story('config.json')],
    ['text/tokenizer.json', story('tokenizer.json')],
    ['text/tokenizer_config.json', story('tokenizer_config.json')],
    ['text/chat_template.jinja', new TextEncoder().encode(TEMPLATE)],
    ['colours/model.onnx', COLOURS],
    ['colours/config.json', json({ id2label: { 0: 'red', 1: 'green', 2: 'blue' } })],
    ['colours/preprocessor_config.json', json({ do_rescale: true, do_normalize: false })],
  ]);
}
