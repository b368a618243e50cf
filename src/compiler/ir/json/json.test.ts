import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FormatError } from '../../../core/errors.ts';
import { HostTensor } from '../../../core/tensor/host-tensor.ts';
import { seededRandom } from '../../../core/random.ts';
import { compile } from '../../compile.ts';
import {
  call,
  constant,
  func,
  letIn,
  moduleOf,
  scalar,
  tuple,
  variable,
  variableOf,
} from '../build.ts';
import type { Expr, Module } from '../expr.ts';
import { moduleFromJson, moduleToJson } from './json.ts';
import { randomModule } from '../../testing/random-module.ts';
import { equalModules } from '../walk/structural-equal.ts';

const copy = (module: Module): Module =>
  moduleFromJson(JSON.parse(JSON.stringify(moduleToJson(module))));
const x = variable('x', 'float32', ['n', { op: 'mul', left: 'n', right: 2 }]);

test('a small module', () => {
  const relu = call('clip', [x], { min: -0, max: Infinity }, { source: 'Relu_0' });
  const module = moduleOf(
    { main: func([x], tuple([relu, relu, scalar(1.5)])) },
    { producer: 'me' },
  );
  expect(moduleToJson(module)).toMatchInlineSnapshot(`
    {
      "format": "weft-ir",
      "functions": [
        [
          "main",
          6,
        ],
      ],
      "metadata": {
        "producer": "me",
      },
      "nodes": [
        {
          "dtype": "float32",
          "node": "type.tensor",
          "shape": [
            "n",
            {
              "left": "n",
              "op": "mul",
              "right": 2,
            },
          ],
        },
        {
          "name": "x",
          "node": "expr.var",
          "type": 0,
        },
        {
          "name": "clip",
          "node": "expr.operator",
        },
        {
          "args": [
            1,
          ],
          "attributes": {
            "max": {
              "number": "Infinity",
            },
            "min": {
              "number": "-0",
            },
          },
          "callee": 2,
          "node": "expr.call",
          "span": {
            "source": "Relu_0",
          },
        },
        {
          "node": "expr.constant",
          "value": 0,
        },
        {
          "fields": [
            3,
            3,
            4,
          ],
          "node": "expr.tuple",
        },
        {
          "attributes": {},
          "body": 5,
          "node": "expr.function",
          "params": [
            1,
          ],
        },
      ],
      "tensors": [
        {
          "data": "AADAPw==",
          "dtype": "float32",
          "shape": [],
        },
      ],
      "types": [],
      "version": 1,
    }
  `);
});

test('random modules come back whole', () => {
  fc.assert(
    fc.property(fc.integer(), (seed) => {
      const module = randomModule({ random: seededRandom(seed) });
      const again = copy(module);
      expect(equalModules(again, module)).toBe(true);
      expect(moduleToJson(again)).toEqual(moduleToJson(module));
      expect([...again.functions.keys()]).toEqual([...module.functions.keys()]);
    }),
    { numRuns: 100, seed: 5 },
  );
});

test('modules come back whole after every pass', () => {
  for (let seed = 0; seed < 20; seed++) {
    const module = randomModule({ random: seededRandom(seed), annotated: true, names: ['x', 'y'] });
    compile(module, {
      dump: (pass, after) => {
        expect(equalModules(copy(after), after), `seed ${seed}, ${pass}`).toBe(true);
      },
    });
  }
});

test('constants of every size come back to the byte', () => {
  const large = HostTensor.from(
    'float32',
    [100, 1000],
    Array.from({ length: 1e5 }, (_, i) => i / 7),
  );
  const splat = HostTensor.splat('int64', [1 << 20, 1 << 20], -5n);
  const body = tuple([constant(large), constant(large), constant(splat), scalar(NaN)]);
  const module = moduleOf({ main: func([], body) });
  expect(moduleToJson(module).tensors).toHaveLength(3);
  expect(equalModules(copy(module), module)).toBe(true);
});

test('10,000 shared nodes in 10,000 lets', () => {
  let body: Expr = x;
  for (let i = 0; i < 10_000; i++) body = call('add', [body, body]);
  for (let i = 0; i < 10_000; i++) body = letIn(variableOf('y'), body, body);
  const module = moduleOf({ main: func([x], body) });
  expect(equalModules(copy(module), module)).toBe(true);
});

describe('what is no module is refused', () => {
  const good = (): Record<string, unknown> =>
    JSON.parse(JSON.stringify(moduleToJson(moduleOf({ main: func([x], call('relu', [x])) }))));
  const withNode = (node: unknown): unknown => ({ ...good(), nodes: [node] });

  test.each<[string, unknown]>([
    ['no object', 3],
    ['another version', { ...good(), version: 2 }],
    ['no list of nodes', { ...good(), nodes: 'none' }],
    ['an unknown kind', withNode({ node: 'expr.loop' })],
    ['a field that is missing', withNode({ node: 'expr.var' })],
    ['a field too many', withNode({ node: 'expr.int', value: 1, unit: 's' })],
    ['a node that comes later', withNode({ node: 'expr.tuple', fields: [0] })],
    ['an unknown dtype', withNode({ node: 'type.tensor', dtype: 'float7', shape: [] })],
    ['a shape of fractions', withNode({ node: 'type.tensor', dtype: 'bool', shape: [0.5] })],
    ['an integer beyond 2^53', withNode({ node: 'expr.int', value: 2 ** 60 })],
    ['a tensor that there is not', withNode({ node: 'expr.constant', value: 0 })],
    [
      'a binder that is no variable',
      {
        ...good(),
        nodes: [
          { node: 'expr.int', value: 1 },
          { node: 'expr.let', variable: 0, value: 0, body: 0 },
        ],
      },
    ],
    ['a function that is none', { ...good(), functions: [['main', 0]] }],
    ['a type that is none', { ...good(), types: [0] }],
    ['metadata of numbers', { ...good(), metadata: { a: 1 } }],
    ['too few bytes', { ...good(), tensors: [{ dtype: 'int8', shape: [3], data: 'AAA=' }] }],
    ['no base64', { ...good(), tensors: [{ dtype: 'int8', shape: [3], data: '§' }] }],
    ['a negative dimension', { ...good(), tensors: [{ dtype: 'int8', shape: [-3], data: '' }] }],
  ])('%s', (_, json) => {
    let message = '';
    try {
      moduleFromJson(json);
    } catch (thrown) {
      expect(thrown).toBeInstanceOf(FormatError);
      message = String(thrown);
    }
    expect(message).toMatchSnapshot();
  });

  test('JSON with parts changed at random is a module or a FormatError', () => {
    const random = seededRandom(11);
    for (let seed = 0; seed < 40; seed++) {
      const json = moduleToJson(randomModule({ random: seededRandom(seed), size: 10 }));
      for (let i = 0; i < 25; i++) {
        const changed = JSON.parse(JSON.stringify(json), (_, value: unknown) => {
          if (random() > 0.005) return value;
          return [null, -1, 'x', [], {}, 7, true][Math.floor(random() * 7)];
        });
        try {
          moduleFromJson(changed);
        } catch (thrown) {
          expect(thrown).toBeInstanceOf(FormatError);
        }
      }
    }
  });
});
