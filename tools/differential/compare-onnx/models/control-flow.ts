import { HostTensor } from '../../../../src/core/tensor/host-tensor.ts';
import { type Draw, ints, quarters, reals, scalar } from '../draw.ts';
import { GraphBuilder } from '../model-builder.ts';
import { modelCase, type ModelTable } from './model-case.ts';

const OPSETS = [13, 16, 19, 21];

/** A branch by an element, with values of the outer graph and branches within. */
function ifByElement(draw: Draw) {
  const graph = new GraphBuilder();
  const opset = draw.pick(OPSETS);
  const x = graph.input('x', 'float32', ['n', 3]);
  const flagShape = draw.pick([[], [1]]);
  const flag = graph.input('flag', 'bool', flagShape);
  const other = graph.input('other', 'bool', []);
  const outer = graph.add('Mul', [x, graph.float(2)]);
  const changesShape = draw.often(0.4);
  const thenBranch = graph.graph((inner) => {
    const nested = inner.add('If', [other], {
      then_branch: inner.graph((deep) => [deep.add('Add', [outer, x])]),
      else_branch: inner.graph((deep) => [
        deep.add('Neg', [draw.often(0.5) ? outer : inner.add('Relu', [outer])]),
      ]),
    });
    return [nested, inner.add('ReduceSum', [nested, inner.ints(0)], { keepdims: 0 })];
  });
  const elseBranch = graph.graph((inner) => {
    const twice = changesShape ? inner.add('Concat', [x, x], { axis: 0 }) : inner.add('Abs', [x]);
    return [twice, inner.add('Identity', [inner.constant(draw.tensor('float32', [3]))])];
  });
  const [first = '', second = ''] = graph.many('If', [flag], {
    attributes: { then_branch: thenBranch, else_branch: elseBranch },
    outputs: 2,
  });
  const last = graph.add('Sub', [first, second]);
  const feeds = (rows: number) => ({
    x: draw.tensor('float32', [rows, 3]),
    flag: HostTensor.from('bool', flagShape, [draw.int(0, 1)]),
    other: scalar('bool', draw.int(0, 1)),
  });
  return modelCase(graph.model(opset, [last, second, outer]), [2, 1, 5, 2].map(feeds));
}

/** A branch by a size, as exporters write what depends on the length of a sequence. */
function ifByShape(draw: Draw) {
  const graph = new GraphBuilder();
  const x = graph.input('x', 'float32', ['batch', 'n']);
  const size = graph.add('Gather', [graph.add('Shape', [x]), graph.int(1)], { axis: 0 });
  const op = draw.pick(['Less', 'Greater', 'Equal']);
  const condition = graph.add(op, [size, graph.int(draw.int(1, 4))]);
  const result = graph.add('If', [condition], {
    then_branch: graph.graph((inner) => [
      inner.add('Pad', [x, inner.ints(0, 0, 0, 3), inner.float(0.5)]),
    ]),
    else_branch: graph.graph((inner) => [
      inner.add('Slice', [x, inner.ints(0), inner.ints(2), inner.ints(1)]),
    ]),
  });
  const sums = graph.add('ReduceMean', [result], { keepdims: 1 });
  const feeds = (n: number) => ({ x: draw.tensor('float32', [draw.int(1, 3), n]) });
  return modelCase(graph.model(13, [result, sums]), [1, 4, 2, 3, 6].map(feeds));
}

/** Branches of different ranks, one behind and inside the other, and what is computed of their results. */
function ifByRank(draw: Draw) {
  const graph = new GraphBuilder();
  const x = graph.input('x', 'float32', ['n']);
  const flags = ['a', 'b', 'c'].map((name) => graph.input(name, 'bool', []));
  const values = [x, graph.float(0.5)];
  /** Any rank will do: all sizes are 1 or n. */
  const compute = (at: GraphBuilder, known: readonly string[]): string => {
    const [one, other] = [draw.pick(known), draw.pick(known)];
    return draw.pick([
      () => at.add('Add', [one, other]),
      () => at.add('Mul', [one, at.float(0.5)]),
      () => at.add('ReduceMax', [one], { keepdims: draw.int(0, 1) }),
      () => at.add('Reshape', [one, at.ints(-1)]),
      () => at.add('Sub', [one, x]),
      () =>
        at.add('Cast', [at.add('ReduceSum', [at.add('Shape', [one])], { keepdims: 0 })], { to: 1 }),
    ])();
  };
  const branch = (at: GraphBuilder, known: readonly string[], depth: number): string => {
    const kind = draw.int(0, 5);
    if (kind === 0) return at.add('Identity', [at.float(draw.int(-2, 2))]);
    if (kind === 1) return at.add('Unsqueeze', [x, at.ints(0)]);
    if (kind === 2) return at.add('ReduceSum', [x], { keepdims: draw.int(0, 1) });
    if (kind === 3) return at.add('Identity', [x]);
    if (kind === 4 && depth < 2) return choose(at, known, depth + 1);
    return compute(at, known);
  };
  const choose = (at: GraphBuilder, known: readonly string[], depth: number): string =>
    at.add('If', [draw.pick(flags)], {
      then_branch: at.graph((inner) => [branch(inner, known, depth)]),
      else_branch: at.graph((inner) => [branch(inner, known, depth)]),
    });
  for (let i = draw.int(2, 8); i > 0; i--) {
    const known = values.slice(-4);
    values.push(draw.often(0.5) ? choose(graph, known, 0) : compute(graph, known));
  }
  const results = values.slice(-draw.int(1, 3));
  const feeds = (i: number) => ({
    x: draw.tensor('float32', [i === 0 ? 3 : draw.int(1, 4)], quarters),
    ...Object.fromEntries(flags.map((name, k) => [name, scalar('bool', (i >> k) & 1)])),
  });
  return modelCase(graph.model(13, results), [0, 1, 2, 3, 4, 5, 6, 7].map(feeds));
}

