import { expect, test } from 'vitest';
import { CompileLimitError, WeftError } from '../core/errors.ts';
import type { Dim } from '../core/dims/dim.ts';
import { compile } from './compile.ts';
import {
  constructorPattern,
  func,
  match,
  moduleOf,
  tuplePattern,
  variableOf,
  wildcard,
} from './ir/build.ts';
import type { Module, Pattern } from './ir/expr.ts';
import { moduleFromJson, moduleToJson } from './ir/json/json.ts';
import { parseModule } from './ir/text/parse.ts';
import { printModule } from './ir/text/print.ts';
import { verifyModule } from './verify/verify-module.ts';
import { inferModule } from './inference/infer-module.ts';
import { INT_TYPE, type Type } from './ir/type.ts';

const DEPTH = 10_000;

function nested(open: string, inner: string, close: string): string {
  return open.repeat(DEPTH) + inner + close.repeat(DEPTH);
}

/** Applies a step to a seed as many times as things are nested here. */
function grown<T>(seed: T, step: (inner: T) => T): T {
  let value = seed;
  for (let i = 0; i < DEPTH; i++) value = step(value);
  return value;
}

const withParam = (type: string): string => `def @main(%x: ${type}) -> int { #1 }`;
const withBody = (body: string): string =>
  `def @id(%v: int) -> int { %v }\ndef @main(%x: int, %l: List[int]) { ${body} }`;

const texts: [string, string][] = [
  ['tuples', withParam(nested('(', 'int', ',)'))],
  ['parentheses around a type', withParam(nested('(', 'int', ')'))],
  ['functions that take functions', withParam(nested('fn (', 'int', ') -> int'))],
  ['functions that give functions', withParam(nested('fn () -> ', 'int', ''))],
  ['data', withParam(nested('List[', 'int', ']'))],
  [
    'fields of constructors',
    `type Deep { Deep(${nested('(', 'int', ',)')}) }\n${withParam('Deep')}`,
  ],
  ['results', `def @main(%x: int) -> ${nested('(', 'int', ',)')} { %x }`],
  ['a let', withBody(`let %y: ${nested('(', 'int', ',)')} = %x; %y`)],
  ['type arguments', withBody(`stop<${nested('(', 'int', ',)')}>(message="no")`)],
  ['dimensions', withParam(`Tensor[(n, ${nested('n + (', 'n', ')')}), float32]`)],
  ['parentheses around a dimension', withParam(`Tensor[(${nested('(', 'n', ')')},), float32]`)],
  ['max of dimensions', withParam(`Tensor[(n, ${nested('max(n, ', 'n', ')')}), float32]`)],
  ['a long sum', withParam(`Tensor[(n, ${nested('n + ', 'n', '')}), float32]`)],
  [
    'dimensions of attributes',
    `def @main(%x: Tensor[(n,), float32]) { full(shape=[${nested('n + (', 'n', ')')}], value=1) }`,
  ],
  ['lists of attributes', withBody(`full(shape=${nested('[', '1', ']')}, value=1)`)],
  ['literals', withBody(nested('[', '1f', ']'))],
  ['patterns of tuples', withBody(`match (%x) { ${nested('(', '_', ',)')} => %x }`)],
  ['parentheses around a pattern', withBody(`match (%x) { ${nested('(', '%y', ')')} => %y }`)],
  ['patterns of lists', withBody(`match? (%l) { ${nested('Cons(_, ', '_', ')')} => %x }`)],
  ['patterns of options', withBody(`match? (%l) { ${nested('Some(', '_', ')')} => %x }`)],
];

const expressions: [string, string][] = [
  ['tuples of values', withBody(nested('(', '%x', ',)'))],
  ['parentheses', withBody(nested('(', '%x', ')'))],
  ['calls', withBody(nested('@id(', '%x', ')'))],
  ['operators', withBody(nested('int_add(%x, ', '%x', ')'))],
  ['lists', withBody(nested('Cons(%x, ', 'Nil', ')'))],
  ['closures', withBody(nested('fn () { ', '%x', ' }'))],
  ['calls of closures', withBody(nested('fn () { ', '%x', ' }()'))],
  ['projections', withBody(`%x${'.0'.repeat(DEPTH)}`)],
  ['branches', withBody(nested('if (%x) { ', '%x', ' } else { %x }'))],
  ['clauses', withBody(nested('match (%x) { _ => ', '%x', ' }'))],
  ['pairs', withBody(nested('(%x, ', '%x', ')'))],
];

/** Reads a text and writes it again: deep-programs.test.ts compiles less deep ones. */
function reads(text: string): void {
  const module = parseModule(text);
  printModule(module);
  moduleFromJson(moduleToJson(module));
}

/** Ends with a result or with an error of the project, which says where. */
function compiles(module: () => Module): void {
  try {
    compile(module());
  } catch (thrown) {
    if (!(thrown instanceof WeftError)) throw thrown;
    expect(thrown.message).toMatch(/^\S/);
  }
}

test.each(texts)('text nested 10,000 deep: %s', (_, text) => {
  compiles(() => parseModule(text));
});

test.each(expressions)('expressions nested 10,000 deep are read and written: %s', (_, text) => {
  reads(text);
});

