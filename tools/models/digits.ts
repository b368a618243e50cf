import { HostTensor } from '../../src/core/tensor/host-tensor.ts';
import { IMAGE_SIZE } from '../../src/demo/digits/rasterize-drawing.ts';
import { sampleDigit } from '../../src/demo/digits/write-digit.ts';
import { readMessage } from '../../src/frontend/onnx/protobuf/read-message.ts';
import { tensorFromProto } from '../../src/frontend/onnx/protobuf/read-tensor.ts';
import { seededRandom } from '../../src/core/random.ts';
import { type DataSet, ModelDraft, type OwnModel } from './model-draft.ts';
import { convolution, maxPool, plus, product, relu, softmax } from './naive-layers.ts';
import { NaiveTensor } from './naive-tensor.ts';

const SEED = 31;
const DATA_SETS = 3;
const INPUT = [1, 1, IMAGE_SIZE, IMAGE_SIZE] as const;
const FEATURES = 32 * 4 * 4;

const SHAPES = {
  'conv1.weight': [16, 1, 5, 5],
  'conv1.bias': [16],
  'conv2.weight': [32, 16, 5, 5],
  'conv2.bias': [32],
  'dense.weight': [FEATURES, 10],
  'dense.bias': [10],
} as const;

/** Weights that tools/train trained. */
type DigitWeights = Readonly<Record<keyof typeof SHAPES, HostTensor>>;

/** The weights of the network as it is; training alone makes other ones. */
export function readDigitWeights(onnx: Uint8Array): DigitWeights {
  const initializers = readMessage('ModelProto', onnx).graph?.initializer ?? [];
  const weight = (name: keyof typeof SHAPES): HostTensor => {
    const found = initializers.find((proto) => proto.name === name);
    if (found === undefined) throw new Error(`models/digits/model.onnx has no ${name}.`);
    return tensorFromProto(found, name);
  };
  return {
    'conv1.weight': weight('conv1.weight'),
    'conv1.bias': weight('conv1.bias'),
    'conv2.weight': weight('conv2.weight'),
    'conv2.bias': weight('conv2.bias'),
    'dense.weight': weight('dense.weight'),
    'dense.bias': weight('dense.bias'),
  };
}

/** Two convolutions, each with a pooling, and a dense layer: `image` to `probabilities` [1, 10]. */
export function buildDigits(weights: DigitWeights): OwnModel {
  const draft = new ModelDraft();
  for (const [name, tensor] of Object.entries(weights)) draft.constant(name, tensor);
  const block = (name: 'conv1' | 'conv2', x: string, pool: number): string => {
    const inputs = [x, `${name}.weight`, `${name}.bias`];
    const sums = draft.node('Conv', name, inputs, { kernel_shape: [5, 5], pads: [2, 2, 2, 2] });
    const square = { kernel_shape: [pool, pool], strides: [pool, pool] };
    return draft.node(
      'MaxPool',
      `${name}.pool`,
      [draft.node('Relu', `${name}.relu`, [sums])],
      square,
    );
  };
  const second = block('conv2', block('conv1', 'image', 2), 3);
  const flat = draft.node('Reshape', 'features', [second, draft.ints('flat', [1, FEATURES])]);
  const products = draft.node('MatMul', 'dense', [flat, 'dense.weight']);
  const scores = draft.node('Add', 'scores', [products, 'dense.bias']);
  draft.node('Softmax', 'probabilities', [scores], { axis: 1 });
  const onnx = draft.toOnnx({
    inputs: [{ name: 'image', shape: INPUT }],
    outputs: [{ name: 'probabilities', shape: [1, 10] }],
  });
  const random = seededRandom(SEED);
  return { onnx, dataSets: Array.from({ length: DATA_SETS }, () => dataSet(weights, random)) };
}

function dataSet(weights: DigitWeights, random: () => number): DataSet {
  const { image } = sampleDigit(random);
  const naive = (name: keyof typeof SHAPES): NaiveTensor => NaiveTensor.of(weights[name]);
  const pixels = new NaiveTensor([1, IMAGE_SIZE, IMAGE_SIZE], Float64Array.from(image));
  const first = convolution(pixels, [naive('conv1.weight'), naive('conv1.bias')]);
  const second = convolution(maxPool(relu(first), 2), [naive('conv2.weight'), naive('conv2.bias')]);
  const features = new NaiveTensor([1, FEATURES], maxPool(relu(second), 3).values);
  const scores = plus(product(features, naive('dense.weight')), naive('dense.bias'));
  return {
    inputs: [HostTensor.from('float32', INPUT, image)],
    outputs: [softmax(scores).toTensor()],
  };
}
