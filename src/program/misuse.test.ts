import { describe, expect, test } from 'vitest';
import {
  array,
  configure,
  data,
  f32,
  grad,
  If,
  jvp,
  loop,
  match,
  NdArray,
  program,
  random,
} from './index.ts';
import { Tensor } from '../client/values/tensor.ts';
import {
  concat,
  customGradient,
  gather,
  gatherElements,
  gatherNd,
  reduceSum,
  repeatTimes,
  scan,
  scatterElements,
  scatterNd,
  scope,
  softmax,
  stopGradient,
  vmap,
} from './index.ts';

const untyped = (value: unknown): never => value as never;
const x = array([
  [1, 5, 2],
  [7, 2, 0],
]);
const Leaf = data('LeafOfOne', () => ({ Leaf: { v: f32() } }));
const double = (y: NdArray): NdArray => y.mul(2);
const traced = (body: (y: NdArray) => unknown) =>
  program({ y: f32(3) }, ({ y }) => untyped(body(y))).module;
const add = (y: NdArray, z: NdArray): NdArray => y.add(z);

describe('what is not meant is refused, with the nearest name', () => {
  test.each<[string, () => unknown, string]>([
    [
      'sum',
      () => x.sum(-1, untyped({ keepDim: true })),
      'expected only keepDims, keepdims. Did you mean keepDims?',
    ],
    ['its options as axes', () => x.sum(untyped({ keepDims: true })), 'misuse.test.ts:'],
    ['argmax', () => x.argmax(untyped('rows')), 'argmax: got axis "rows", expected an integer.'],
    [
      'grad',
      () => grad(double, untyped({ argnum: 1 })),
      'grad: got an unknown option "argnum", expected only argnums, argnames, hasAux. Did you mean argnums?',
    ],
    [
      'two ways to say it',
      () => grad(double, { argnums: 0, argnames: 'y' }),
      'grad: got argnums and argnames, expected one of them.',
    ],
    ['no function', () => grad(untyped(3)), 'grad: got the first argument 3, expected a function.'],
    [
      'vmap',
      () => vmap(double, untyped({ in_axes: 0 })),
      'got an unknown option "in_axes", expected only inAxes, outAxes. Did you mean inAxes?',
    ],
    [
      'axes of no argument',
      () => vmap(add, [0, null, 0])(x, x),
      'vmap: got inAxes with 3, expected a list of 2. inAxes has the form',
    ],
    [
      'random.uniform',
      () => random.uniform(random.key(0), [2], untyped({ minval: 5 })),
      'random.uniform: got an unknown option "minval", expected only min, max. Did you mean min?',
    ],
    [
      'a range as shape',
      () => random.normal(random.key(0), untyped({ shape: [2] })),
      'random.normal: got shape {"shape":[2]}, expected a list of sizes.',
    ],
    [
      'scan',
      () => traced((y) => scan(0, y, untyped(0), untyped({}))),
      'scan: got the body 0, expected a function.',
    ],
    [
      'options of scan',
      () => traced((y) => scan(0, y, (s) => [s, s], untyped({ reversed: true }))),
      'scan: got an unknown option "reversed", expected only reverse. Did you mean reverse?',
    ],
    [
      'what scan gives',
      () =>
        traced((y) =>
          scan(
            0,
            y,
            untyped(() => 1),
          ),
        ),
      'scan: got a result of the body that is 1, expected [state, y].',
    ],
    [
      'If',
      () => traced((y) => If(y.sum().greater(0), () => y, untyped(y))),
      'If: got the second branch Tensor[(3,), float32], expected a function.',
    ],
    [
      'loop',
      () => traced((y) => loop(y, untyped(true), (z) => z)),
      'loop: got the condition true, expected a function.',
    ],
    [
      'jvp',
      () => jvp(double, untyped(x), untyped(x)),
      'jvp: got the arguments Tensor[(2, 3), float32], expected a list.',
    ],
    [
      'repeatTimes',
      () => traced((y) => repeatTimes(1.5, y, (z) => z)),
      'repeatTimes: got the count 1.5, expected an integer from 0 up, or a size of a program.',
    ],
    [
      'arithmetic of JavaScript',
      () => Number(x.sum()) + 1,
      'program: got Tensor[(), float32] in arithmetic of JavaScript, expected methods',
    ],
    [
      'an adjoint without gradients',
      () => customGradient(double, () => [])(x),
      'customGradient: got a result of the adjoint [], expected a list of 1, one for each argument.',
    ],
    [
      'an interval',
      () => random.uniform(random.key(0), [2], { min: 3, max: 1 }),
      'random.uniform: got max 1, expected at least min, at a distance that float32 holds.',
    ],
    [
      'configure',
      () => configure(untyped({ devise: 'host' })),
      'configure: got an unknown option "devise"',
    ],
    [
      'program',
      () =>
        program(
          untyped((y: never) => y),
          untyped({ y: f32() }),
        ),
      'program: got parameters a function, expected types such as f32("n", 4)',
    ],
    [
      'options of a program',
      () => program({ y: f32() }, ({ y }) => y, untyped({ nam: 'f' })),
      'program: got an unknown option "nam"',
    ],
    [
      'an async body',
      () => traced(async (y) => y),
      'got a Promise, expected an array of numbers, or objects and arrays of such. Bodies of programs are not async.',
    ],
    [
      'an attribute',
      () => reduceSum(x, untyped({ axis: [0] })),
      'reduce_sum: got attribute axis, expected one of axes, keepdims. Did you mean axes?',
    ],
    [
      'an attribute of another kind',
      () => softmax(x, untyped({ axis: { axis: 0 } })),
      'softmax: attribute axis: got {"axis":0}, expected an integer.',
    ],
    [
      'an index',
      () => x.slice(untyped('1:2')),
      'slice: got index 0 that is "1:2", expected an integer, null',
    ],
    ['a size', () => f32(untyped([3])), 'got ([3],), expected sizes from 0 up'],
    [
      'what random does not take',
      () => Reflect.apply(random.normal, undefined, [random.key(0), [2], 'float16']),
      'random.normal: got 3 arguments, expected at most 2.',
    ],
    [
      'what grad does not take',
      () => Reflect.apply(grad as () => unknown, undefined, [double, {}, { hasAux: true }]),
      'grad: got 3 arguments, expected at most 2.',
    ],
    [
      'what a loop does not take',
      () =>
        traced((y) => Reflect.apply(loop as () => NdArray, undefined, [y, () => true, double, 10])),
      'loop: got 4 arguments, expected at most 3.',
    ],
    [
      'attributes behind operands',
      () => Reflect.apply(softmax, undefined, [x, 0]),
      'got 2 operands of softmax, expected 1. Attributes stand in an object: softmax(x, { axis: 0 }).',
    ],
    [
      'an attribute without its name',
      () => concat([x, x], untyped(0)),
      'concat: got attributes 0, expected an object.',
    ],
    ['squeeze', () => x.squeeze(1), 'squeeze: got axis 1 of size 3, expected one of size 1.'],
    [
      'two sizes that are left',
      () => x.reshape(-1, -1),
      'reshape: got sizes [-1,-1], expected at most one size of -1.',
    ],
    [
      'what a method does not take',
      () => Reflect.apply(Reflect.get(x, 'cumsum') as () => unknown, x, [0, { reverse: true }]),
      'cumsum: got 2 arguments, expected at most 1.',
    ],
    [
      'what a program does not take',
      () => Reflect.apply(program(f32(), double), undefined, [1, {}]),
      'program: got 2 arguments, expected at most 1.',
    ],
    [
      'a list and more',
      () => x.reshape(untyped([3, 2]), untyped(1)),
      'reshape: got arguments [[3,2],1], expected one list.',
    ],
    ['clip', () => x.clip(0, untyped(undefined)), 'clip: got max undefined, expected a number.'],
    [
      'half a number among integers',
      () => array([1, 2], 'int32').add(1.5),
      'Tensor.from: got the element 1.5, expected integers that int32 holds.',
    ],
    [
      'new NdArray',
      () => new NdArray(untyped([1, 2])),
      'array: got a call of the constructor, expected array(…).',
    ],
    [
      'a range of four',
      () => x.slice(untyped([0, 1, 1, 1])),
      'got index 0 that is [0,1,1,1], expected',
    ],
    [
      'tangents',
      () => jvp(double, [x], untyped([])),
      'jvp: got the tangents [], expected a list of 1, one for each argument.',
    ],
    [
      'match',
      () => traced((y) => match(untyped(y), {})),
      'match: got the value Tensor[(3,), float32], expected data.',
    ],
    [
      'a case',
      () =>
        program({ t: Leaf }, ({ t }) => match(t, untyped({ Leef: () => 1, _: () => 0 }))).module,
      'match: got an unknown option "Leef", expected only Leaf, _. Did you mean Leaf?',
    ],
    ['no constructors', () => data('None', () => ({})), 'got constructors {}, expected some'],
    [
      'a field of another rank',
      () => Leaf.Leaf({ v: [1, 2] }),
      'got Tensor[(2,), float32] for v, expected Tensor[(), float32].',
    ],
    ['a promise as a field', () => Leaf.Leaf({ v: untyped(Promise.resolve(1)) }), 'got object,'],
    ['options that are a promise', () => configure(untyped(Promise.resolve({}))), 'got a Promise,'],
    [
      'scope',
      () => scope(untyped(undefined)),
      'scope: got work that is undefined, expected a function.',
    ],
  ])('%s', (_, misuse, message) => {
    expect(misuse).toThrow(
      expect.objectContaining({ message: expect.stringContaining(message) as string }),
    );
  });
});