/** Carried values that keep or change their shapes, scanned ones, and an early end. */
function loop(draw: Draw) {
  const graph = new GraphBuilder();
  const opset = draw.pick(OPSETS);
  const x = graph.input('x', 'float32', ['n', 2]);
  const countShape = draw.pick([[], [1]]);
  const count = draw.often(0.6) ? graph.input('count', 'int64', countShape) : '';
  const limit = graph.input('limit', 'float32', []);
  const grows = draw.often(0.4);
  const isForever = count === '';
  const condition = isForever || draw.often(0.5) ? graph.constant(scalar('bool', 1)) : '';
  const scale = graph.add('Add', [limit, graph.float(1)]);
  const hasScan = draw.often(0.7);
  const endsEarly = isForever || draw.often(0.5);
  const body = graph.graph((inner) => {
    const step = inner.input('step', 'int64', []);
    const goesOn = inner.input('goesOn', 'bool', []);
    const total = inner.input('total', 'float32', []);
    const state = inner.input('state', 'float32', grows ? ['m', 2] : ['n', 2]);
    const place = inner.add('Cast', [step], { to: 1 });
    const next = inner.add('Add', [total, inner.add('Add', [place, inner.float(0.5)])]);
    const scaled = inner.add('Mul', [state, inner.add('Div', [scale, inner.float(8)])]);
    const moved = grows
      ? inner.add('Concat', [scaled, x], { axis: 0 })
      : inner.add('Add', [scaled, x]);
    const after = endsEarly ? inner.add('Less', [next, limit]) : inner.add('Identity', [goesOn]);
    const row = inner.add('ReduceSum', [moved, inner.ints(0)], { keepdims: 0 });
    return [after, next, moved, ...(hasScan ? [row, place] : [])];
  });
  const results = graph.many('Loop', [count, condition, graph.float(0), x], {
    attributes: { body },
    outputs: hasScan ? 4 : 2,
  });
  const [, state = ''] = results;
  const sum = graph.add('ReduceSum', [state, graph.ints(0)], { keepdims: 1 });
  const feeds = ([rows = 1, steps = 1]: readonly number[]) => ({
    x: draw.tensor('float32', [rows, 2], quarters),
    ...(count === '' ? {} : { count: HostTensor.from('int64', countShape, [steps]) }),
    limit: scalar('float32', draw.int(1, 12)),
  });
  return modelCase(
    graph.model(opset, [...results, sum]),
    [
      [2, 3],
      [1, 0],
      [3, 5],
      [2, 1],
    ].map(feeds),
  );
}

