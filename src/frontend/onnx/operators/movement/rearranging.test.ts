import { expect, test } from 'vitest';
import { FormatError } from '../../../../core/errors.ts';
import { createHostDevice } from '../../../../device/host/host-device.ts';
import { HostTensor } from '../../../../core/tensor/host-tensor.ts';
import { TensorValue } from '../../../../runtime/values/value.ts';
import { VirtualMachine } from '../../../../runtime/virtual-machine.ts';
import { type OnnxModelSpec, writeOnnxModel } from '../../../../testing/onnx-writer.ts';
import { compileOnnx } from '../../compile-onnx.ts';

async function run(spec: OnnxModelSpec, ...inputs: HostTensor[]): Promise<HostTensor> {
  const vm = await VirtualMachine.create(compileOnnx(writeOnnxModel(spec)), {
    devices: [createHostDevice()],
  });
  const result = await vm.get('main')(...inputs.map((input) => vm.tensor(input)));
  if (!(result instanceof TensorValue)) throw new Error('no tensor');
  const [tensor] = await vm.read([result]);
  if (tensor === undefined) throw new Error('nothing was read');
  return tensor;
}

const numbers = ({ data }: HostTensor) => Array.from(data, Number);

test.each([
  [0, [1, 0, 0, 0, 1, 0]],
  [1, [0, 1, 0, 0, 0, 1]],
  [-1, [0, 0, 0, 1, 0, 0]],
  [9, [0, 0, 0, 0, 0, 0]],
])('EyeLike with the diagonal %i', async (k, expected) => {
  const node = { op: 'EyeLike', inputs: ['x'], outputs: ['y'], attributes: { k, dtype: 6 } };
  const spec = { inputs: [{ name: 'x', shape: ['n', 3] }], nodes: [node], outputs: ['y'] };
  const y = await run(spec, HostTensor.zeros('float32', [2, 3]));
  expect(y.dtype).toBe('int32');
  expect(numbers(y)).toEqual(expected);
});

/** As ONNX has it: places of blocks from the outside in, elements of blocks that fall outside dropped. */
function col2Im(columns: readonly number[], channels: number): number[] {
  const [height, width, rows, columnsOfBlocks] = [4, 5, 3, 3];
  const image = new Array<number>(channels * height * width).fill(0);
  for (let row = 0; row < channels * 4; row++) {
    const [channel, ky, kx] = [row >> 2, (row >> 1) & 1, row & 1];
    for (let place = 0; place < rows * columnsOfBlocks; place++) {
      const y = Math.floor(place / 3) + 2 * ky - 1;
      const x = 2 * (place % 3) + kx - 0;
      if (y < 0 || y >= height || x >= width) continue;
      const at = (channel * height + y) * width + x;
      image[at] = (image[at] ?? 0) + (columns[row * 9 + place] ?? 0);
    }
  }
  return image;
}

test.each([true, false])('Col2Im, its shapes constants: %s', async (isConstant) => {
  const shapes = {
    image: HostTensor.from('int64', [2], [4, 5]),
    block: HostTensor.from('int64', [2], [2, 2]),
  };
  const x = { name: 'x', shape: [1, 'rows', 9] };
  const asInputs = ['image', 'block'].map((name) => ({
    name,
    dtype: 'int64' as const,
    shape: [2],
  }));
  const attributes = { dilations: [2, 1], pads: [1, 0, 0, 1], strides: [1, 2] };
  const node = { op: 'Col2Im', inputs: ['x', 'image', 'block'], outputs: ['y'], attributes };
  const spec: OnnxModelSpec = {
    opset: 18,
    inputs: isConstant ? [x] : [x, ...asInputs],
    initializers: isConstant ? shapes : {},
    nodes: [node],
    outputs: ['y'],
  };
  const values = Array.from({ length: 72 }, (_, i) => i + 1);
  const columns = HostTensor.from('float32', [1, 8, 9], values);
  const y = await run(spec, columns, ...(isConstant ? [] : [shapes.image, shapes.block]));
  expect(y.shape).toEqual([1, 2, 4, 5]);
  expect(numbers(y)).toEqual(col2Im(values, 2));
});

test.each([
  [{ image: [0, 5] }, 'image sizes [0, 5]', 1],
  [{ block: [2, 0] }, 'block sizes [2, 0]', 1],
  [{ block: [2, 2 ** 40] }, 'block sizes [2, 1099511627776]', 1],
  [{ strides: [1, 0] }, 'strides [1, 0]', 1],
  [{ dilations: [1] }, 'dilations [1]', 1],
  [{ pads: [0, -1, 0, 0] }, 'leading pads [0, -1]', 0],
] as const)('Col2Im refuses %j', (changed, got, least) => {
  const {
    image = [4, 5],
    block = [2, 2],
    ...attributes
  } = changed as Readonly<Record<string, readonly number[]>>;
  const bytes = writeOnnxModel({
    opset: 18,
    inputs: [{ name: 'x', shape: [1, 8, 12] }],
    initializers: {
      image: HostTensor.from('int64', [2], image),
      block: HostTensor.from('int64', [2], block),
    },
    nodes: [{ op: 'Col2Im', inputs: ['x', 'image', 'block'], outputs: ['y'], attributes }],
    outputs: ['y'],
  });
  expect(() => compileOnnx(bytes)).toThrow(
    new FormatError(
      `node "y" (Col2Im): got ${got}, expected 2 integers from ${least} to 2147483647.`,
    ),
  );
});

test('SwiGLU gates with Swish', async () => {
  const inputs = ['a', 'b'].map((name) => ({ name, shape: [2] }));
  const node = { op: 'SwiGLU', inputs: ['a', 'b'], outputs: ['y'] };
  const spec = { opset: 28, inputs, nodes: [node], outputs: ['y'] };
  const y = await run(
    spec,
    HostTensor.from('float32', [2], [0, 1]),
    HostTensor.from('float32', [2], [5, 3]),
  );
  expect(numbers(y)[0]).toBe(0);
  expect(numbers(y)[1]).toBeCloseTo(3 / (1 + Math.exp(-1)), 6);
});