describe('what lies outside is refused, where the page gave it', () => {
  const key = random.key(0);
  const refusal = (got: string, expected: string) =>
    `${got}, expected ${expected}. Negative ones count from the end.`;
  test.each<[string, () => unknown, string]>([
    ['slice', () => x.slice(null, 3), 'slice: got index 1 that is 3, expected one from -3 to 2.'],
    [
      'slice from the end',
      () => x.slice(-3),
      'slice: got index 0 that is -3, expected one from -2 to 1.',
    ],
    [
      'slice by an array',
      () => x.slice(array([0, 5], 'int32')),
      refusal('gather: got index 5 as element (1)', 'one from -2 to 1'),
    ],
    [
      'gather',
      () => gather(x, [[0, -4]], { axis: -1 }),
      refusal('gather: got index -4 as element (0, 1)', 'one from -3 to 2'),
    ],
    [
      'gather of nothing',
      () => gather(array(new Float32Array(0)), [0]),
      refusal('gather: got index 0 as element (0)', 'none: the axis is empty'),
    ],
    [
      'gather in a body',
      () => traced((y) => gather(y, [5])),
      refusal('gather: got index 5 as element (0)', 'one from -3 to 2'),
    ],
    [
      'gatherElements',
      () => gatherElements(x, [[2, 0, 0]]),
      refusal('gather_elements: got index 2 as element (0, 0)', 'one from -2 to 1'),
    ],
    [
      'gatherNd, one size for each place of a tuple',
      () =>
        gatherNd(x, [
          [1, 2],
          [0, 3],
        ]),
      refusal('gather_nd: got index 3 as element (1, 1)', 'one from -3 to 2'),
    ],
    [
      'gatherNd behind axes of both',
      () => gatherNd(x, [[2], [3]], { batchDims: 1 }),
      refusal('gather_nd: got index 3 as element (1, 0)', 'one from -3 to 2'),
    ],
    [
      'scatterElements',
      () => scatterElements(x, [[5, 0, 0]], [[1, 2, 3]]),
      refusal('scatter_elements: got index 5 as element (0, 0)', 'one from -2 to 1'),
    ],
    [
      'scatterNd',
      () => scatterNd(x, [[5, 0]], [1]),
      refusal('scatter_nd: got index 5 as element (0, 0)', 'one from -2 to 1'),
    ],
    [
      'a probability',
      () => random.bernoulli(key, [3], 2),
      'random.bernoulli: got a probability of 2, expected a number from 0 to 1.',
    ],
    [
      'a probability among others',
      () => random.bernoulli(key, [2], [0.5, Number.NaN]),
      'random.bernoulli: got a probability of NaN, expected a number from 0 to 1.',
    ],
    [
      'logits',
      () => random.categorical(key, [0, Number.NaN]),
      'random.categorical: got a logit of NaN, expected a number.',
    ],
    [
      'a bound',
      () => random.uniform(key, [3], { max: 1e39 }),
      'random.uniform: got max 1e+39, expected a number that float32 holds.',
    ],
    [
      'an interval',
      () => random.uniform(key, [3], { min: -3e38, max: 3e38 }),
      'random.uniform: got max 3e+38, expected at least min, at a distance that float32 holds.',
    ],
    [
      'integers',
      () => random.integers(key, [3], { min: 2 ** 31, max: 2 ** 31 + 5 }),
      'got from 2147483648 to 2147483653, expected integers of int32, the first one less, by less than 2^31.',
    ],
    [
      'a seed',
      () => random.key(2n ** 64n),
      'got the seed 18446744073709551616, expected an integer of 64 bits.',
    ],
  ])('%s', (_, misuse, message) => {
    expect(misuse).toThrow(
      expect.objectContaining({ message: expect.stringContaining(message) as string }),
    );
  });

  test('indices that are computed read 0, and those within all sizes are taken', async () => {
    expect(await gather(x, array([3], 'int32').add(3)).toArray()).toEqual([[0, 0, 0]]);
    expect(await gatherNd(x, [[1, -3]]).toArray()).toEqual([7]);
    expect(traced((y) => y.slice(-3)).functions.size).toBe(1);
    expect(random.categorical(key, [0, -Infinity]).shape).toEqual([]);
    expect(random.integers(key, [1], { min: -(2 ** 31), max: -(2 ** 31) + 5 }).shape).toEqual([1]);
  });
});

