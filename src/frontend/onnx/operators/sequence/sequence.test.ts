import { afterEach, describe, expect, test } from 'vitest';
import { asInput, type CaseValue, fromOutput } from '../../../../testing/case-values.ts';
import { type OutputValue, Session } from '../../../../client/index.ts';
import { HostTensor } from '../../../../core/tensor/host-tensor.ts';
import { sharedNodeGpu } from '../../../../testing/node-gpu.ts';
import {
  type OnnxGraphSpec,
  type OnnxInputSpec,
  type OnnxNodeSpec,
  writeOnnxModel,
} from '../../../../testing/onnx-writer.ts';
import { importOnnx } from '../../import-onnx.ts';

const node = (
  op: string,
  inputs: readonly string[],
  outputs: string,
  attributes: OnnxNodeSpec['attributes'] = {},
): OnnxNodeSpec => ({ op, inputs, outputs: outputs.split(' '), attributes });
const floats = (shape: readonly number[], ...values: number[]) =>
  HostTensor.from('float32', shape, values);
const int64 = (...values: number[]) =>
  HostTensor.from('int64', values.length === 1 ? [] : [values.length], values);
const bool = (value: boolean) => HostTensor.from('bool', [], [value ? 1 : 0]);
const scalar = (name: string, dtype: 'int64' | 'bool' = 'int64'): OnnxInputSpec => ({
  name,
  dtype,
  shape: [],
});
const vectors = (name: string, ...shape: (number | string)[]): OnnxInputSpec => ({
  name,
  shape,
  of: ['sequence'],
});

/** `[(2): 1 2, (1): 3]`, `Some (2): 1 2` */
function described(value: CaseValue | undefined): string {
  if (value === undefined) return 'nothing';
  if (value instanceof HostTensor) {
    return `(${value.shape.join()}): ${Array.from(value.data, Number).join(' ')}`;
  }
  if (!('element' in value)) return `[${value.map(described).join(', ')}]`;
  return value.element === undefined ? 'None' : `Some ${described(value.element)}`;
}

type Values = Readonly<Record<string, CaseValue>>;