const types: [string, (inner: Type) => Type][] = [
  ['tuples', (inner) => ({ kind: 'tuple', fields: [inner] })],
  [
    'functions that take functions',
    (inner) => ({ kind: 'function', params: [inner], result: INT_TYPE }),
  ],
  ['functions that give functions', (inner) => ({ kind: 'function', params: [], result: inner })],
  ['data', (inner) => ({ kind: 'adt', name: 'List', args: [inner] })],
];

const built: [string, () => Module][] = [
  ...types.flatMap(([name, step]): [string, () => Module][] => {
    const x = variableOf('x', grown<Type>(INT_TYPE, step));
    const definition = {
      name: 'List',
      params: ['A'],
      constructors: [{ name: 'Nil', fields: [] }],
    };
    const main = func([x], x);
    return [
      [name, () => moduleOf({ main }, {}, [definition])],
      [
        `${name} as results`,
        () =>
          moduleOf(
            {
              main: {
                ...func([variableOf('y', INT_TYPE)], variableOf('y', INT_TYPE)),
                resultType: grown<Type>(INT_TYPE, step),
              },
            },
            {},
            [definition],
          ),
      ],
      [
        `${name} in data`,
        () =>
          moduleOf({ main: func([], variableOf('y')) }, {}, [
            definition,
            {
              name: 'Deep',
              params: [],
              constructors: [{ name: 'Deep', fields: [grown<Type>(INT_TYPE, step)] }],
            },
          ]),
      ],
    ];
  }),
  [
    'dimensions',
    () => {
      const dim = grown<Dim>('n', (right) => ({ op: 'add', left: 'n', right }));
      const x = variableOf('x', { kind: 'tensor', dtype: 'float32', shape: ['n', dim] });
      return moduleOf({ main: func([x], x) });
    },
  ],
  [
    'sums to the left',
    () => {
      const dim = grown<Dim>('n', (left) => ({ op: 'max', left, right: 'n' }));
      const x = variableOf('x', { kind: 'tensor', dtype: 'float32', shape: ['n', dim] });
      return moduleOf({ main: func([x], x) });
    },
  ],
  ...[
    ['tuples', (inner: Pattern) => tuplePattern([inner])] as const,
    ['constructors', (inner: Pattern) => constructorPattern('Some', [inner])] as const,
  ].map(([name, step]): [string, () => Module] => [
    `patterns of ${name}`,
    () => {
      const x = variableOf('x', INT_TYPE);
      return moduleOf({ main: func([x], match(x, [[grown<Pattern>(wildcard(), step), x]])) });
    },
  ]),
];

test.each(built)('a module nested 10,000 deep: %s', (name, module) => {
  const made = module();
  for (const walk of [compile, printModule, moduleToJson, inferModule, verifyModule]) {
    if (name.startsWith('patterns') && walk === moduleToJson) {
      walk(made);
      continue;
    }
    expect(() => walk(made)).toThrow(
      /^(@main|type Deep, constructor Deep): got a (type|dimension|pattern) of more than/,
    );
    expect(() => walk(made)).toThrow(CompileLimitError);
  }
});

/** A module that gives its parameter back, as JSON of nodes before those of the function. */
function jsonOf(nodes: readonly object[], type: number, body: readonly object[] = []): unknown {
  const x = { node: 'expr.var', name: 'x', type };
  const at = nodes.length;
  const main = { node: 'expr.function', params: [at], body: at + body.length, attributes: {} };
  return {
    format: 'weft-ir',
    version: 1,
    functions: [['main', at + body.length + 1]],
    types: [],
    metadata: {},
    nodes: [...nodes, x, ...body, main],
    tensors: [],
  };
}

const INT = { node: 'type.scalar', scalar: 'int' };
const chain = (node: string, from: number): object[] =>
  Array.from({ length: DEPTH }, (_, i) => ({ node, fields: [from + i] }));

test('JSON of types nested 10,000 deep', () => {
  const json = jsonOf([INT, ...chain('type.tuple', 0)], DEPTH);
  expect(() => moduleFromJson(json)).toThrow('node 500: got a type more than 500 levels deep');
});

test('JSON of dimensions nested 10,000 deep', () => {
  const dim = grown<Dim>('n', (right) => ({ op: 'add', left: 'n', right }));
  const json = jsonOf([{ node: 'type.tensor', dtype: 'float32', shape: [dim] }], 0);
  expect(() => moduleFromJson(json)).toThrow(
    'node 0, type.tensor.shape: got data that is deeply nested',
  );
});

test('JSON of patterns nested 10,000 deep', () => {
  const patterns = [{ node: 'pattern.wildcard' }, ...chain('pattern.tuple-pattern', 1)];
  const at = patterns.length + 1;
  const json = jsonOf([INT, ...patterns], 0, [
    { node: 'clause', pattern: at - 1, body: at },
    { node: 'expr.match', value: at, clauses: [at + 1], complete: true },
  ]);
  expect(() => compile(moduleFromJson(json))).toThrow(
    '@main: got a pattern of more than 500 levels',
  );
});

test('a type that doubles with each let is a typed error with its place', () => {
  const lets = Array.from({ length: 20 }, (_, i) => `let %p${i + 1} = (%p${i}, %p${i});\n`);
  const text = `def @main(%p0: int) -> int {\n${lets.join('')}%p0 }`;
  expect(() => compile(parseModule(text))).toThrow(
    /^ir:1[78]:\d+: got a type of more than 100000 parts, expected fewer\. Put what repeats/,
  );
});