describe('what peers write is taken', () => {
  test('keepdims, in reductions and operators', () => {
    expect(x.sum(-1, { keepdims: true }).shape).toEqual([2, 1]);
    expect(reduceSum(x, untyped({ axes: [1], keepDims: true })).shape).toEqual([2, 1]);
  });

  test('axes of vmap as its second and third argument', () => {
    expect(vmap(add, [null, 0])(array([1, 1, 1]), x).shape).toEqual([2, 3]);
    expect(vmap(double, 0, 1)(x).shape).toEqual([3, 2]);
  });

  test('argmax drops its axis, and looks at all elements without one, as NumPy does', async () => {
    expect(await x.argmax(-1).toArray()).toEqual([1n, 0n]);
    expect(x.argmax(0, { keepDims: true }).shape).toEqual([1, 3]);
    expect(await x.argmax().item()).toBe(3);
    expect(x.argmin(undefined, { keepDims: true }).shape).toEqual([1, 1]);
    expect(random.categorical(random.key(0), x).shape).toEqual([2]);
  });
});

test('one number is asked of an array with one element', async () => {
  await expect(x.item()).rejects.toThrow('item: got an array with 6, expected one element.');
});

test('a dtype and a shape are those of what is there already, too', () => {
  expect(array(x, 'int32', [3, 2]).toString()).toBe('Tensor[(3, 2), int32]');
  expect(array(Tensor.from([1, 2]), 'int32', [2, 1]).toString()).toBe('Tensor[(2, 1), int32]');
});

test('a program that cannot be compiled, and is given up, ends nothing', async () => {
  const failures: unknown[] = [];
  const record = (reason: unknown): void => void failures.push(reason);
  process.on('unhandledRejection', record);
  const gpu = { requestAdapter: async () => null };
  configure({ device: 'webgpu', worker: false, gpu: untyped(gpu) });
  await expect(x.mul(3).add(1).data()).rejects.toThrow('adapter');
  configure({ device: 'host' });
  await new Promise((done) => setTimeout(done));
  process.off('unhandledRejection', record);
  expect(failures).toEqual([]);
});

test.each<[string, (...args: never) => unknown, readonly unknown[]]>([
  ['data', data, ['Two', () => ({ A: {} }), 1]],
  ['scope', scope, [() => 1, 1]],
  ['configure', configure, [{}, 1]],
  ['stopGradient', stopGradient, [x, 1]],
])('an argument more than %s takes is refused', (name, call, args) => {
  const misuse = (): unknown => call(...(args as never));
  expect(misuse).toThrow(`${name}: got ${args.length} arguments, expected at most`);
});