describe.each(['host', 'webgpu'] as const)('sequences on %s', (device) => {
  const sessions: Session[] = [];
  afterEach(async () => {
    for (const session of sessions.splice(0)) await session.dispose();
  });

  async function load(graph: OnnxGraphSpec): Promise<(inputs: Values) => Promise<string[]>> {
    const session = await Session.load(writeOnnxModel({ opset: 21, ...graph }), {
      device,
      worker: false,
      ...(device === 'webgpu' && { gpu: await sharedNodeGpu() }),
    });
    sessions.push(session);
    return async (inputs) => {
      const given = Object.entries(inputs).map(([name, value]) => [name, asInput(value)]);
      const results = await session.run<OutputValue>(Object.fromEntries(given));
      return Object.values(results).map((result) => described(fromOutput(result)));
    };
  }

  test('elements at positions that only the running program knows, from either end', async () => {
    const run = await load({
      inputs: [vectors('s', 'n'), scalar('at')],
      nodes: [
        node('SequenceAt', ['s', 'at'], 'x'),
        node('Neg', ['x'], 'y'),
        node('SequenceErase', ['s', 'at'], 'rest'),
        node('SequenceInsert', ['s', 'x', 'at'], 'more'),
        node('SequenceLength', ['more'], 'length'),
      ],
      outputs: ['y', 'rest', 'more', 'length'],
    });
    const s = [floats([1], 1), floats([2], 2, 3), floats([0])];
    expect(await run({ s, at: int64(1) })).toEqual([
      '(2): -2 -3',
      '[(1): 1, (0): ]',
      '[(1): 1, (2): 2 3, (2): 2 3, (0): ]',
      '(): 4',
    ]);
    expect(await run({ s, at: int64(-3) })).toEqual([
      '(1): -1',
      '[(2): 2 3, (0): ]',
      '[(1): 1, (1): 1, (2): 2 3, (0): ]',
      '(): 4',
    ]);
    await expect(run({ s, at: int64(3) })).rejects.toThrow(
      'node "x" (SequenceAt): got a position outside of the sequence, expected one from minus the length',
    );
    await expect(run({ s, at: int64(-4) })).rejects.toThrow('a position outside of the sequence');
  });

  test('a loop adds to a sequence that begins empty, and joins it', async () => {
    const body: OnnxGraphSpec = {
      inputs: [scalar('i'), scalar('go', 'bool'), vectors('before', 'k')],
      nodes: [
        node('Cast', ['i'], 'step', { to: 1 }),
        node('Mul', ['x', 'step'], 'scaled'),
        node('SequenceInsert', ['before', 'scaled'], 'after'),
        node('Identity', ['go'], 'still'),
      ],
      outputs: ['still', 'after'],
    };
    const run = await load({
      inputs: [scalar('count'), { name: 'x', shape: ['n'] }],
      nodes: [
        node('SequenceEmpty', [], 'none'),
        node('Loop', ['count', '', 'none'], 'all', { body: { graph: body } }),
        node('ConcatFromSequence', ['all'], 'joined', { axis: 0 }),
        node('ConcatFromSequence', ['all'], 'rows', { axis: -1, new_axis: 1 }),
        node('SequenceLength', ['all'], 'length'),
      ],
      outputs: ['joined', 'rows', 'length'],
    });
    const x = floats([2], 1, 10);
    expect(await run({ count: int64(3), x })).toEqual([
      '(6): 0 0 1 10 2 20',
      '(2,3): 0 1 2 0 10 20',
      '(): 3',
    ]);
    const count = 40;
    const [joined] = await run({ count: int64(count), x: floats([1], 2) });
    expect(joined).toBe(`(40): ${Array.from({ length: count }, (_, i) => 2 * i).join(' ')}`);
    await expect(run({ count: int64(0), x })).rejects.toThrow('outside of the sequence');
  });

  test('parts whose number depends on sizes and on elements', async () => {
    const run = await load({
      inputs: [
        { name: 'x', shape: [2, 'n'] },
        scalar('size'),
        { name: 'sizes', dtype: 'int64', shape: [2] },
      ],
      nodes: [
        node('SplitToSequence', ['x', 'size'], 'a', { axis: -1 }),
        node('SplitToSequence', ['x'], 'b', { axis: 1, keepdims: 0 }),
        node('SplitToSequence', ['x', 'sizes'], 'c', { axis: 1 }),
      ],
      outputs: ['a', 'b', 'c'],
    });
    const x = floats([2, 3], 1, 2, 3, 4, 5, 6);
    expect(await run({ x, size: int64(2), sizes: int64(1, 2) })).toEqual([
      '[(2,2): 1 2 4 5, (2,1): 3 6]',
      '[(2): 1 4, (2): 2 5, (2): 3 6]',
      '[(2,1): 1 4, (2,2): 2 3 5 6]',
    ]);
  });

  test('a body for the elements of two sequences and a tensor, with two outputs', async () => {
    const body: OnnxGraphSpec = {
      inputs: ['a', 'b', 'c'].map((name) => ({ name, shape: ['k'] })),
      nodes: [
        node('Mul', ['a', 'b'], 'product'),
        node('Add', ['product', 'c'], 'shifted'),
        node('Concat', ['a', 'outside'], 'longer', { axis: 0 }),
      ],
      outputs: ['shifted', 'longer'],
    };
    const run = await load({
      inputs: [vectors('s', 'n'), vectors('t', 'm'), { name: 'z', shape: [1] }],
      nodes: [
        node('Neg', ['z'], 'outside'),
        node('SequenceMap', ['s', 't', 'z'], 'u v', { body: { graph: body } }),
      ],
      outputs: ['u', 'v'],
    });
    const s = [floats([1], 2), floats([2], 3, 4)];
    const z = floats([1], 1);
    expect(await run({ s, t: [floats([1], 5), floats([2], 6, 7)], z })).toEqual([
      '[(1): 11, (2): 19 29]',
      '[(2): 2 -1, (3): 3 4 -1]',
    ]);
    expect(await run({ s: [], t: [], z })).toEqual(['[]', '[]']);
    await expect(run({ s, t: [floats([1], 5)], z })).rejects.toThrow(
      'node "u" (SequenceMap): got sequences of different lengths, expected one length',
    );
  });

  test('an optional input that may be missing', async () => {
    const branch = (nodes: readonly OnnxNodeSpec[]): { graph: OnnxGraphSpec } => ({
      graph: { nodes, outputs: ['y'] },
    });
    const run = await load({
      inputs: [
        { name: 'x', shape: ['n'] },
        { name: 'o', shape: ['m'], of: ['optional'] },
      ],
      nodes: [
        node('OptionalHasElement', ['o'], 'has'),
        node('If', ['has'], 'y', {
          then_branch: branch([
            node('OptionalGetElement', ['o'], 'inner'),
            node('Concat', ['x', 'inner'], 'y', { axis: 0 }),
          ]),
          else_branch: branch([node('Neg', ['x'], 'y')]),
        }),
      ],
      outputs: ['has', 'y'],
    });
    const x = floats([1], 1);
    expect(await run({ x, o: { element: floats([2], 2, 3) } })).toEqual(['(): 1', '(3): 1 2 3']);
    expect(await run({ x, o: { element: undefined } })).toEqual(['(): 0', '(1): -1']);
    const get = await load({
      inputs: [{ name: 'o', shape: ['m'], of: ['optional'] }],
      nodes: [node('OptionalGetElement', ['o'], 'y')],
      outputs: ['y'],
    });
    await expect(get({ o: { element: undefined } })).rejects.toThrow(
      'node "y" (OptionalGetElement): got an optional value without an element, expected one with it',
    );
  });

  test('branches give sequences of different lengths and an optional value or none', async () => {
    const run = await load({
      inputs: [scalar('c', 'bool'), { name: 'x', shape: ['n'] }],
      nodes: [
        node('Neg', ['x'], 'minus'),
        node('If', ['c'], 's o', {
          then_branch: {
            graph: {
              nodes: [
                node('SequenceConstruct', ['x', 'minus', 'x'], 'a'),
                node('Optional', ['x'], 'p'),
              ],
              outputs: ['a', 'p'],
            },
          },
          else_branch: {
            graph: {
              nodes: [
                node('SequenceEmpty', [], 'b'),
                node('Optional', [], 'q', { type: { valueType: { shape: ['k'] } } }),
              ],
              outputs: ['b', 'q'],
            },
          },
        }),
        node('SequenceInsert', ['s', 'x'], 't'),
      ],
      outputs: ['t', 'o'],
    });
    const x = floats([1], 4);
    expect(await run({ c: bool(true), x })).toEqual([
      '[(1): 4, (1): -4, (1): 4, (1): 4]',
      'Some (1): 4',
    ]);
    expect(await run({ c: bool(false), x })).toEqual(['[(1): 4]', 'None']);
  });

  test('tensors of several ranks', async () => {
    const run = await load({
      inputs: [
        { name: 'x', shape: ['n'] },
        { name: 's', shape: [], isUnranked: true, of: ['sequence'] },
      ],
      nodes: [
        node('Unsqueeze', ['x', 'zero'], 'row'),
        node('SequenceConstruct', ['x', 'row'], 'known'),
        node('SequenceAt', ['known', 'one'], 'second'),
        node('Neg', ['second'], 'y'),
        node('SequenceInsert', ['s', 'row', 'zero'], 't'),
      ],
      initializers: { zero: int64(0), one: int64(1) },
      outputs: ['known', 'y', 't'],
    });
    expect(await run({ x: floats([2], 1, 2), s: [floats([1], 7), floats([], 8)] })).toEqual([
      '[(2): 1 2, (1,2): 1 2]',
      '(1,2): -1 -2',
      '[(1,2): 1 2, (1): 7, (): 8]',
    ]);
  });
});

