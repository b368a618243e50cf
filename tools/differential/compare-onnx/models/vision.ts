import { HostTensor } from '../../../../src/core/tensor/host-tensor.ts';
import { type Draw, ints, quarters, reals, scalar } from '../draw.ts';
import { GraphBuilder } from '../model-builder.ts';
import { modelCase, type ModelTable } from './model-case.ts';

const small = { number: (draw: Draw) => draw.real(-0.5, 0.5) };
const positive = { number: (draw: Draw) => draw.real(0.2, 2) };

function constant(graph: GraphBuilder, draw: Draw, shape: readonly number[], elements = small) {
  return graph.constant(draw.tensor('float32', shape, elements));
}

function batchNorm(graph: GraphBuilder, draw: Draw, x: string, channels: number): string {
  const vectors = [reals, reals, reals, positive].map((elements) =>
    constant(graph, draw, [channels], elements),
  );
  return graph.add('BatchNormalization', [x, ...vectors], { epsilon: { float: 1e-3 } });
}

/** Images with channels last around convolutions with channels first, padded and enlarged. */
function channelsLast(draw: Draw) {
  const graph = new GraphBuilder();
  const opset = 13;
  const x = graph.input('x', 'float32', ['batch', 'height', 'width', 3]);
  const first = graph.add('Transpose', [x], { perm: [0, 3, 1, 2] });
  const stride = draw.int(1, 2);
  const size = draw.int(1, 3);
  let y = graph.add('Conv', [first, constant(graph, draw, [4, 3, size, size])], {
    auto_pad: size >= stride ? draw.pick(['SAME_UPPER', 'SAME_LOWER', 'VALID']) : 'VALID',
    strides: [stride, stride],
    kernel_shape: [size, size],
  });
  y = batchNorm(graph, draw, y, 4);
  y = graph.add('Clip', [y, graph.float(0), graph.float(6)]);
  const depthwise = constant(graph, draw, [4, 1, 3, 3]);
  y = graph.add('Conv', [y, depthwise, constant(graph, draw, [4])], {
    auto_pad: 'SAME_UPPER',
    group: 4,
    strides: [1, 1],
    dilations: [1, 1],
    kernel_shape: [3, 3],
  });
  const gate = graph.add('Sigmoid', [
    graph.add('Conv', [
      graph.add('ReduceMean', [y], { axes: [2, 3], keepdims: 1 }),
      constant(graph, draw, [4, 4, 1, 1]),
    ]),
  ]);
  y = graph.add('Mul', [y, gate]);
  const last = graph.add('Transpose', [y], { perm: [0, 2, 3, 1] });
  const biased = graph.add('Add', [last, constant(graph, draw, [4])]);
  const back = graph.add('Transpose', [biased], { perm: [0, 3, 1, 2] });
  const shape = graph.add('Shape', [x]);
  const sizes = graph.add('Slice', [shape, graph.ints(1), graph.ints(3)]);
  const wanted = graph.add(
    'Concat',
    [graph.add('Slice', [graph.add('Shape', [back]), graph.ints(0), graph.ints(2)]), sizes],
    { axis: 0 },
  );
  const mode = draw.pick(['nearest', 'linear']);
  const resized = graph.add('Resize', [back, '', '', wanted], {
    mode,
    coordinate_transformation_mode: draw.pick(
      mode === 'nearest'
        ? ['asymmetric', 'half_pixel']
        : ['half_pixel', 'align_corners', 'asymmetric', 'pytorch_half_pixel'],
    ),
    nearest_mode: mode === 'nearest' ? draw.pick(['floor', 'round_prefer_floor']) : undefined,
  });
  const result = graph.add(
    'Concat',
    [graph.add('Transpose', [resized], { perm: [0, 2, 3, 1] }), x],
    {
      axis: -1,
    },
  );
  const feeds = ([n = 1, h = 4, w = 4]: readonly number[]) => ({
    x: draw.tensor('float32', [n, h, w, 3], quarters),
  });
  return modelCase(
    graph.model(opset, [result, gate]),
    [
      [1, 6, 6],
      [2, 5, 8],
      [1, 9, 4],
      [3, 6, 6],
    ].map(feeds),
    { atol: 1e-3, rtol: 1e-3 },
  );
}

/** A pyramid whose levels meet by sizes of each other, cropped by Slice where they are odd. */
function pyramid(draw: Draw) {
  const graph = new GraphBuilder();
  const x = graph.input('x', 'float32', ['n', 2, 'h', 'w']);
  const down = (from: string, channels: readonly [number, number]) => {
    const convolved = graph.add(
      'Conv',
      [from, constant(graph, draw, [channels[1], channels[0], 3, 3])],
      {
        pads: [1, 1, 1, 1],
        strides: [2, 2],
      },
    );
    return graph.add('LeakyRelu', [convolved], { alpha: { float: 0.1 } });
  };
  const a = down(x, [2, 3]);
  const b = down(a, [3, 4]);
  const pooled = graph.add('MaxPool', [b], {
    kernel_shape: [3, 3],
    strides: [1, 1],
    pads: [1, 1, 1, 1],
  });
  const up = draw.often(0.5)
    ? graph.add('ConvTranspose', [pooled, constant(graph, draw, [4, 3, 2, 2])], { strides: [2, 2] })
    : graph.add('Conv', [
        graph.add(
          'Resize',
          [pooled, '', graph.constant(HostTensor.from('float32', [4], [1, 1, 2, 2]))],
          {
            mode: 'nearest',
            coordinate_transformation_mode: 'asymmetric',
            nearest_mode: 'floor',
          },
        ),
        constant(graph, draw, [3, 4, 1, 1]),
      ]);
  const like = graph.add('Shape', [a]);
  const ends = graph.add('Slice', [like, graph.ints(2), graph.ints(4)]);
  const cropped = graph.add('Slice', [up, graph.ints(0, 0), ends, graph.ints(2, 3)]);
  const joined = graph.add('Concat', [cropped, a], { axis: 1 });
  const scores = graph.add('Conv', [
    joined,
    constant(graph, draw, [2, 6, 1, 1]),
    constant(graph, draw, [2]),
  ]);
  const flat = graph.add('Reshape', [scores, graph.ints(0, 2, -1)]);
  const rows = graph.add('Transpose', [flat], { perm: [0, 2, 1] });
  const best = graph.add('ArgMax', [rows], { axis: 2, keepdims: 0 });
  const probabilities = graph.add('Softmax', [rows], { axis: 2 });
  const feeds = ([n = 1, h = 4, w = 4]: readonly number[]) => ({
    x: draw.tensor('float32', [n, 2, h, w], reals),
  });
  return modelCase(
    graph.model(13, [probabilities, best]),
    [
      [1, 8, 8],
      [2, 7, 5],
      [1, 9, 12],
    ].map(feeds),
    { atol: 1e-3 },
  );
}