/** A scan along any axis in any direction, with captured values and a scan within. */
function scan(draw: Draw) {
  const graph = new GraphBuilder();
  const opset = draw.pick([11, 16, 19, 21]);
  const [axis, outAxis] = [draw.int(0, 2), draw.int(0, 2)];
  const names = ['a', 'b', 'c'];
  const x = graph.input('x', 'float32', names);
  const w = graph.input('w', 'float32', []);
  const sliceNames = names.filter((_, i) => i !== axis);
  const isReversed = draw.int(0, 1);
  const outReversed = draw.int(0, 1);
  const initial =
    opset < 18
      ? graph.add('ReduceMin', [x], { axes: [axis], keepdims: 0 })
      : graph.add('ReduceMin', [x, graph.ints(axis)], { keepdims: 0 });
  const nests = draw.often(0.4);
  const shift = graph.add('Exp', [w]);
  const body = graph.graph((inner) => {
    const state = inner.input('state', 'float32', sliceNames);
    const slice = inner.input('slice', 'float32', sliceNames);
    const sum = inner.add('Add', [inner.add('Mul', [state, w]), slice]);
    let output = inner.add('Add', [sum, shift]);
    if (nests) {
      const [first = ''] = inner.many(
        'Scan',
        [
          inner.add(
            'ReduceSum',
            [slice],
            opset < 13 ? { axes: [0], keepdims: 0 } : { keepdims: 0 },
          ),
          slice,
        ],
        {
          attributes: {
            num_scan_inputs: 1,
            body: inner.graph((deep) => {
              const total = deep.input('total', 'float32', opset < 13 ? [sliceNames[1] ?? ''] : []);
              const row = deep.input('row', 'float32', [sliceNames[1] ?? '']);
              const next =
                opset < 13
                  ? deep.add('Add', [total, row])
                  : deep.add('Add', [total, deep.add('ReduceMax', [row], { keepdims: 0 })]);
              return [next];
            }),
          },
          outputs: 1,
        },
      );
      output = inner.add('Add', [output, first]);
    }
    return [sum, output, inner.add('Neg', [slice])];
  });
  const results = graph.many('Scan', [initial, x], {
    attributes: {
      body,
      num_scan_inputs: 1,
      scan_input_axes: [draw.sign(axis, 3)],
      scan_input_directions: draw.often(0.7) ? [isReversed] : undefined,
      scan_output_axes: [draw.sign(outAxis, 3), 0],
      scan_output_directions: draw.often(0.7) ? [outReversed, 0] : undefined,
    },
    outputs: 3,
  });
  const feeds = (dims: readonly number[]) => ({
    x: draw.tensor('float32', dims),
    w: scalar('float32', draw.real(-0.9, 0.9)),
  });
  return modelCase(
    graph.model(opset, results),
    [
      [2, 3, 4],
      [4, 1, 2],
      [1, 5, 3],
    ].map(feeds),
  );
}

/** A decoder that appends the largest of its scores until an end token or a length. */
function greedyDecoder(draw: Draw) {
  const graph = new GraphBuilder();
  const words = draw.int(3, 6);
  const hidden = draw.int(2, 5);
  const start = graph.input('start', 'int64', ['n']);
  const most = graph.input('most', 'int64', []);
  const table = graph.constant(draw.tensor('float32', [words, hidden], reals));
  const weights = graph.constant(draw.tensor('float32', [hidden, words], reals));
  const mixer = graph.constant(draw.tensor('float32', [hidden, hidden], reals));
  const body = graph.graph((inner) => {
    inner.input('step', 'int64', []);
    inner.input('on', 'bool', []);
    const tokens = inner.input('tokens', 'int64', ['length']);
    const memory = inner.input('memory', 'float32', [1, hidden]);
    const embedded = inner.add('Gather', [table, tokens], { axis: 0 });
    const mean = inner.add('ReduceMean', [embedded], { axes: [0], keepdims: 1 });
    const mixed = inner.add('MatMul', [memory, mixer]);
    const state = inner.add('Tanh', [inner.add('Add', [mean, mixed])]);
    const scores = inner.add('MatMul', [state, weights]);
    const chosen = inner.add('ArgMax', [scores], { axis: 1, keepdims: 0 });
    const grown = inner.add('Concat', [tokens, chosen], { axis: 0 });
    const isEnd = inner.add('Equal', [chosen, inner.ints(0)]);
    const goesOn = inner.add('Not', [inner.add('Squeeze', [isEnd, inner.ints(0)])]);
    return [goesOn, grown, state, scores];
  });
  const results = graph.many(
    'Loop',
    [
      most,
      graph.constant(scalar('bool', 1)),
      start,
      graph.constant(draw.tensor('float32', [1, hidden], reals)),
    ],
    { attributes: { body }, outputs: 3 },
  );
  const feeds = ([n = 1, steps = 1]: readonly number[]) => ({
    start: ints(Array.from({ length: n }, () => draw.int(0, words - 1))),
    most: scalar('int64', steps),
  });
  return modelCase(
    graph.model(13, results),
    [
      [1, 4],
      [3, 1],
      [2, 9],
      [1, 0],
    ].map(feeds),
    { atol: 1e-4 },
  );
}

export const CONTROL_FLOW_MODELS: ModelTable = {
  'model.greedyDecoder': greedyDecoder,
  'model.ifByElement': ifByElement,
  'model.ifByRank': ifByRank,
  'model.ifByShape': ifByShape,
  'model.loop': loop,
  'model.scan': scan,
};
