import { HostTensor } from '../../../../src/core/tensor/host-tensor.ts';
import { type Draw, integersBetween, reals, scalar } from '../draw.ts';
import { GraphBuilder } from '../model-builder.ts';
import { modelCase, type ModelTable } from './model-case.ts';

const small = { number: (draw: Draw) => draw.real(-0.6, 0.6) };

/** Two layers of a recurrent operator with lengths, states made from the batch, channels joined. */
function recurrentLayers(draw: Draw) {
  const graph = new GraphBuilder();
  const op = draw.pick(['LSTM', 'GRU', 'RNN']);
  const gates = op === 'LSTM' ? 4 : op === 'GRU' ? 3 : 1;
  const direction = draw.pick(['forward', 'bidirectional', 'reverse']);
  const d = direction === 'bidirectional' ? 2 : 1;
  const [width, hidden] = [draw.int(1, 4), draw.int(1, 4)];
  const x = graph.input('x', 'float32', ['batch', 'length', width]);
  const hasLengths = draw.often(0.5);
  const lengths = hasLengths ? graph.input('lengths', 'int32', ['batch']) : '';
  const batch = graph.add('Unsqueeze', [
    graph.add('Gather', [graph.add('Shape', [x]), graph.int(0)], { axis: 0 }),
    graph.ints(0),
  ]);
  const zeros = graph.add(
    'ConstantOfShape',
    [graph.add('Concat', [graph.ints(d), batch, graph.ints(hidden)], { axis: 0 })],
    { value: HostTensor.from('float32', [1], [draw.pick([0, 0.25])]) },
  );
  let y = graph.add('Transpose', [x], { perm: [1, 0, 2] });
  let last = '';
  for (const [layer, inner] of [width, d * hidden].entries()) {
    const [all = '', end = ''] = graph.many(
      op,
      [
        y,
        graph.constant(draw.tensor('float32', [d, gates * hidden, inner], small)),
        graph.constant(draw.tensor('float32', [d, gates * hidden, hidden], small)),
        graph.constant(draw.tensor('float32', [d, 2 * gates * hidden], small)),
        lengths,
        zeros,
        ...(op === 'LSTM' ? [zeros] : []),
      ],
      {
        attributes: {
          hidden_size: hidden,
          direction,
          linear_before_reset: op === 'GRU' ? draw.int(0, 1) : undefined,
        },
        outputs: op === 'LSTM' ? 3 : 2,
      },
    );
    last = end;
    const turned = graph.add('Transpose', [all], { perm: [0, 2, 1, 3] });
    y =
      d === 1 && layer === 0
        ? graph.add('Squeeze', [all, graph.ints(1)])
        : graph.add('Reshape', [turned, graph.ints(0, 0, -1)]);
  }
  const result = graph.add('Transpose', [y], { perm: [1, 0, 2] });
  const feeds = ([n = 1, length = 1]: readonly number[]) => ({
    x: draw.tensor('float32', [n, length, width], reals),
    ...(hasLengths ? { lengths: draw.tensor('int32', [n], integersBetween(1, length)) } : {}),
  });
  return modelCase(
    graph.model(14, [result, last]),
    [
      [1, 4],
      [3, 2],
      [2, 7],
      [1, 1],
    ].map(feeds),
    { atol: 1e-4 },
  );
}

/** Frames of sound: a spectrum, its size in bands, logarithms, and differences to the mean. */
function spectrogram(draw: Draw) {
  const graph = new GraphBuilder();
  const [frame, step, bands] = [draw.pick([8, 10, 16]), draw.int(2, 5), draw.int(2, 4)];
  const bins = Math.floor(frame / 2) + 1;
  const x = graph.input('x', 'float32', ['batch', 'length']);
  const window = graph.add('HannWindow', [graph.int(frame)], { periodic: 1 });
  const reflected = graph.add('Pad', [x, graph.ints(0, frame / 2, 0, frame / 2)], {
    mode: 'reflect',
  });
  const spectrum = graph.add('STFT', [
    graph.add('Unsqueeze', [reflected, graph.ints(2)]),
    graph.int(step),
    window,
    graph.int(frame),
  ]);
  const power = graph.add('ReduceSum', [graph.add('Mul', [spectrum, spectrum]), graph.ints(-1)], {
    keepdims: 0,
  });
  const filters = graph.constant(
    draw.tensor('float32', [bins, bands], { number: (d) => d.real(0, 1) }),
  );
  const energies = graph.add('MatMul', [power, filters]);
  const floor = graph.add('Max', [energies, graph.float(1e-3)]);
  const decibels = graph.add('Div', [graph.add('Log', [floor]), graph.float(Math.log(10))]);
  const loudest = graph.add('ReduceMax', [decibels], { keepdims: 1 });
  const limited = graph.add('Max', [decibels, graph.add('Sub', [loudest, graph.float(4)])]);
  const mean = graph.add('ReduceMean', [limited], { axes: [1], keepdims: 1 });
  const y = graph.add('Sub', [limited, mean]);
  const feeds = ([n = 1, length = 16]: readonly number[]) => ({
    x: draw.tensor('float32', [n, length], reals),
  });
  return modelCase(
    graph.model(17, [y, loudest]),
    [
      [1, 20],
      [2, 33],
      [1, 17],
    ].map(feeds),
    { atol: 1e-3 },
  );
}

/** Running sums, ranks and choices by elements: the arithmetic around sampled tokens. */
function sampling(draw: Draw) {
  const graph = new GraphBuilder();
  const logits = graph.input('logits', 'float32', ['batch', 'words']);
  const k = graph.input('k', 'int64', [1]);
  const limit = graph.input('limit', 'float32', []);
  const scaled = graph.add('Div', [logits, graph.float(0.7)]);
  const [values = '', indices = ''] = graph.many('TopK', [scaled, k], { outputs: 2 });
  const probabilities = graph.add('Softmax', [values], { axis: -1 });
  const sums = graph.add('CumSum', [probabilities, graph.int(1)], {
    exclusive: draw.int(0, 1),
  });
  const kept = graph.add('LessOrEqual', [sums, limit]);
  const masked = graph.add('Where', [kept, values, graph.float(-1e30)]);
  const lowest = graph.add('Expand', [graph.float(-1e30), graph.add('Shape', [logits])]);
  const scattered = graph.add('ScatterElements', [lowest, indices, masked], { axis: 1 });
  const best = graph.add('ArgMax', [scattered], { axis: 1, keepdims: 1 });
  const chosen = graph.add('GatherElements', [logits, best], { axis: 1 });
  const hot = graph.add('OneHot', [
    graph.add('Squeeze', [best, graph.ints(1)]),
    graph.add('Gather', [graph.add('Shape', [logits]), graph.ints(1)], { axis: 0 }),
    graph.constant(HostTensor.from('float32', [2], [0, 1])),
  ]);
  const feeds = ([n = 1, words = 4, most = 2]: readonly number[]) => ({
    logits: draw.tensor('float32', [n, words], reals),
    k: HostTensor.from('int64', [1], [most]),
    limit: scalar('float32', draw.pick([0.5, 0.8, 1.5])),
  });
  return modelCase(
    graph.model(14, [scattered, best, chosen, hot]),
    [
      [1, 6, 3],
      [2, 9, 1],
      [3, 5, 5],
    ].map(feeds),
    { atol: 1e-4 },
  );
}

/** Models in the idioms of exported networks for sequences and sound. */
export const SEQUENCE_MODELS: ModelTable = {
  'model.recurrentLayers': recurrentLayers,
  'model.sampling': sampling,
  'model.spectrogram': spectrogram,
};