describe('sequences that are refused', () => {
  const refused = (graph: OnnxGraphSpec) => () =>
    importOnnx(writeOnnxModel({ opset: 21, ...graph }));
  const x: OnnxInputSpec = { name: 'x', shape: [2] };

  test.each<[title: string, nodes: readonly OnnxNodeSpec[], message: string]>([
    [
      'a position behind the end',
      [node('SequenceConstruct', ['x'], 's'), node('SequenceAt', ['s', 'two'], 'y')],
      'node "y" (SequenceAt): got position 2 of a sequence of 1, expected -1 to 0.',
    ],
    [
      'an operator of tensors',
      [node('SequenceConstruct', ['x'], 's'), node('Neg', ['s'], 'y')],
      'node "y" (Neg): got a sequence as an operand, expected a tensor.',
    ],
    [
      'a tensor where a sequence belongs',
      [node('SequenceLength', ['x'], 'y')],
      'node "y" (SequenceLength): got an input that is not a sequence, expected a sequence.',
    ],
    [
      'two dtypes',
      [node('SequenceConstruct', ['x', 'two'], 'y')],
      'node "y" (SequenceConstruct): got a tensor of int64 in a sequence of float32, expected tensors of one dtype.',
    ],
    [
      'nothing to concatenate',
      [node('SequenceEmpty', [], 's'), node('ConcatFromSequence', ['s'], 'y', { axis: 0 })],
      'node "y" (ConcatFromSequence): got an empty sequence, expected one tensor or more.',
    ],
    [
      'no element',
      [
        node('Optional', [], 'o', { type: { valueType: { shape: [2] } } }),
        node('OptionalGetElement', ['o'], 'y'),
      ],
      'node "y" (OptionalGetElement): got an optional value without an element, expected one with it.',
    ],
    [
      'neither element nor type',
      [node('Optional', [], 'y')],
      'node "y" (Optional): got neither an input nor a type, expected one of them.',
    ],
    [
      'a size of parts of 0',
      [node('SplitToSequence', ['x', 'zero'], 'y')],
      'node "y" (SplitToSequence): got split size 0, expected 1 or more.',
    ],
    [
      'sizes of parts with another sum',
      [node('SplitToSequence', ['x', 'sizes'], 'y')],
      'node "y" (SplitToSequence): got split sizes 2, 2, expected sizes from 0 up whose sum is 2.',
    ],
  ])('%s', (_, nodes, message) => {
    const initializers = { two: int64(2), zero: int64(0), sizes: int64(2, 2) };
    expect(refused({ inputs: [x], nodes, initializers, outputs: ['y'] })).toThrow(message);
  });

  test('an element whose rank only the running program knows, as an operand', () => {
    const s: OnnxInputSpec = { name: 's', shape: [], isUnranked: true, of: ['sequence'] };
    const nodes = [node('SequenceAt', ['s', 'zero'], 'e'), node('Neg', ['e'], 'y')];
    expect(
      refused({ inputs: [s], nodes, initializers: { zero: int64(0) }, outputs: ['y'] }),
    ).toThrow(
      'node "y" (Neg): got a tensor whose rank only the running program knows as an operand, expected a tensor.',
    );
  });
});
