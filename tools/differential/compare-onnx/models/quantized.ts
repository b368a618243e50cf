import { HostTensor } from '../../../../src/core/tensor/host-tensor.ts';
import type { DType } from '../../../../src/core/tensor/dtype.ts';
import { type Draw, integersBetween, reals, scalar } from '../draw.ts';
import { GraphBuilder } from '../model-builder.ts';
import { modelCase, type ModelTable } from './model-case.ts';

const small = { number: (draw: Draw) => draw.real(-0.5, 0.5) };
const steps = { number: (draw: Draw) => draw.real(0.02, 0.1) };

/** Dynamic quantisation as tools write it: products of integers, scaled, with biases. */
function dynamicProducts(draw: Draw) {
  const graph = new GraphBuilder();
  const [width, middle] = [draw.int(2, 6), draw.int(2, 6)];
  const x = graph.input('x', 'float32', ['batch', 'length', width]);
  const layer = (from: string, [rows, columns]: readonly [number, number]) => {
    const [bytes = '', scale = '', zero = ''] = graph.many('DynamicQuantizeLinear', [from], {
      outputs: 3,
    });
    const isPerColumn = draw.often(0.5);
    const dtype: DType = draw.pick(['int8', 'uint8'] as const);
    const weights = graph.constant(draw.tensor(dtype, [rows, columns]));
    const weightZero = graph.constant(
      draw.tensor(dtype, isPerColumn ? [columns] : [], integersBetween(0, 9)),
    );
    const weightScale = graph.constant(draw.tensor('float32', isPerColumn ? [columns] : [], steps));
    const product = graph.add('MatMulInteger', [bytes, weights, zero, weightZero]);
    const floats = graph.add('Cast', [product], { to: 1 });
    const scaled = graph.add('Mul', [floats, graph.add('Mul', [scale, weightScale])]);
    return graph.add('Add', [scaled, graph.constant(draw.tensor('float32', [columns], small))]);
  };
  const hidden = graph.add('Relu', [layer(x, [width, middle])]);
  const y = layer(hidden, [middle, 3]);
  const feeds = ([batch = 1, n = 1]: readonly number[]) => ({
    x: draw.tensor('float32', [batch, n, width], reals),
  });
  return modelCase(
    graph.model(13, [y, hidden]),
    [
      [1, 2],
      [3, 4],
      [2, 1],
    ].map(feeds),
    { atol: 0.6, rtol: 2e-2 },
  );
}

/** Pairs of quantisation around each operator, weights by axis in 8 or 4 bits, activations in 8 or 16. */
function quantizedPairs(draw: Draw) {
  const graph = new GraphBuilder();
  const isWide = draw.often(0.3);
  const opset = 21;
  const activation: DType = isWide
    ? draw.pick(['uint16', 'int16'] as const)
    : draw.pick(['uint8', 'int8'] as const);
  const x = graph.input('x', 'float32', ['batch', 4, 'h', 'w']);
  const pair = (from: string) => {
    const operands = [
      graph.constant(scalar('float32', isWide ? 0.0005 : 0.06)),
      graph.constant(scalar(activation, activation.startsWith('u') ? (isWide ? 30000 : 120) : 3)),
    ];
    return graph.add('DequantizeLinear', [
      graph.add('QuantizeLinear', [from, ...operands]),
      ...operands,
    ]);
  };
  const weights = (shape: readonly number[], axis: number) => {
    const dtype: DType = draw.pick(['int8', 'uint8', 'int4', 'uint4'] as const);
    const codes = dtype.endsWith('4') ? integersBetween(dtype === 'int4' ? -8 : 0, 7) : undefined;
    const sizes = [shape[axis] ?? 1];
    const zero = draw.maybe(() => draw.tensor(dtype, sizes, integersBetween(0, 5)));
    return graph.add(
      'DequantizeLinear',
      [
        graph.constant(draw.tensor(dtype, shape, codes)),
        graph.constant(
          draw.tensor(
            'float32',
            sizes,
            dtype.endsWith('4') ? steps : { number: (d) => d.real(0.001, 0.006) },
          ),
        ),
        ...(zero === undefined ? [] : [graph.constant(zero)]),
      ],
      { axis },
    );
  };
  const bias = (size: number) =>
    graph.add(
      'DequantizeLinear',
      [
        graph.constant(draw.tensor('int32', [size], integersBetween(-200, 200))),
        graph.constant(draw.tensor('float32', [size], { number: (d) => d.real(0.001, 0.003) })),
        graph.constant(HostTensor.zeros('int32', [size])),
      ],
      { axis: 0 },
    );
  const convolved = graph.add('Conv', [pair(x), weights([5, 4, 3, 3], 0), bias(5)], {
    pads: [1, 1, 1, 1],
  });
  const active = pair(graph.add('Relu', [convolved]));
  const pooled = pair(graph.add('MaxPool', [active], { kernel_shape: [2, 2], strides: [1, 1] }));
  const mean = pair(graph.add('GlobalAveragePool', [pooled]));
  const flat = graph.add('Flatten', [mean]);
  const y = pair(graph.add('Gemm', [flat, weights([3, 5], 0), bias(3)], { transB: 1 }));
  const feeds = ([n = 1, h = 3, w = 3]: readonly number[]) => ({
    x: draw.tensor('float32', [n, 4, h, w], reals),
  });
  return modelCase(
    graph.model(opset, [y, active]),
    [
      [1, 4, 4],
      [2, 3, 6],
      [1, 5, 2],
    ].map(feeds),
    { atol: isWide ? 0.003 : 0.13 },
  );
}

/** Weights in blocks of 4 bits, dequantised before a product. */
function blockedWeights(draw: Draw) {
  const graph = new GraphBuilder();
  const [blocks, columns] = [draw.int(1, 3), draw.int(1, 5)];
  const rows = 16 * blocks;
  const dtype: DType = draw.pick(['int4', 'uint4', 'uint8'] as const);
  const codes = dtype === 'int4' ? integersBetween(-8, 7) : integersBetween(0, 15);
  const isTransposed = draw.often(0.5);
  const shape = isTransposed ? [columns, rows] : [rows, columns];
  const sizes = isTransposed ? [columns, blocks] : [blocks, columns];
  const x = graph.input('x', 'float32', ['batch', 'length', rows]);
  const hasZeros = draw.often(0.6);
  const floats = graph.add(
    'DequantizeLinear',
    [
      graph.constant(draw.tensor(dtype, shape, codes)),
      graph.constant(draw.tensor('float32', sizes, steps)),
      ...(hasZeros ? [graph.constant(draw.tensor(dtype, sizes, integersBetween(0, 7)))] : []),
    ],
    { axis: isTransposed ? 1 : 0, block_size: 16 },
  );
  const weights = isTransposed ? graph.add('Transpose', [floats], { perm: [1, 0] }) : floats;
  const product = graph.add('MatMul', [x, weights]);
  const y = graph.add('Mul', [product, graph.add('Sigmoid', [product])]);
  const feeds = ([batch = 1, n = 1]: readonly number[]) => ({
    x: draw.tensor('float32', [batch, n, rows], reals),
  });
  return modelCase(
    graph.model(21, [y, product]),
    [
      [1, 3],
      [2, 1],
      [1, 7],
    ].map(feeds),
    { atol: 1e-3 },
  );
}

/** Models in the idioms of quantising tools. */
export const QUANTIZED_MODELS: ModelTable = {
  'model.blockedWeights': blockedWeights,
  'model.dynamicProducts': dynamicProducts,
  'model.quantizedPairs': quantizedPairs,
};