/** Boxes above a threshold after suppression, gathered: as many as the elements say. */
function detector(draw: Draw) {
  const graph = new GraphBuilder();
  const classes = draw.int(1, 3);
  const boxes = graph.input('boxes', 'float32', [1, 'count', 4]);
  const scores = graph.input('scores', 'float32', [1, 'count', classes]);
  const turned = graph.add('Transpose', [scores], { perm: [0, 2, 1] });
  const chosen = graph.add('NonMaxSuppression', [
    boxes,
    turned,
    graph.constant(ints([draw.int(1, 4)])),
    graph.constant(HostTensor.from('float32', [1], [0.4])),
    graph.constant(HostTensor.from('float32', [1], [draw.pick([0.2, 0.5, 0.99])])),
  ]);
  const boxIndex = graph.add('Slice', [chosen, graph.ints(2), graph.ints(3), graph.ints(1)]);
  const kept = graph.add('GatherND', [graph.add('Squeeze', [boxes, graph.ints(0)]), boxIndex]);
  const keptScores = graph.add('GatherND', [turned, chosen]);
  const klass = graph.add('Squeeze', [
    graph.add('Slice', [chosen, graph.ints(1), graph.ints(2), graph.ints(1)]),
    graph.ints(1),
  ]);
  const found = graph.add('Shape', [keptScores]);
  const most = graph.add('Concat', [found, graph.ints(3)], { axis: 0 });
  const k = graph.add('ReduceMin', [most], { axes: [0], keepdims: 1 });
  const [top = '', order = ''] = graph.many('TopK', [keptScores, k], {
    attributes: { axis: 0 },
    outputs: 2,
  });
  const sorted = graph.add('Gather', [kept, order], { axis: 0 });
  const sortedClasses = graph.add('Cast', [graph.add('Gather', [klass, order])], { to: 1 });
  const rows = graph.add(
    'Concat',
    [
      sorted,
      graph.add('Unsqueeze', [top, graph.ints(1)]),
      graph.add('Unsqueeze', [sortedClasses, graph.ints(1)]),
    ],
    { axis: 1 },
  );
  const feeds = (count: number) => {
    const places: number[] = [];
    for (let i = 0; i < count; i++) {
      const [x, y] = [draw.real(0, 4), draw.real(0, 4)];
      places.push(x, y, x + draw.real(0.5, 2), y + draw.real(0.5, 2));
    }
    return {
      boxes: HostTensor.from('float32', [1, count, 4], places),
      scores: draw.tensor('float32', [1, count, classes], { number: (d) => d.real(0, 1) }),
    };
  };
  return modelCase(graph.model(13, [rows, chosen]), [6, 1, 12, 3].map(feeds));
}

/** Positions where a mask holds, by NonZero, and what is scattered back there. */
function masked(draw: Draw) {
  const graph = new GraphBuilder();
  const x = graph.input('x', 'float32', ['n', 'm']);
  const threshold = graph.input('threshold', 'float32', []);
  const mask = graph.add('Greater', [x, threshold]);
  const places = graph.add('Transpose', [graph.add('NonZero', [mask])], { perm: [1, 0] });
  const values = graph.add('GatherND', [x, places]);
  const squares = graph.add('Mul', [values, values]);
  const back = graph.add('ScatterND', [graph.add('Neg', [x]), places, squares]);
  const rows = graph.add(
    'Compress',
    [
      x,
      graph.add(
        'Cast',
        [
          graph.add('ReduceMax', [graph.add('Cast', [mask], { to: 1 })], {
            axes: [1],
            keepdims: 0,
          }),
        ],
        { to: 9 },
      ),
    ],
    { axis: 0 },
  );
  const total = graph.add('ReduceSum', [squares], { keepdims: 0 });
  const counted = graph.add(
    'Cast',
    [graph.add('Gather', [graph.add('Shape', [places]), graph.int(0)], { axis: 0 })],
    { to: 1 },
  );
  const mean = graph.add('Div', [total, graph.add('Max', [counted, graph.float(1)])]);
  const feeds = ([n = 1, m = 1]: readonly number[]) => ({
    x: draw.tensor('float32', [n, m], quarters),
    threshold: scalar('float32', draw.pick([-1, 0, 2, 99])),
  });
  return modelCase(
    graph.model(13, [values, back, rows, mean]),
    [
      [2, 3],
      [5, 1],
      [1, 7],
      [4, 4],
    ].map(feeds),
  );
}

/** Models in the idioms of exported networks for images. */
export const VISION_MODELS: ModelTable = {
  'model.channelsLast': channelsLast,
  'model.detector': detector,
  'model.masked': masked,
  'model.pyramid': pyramid,
};
