import { describe, expect, test } from 'vitest';
import { lesser, plus, times } from './address.ts';
import type { FunctionGroup } from './encode-module.ts';
import { apply, type Expression, i32, load, type Local, local, select } from './expression.ts';
import { call, increment, loop, set, type Statement, store, when } from './statement.ts';
import { widenAddresses } from './widen-addresses.ts';

/** A text of functions, whose locals are named by their order and type. */
function print(group: FunctionGroup): string {
  const names = new Map<symbol, string>();
  const nameOf = ({ id, type }: Local): string => {
    const name = names.get(id) ?? `${type}#${names.size}`;
    names.set(id, name);
    return name;
  };
  const text = (expression: Expression): string => {
    switch (expression.kind) {
      case 'local':
        return nameOf(expression);
      case 'constant':
        return `${expression.type} ${String(expression.value)}`;
      case 'operation':
        return `${expression.name}(${expression.operands.map(text).join(', ')})`;
      case 'load':
        return `load(${text(expression.address)} +${expression.offset})`;
      case 'select':
        return `(${text(expression.condition)} ? ${text(expression.whenTrue)} : ${text(expression.whenFalse)})`;
      default:
        throw new Error(`no text of ${expression.kind}`);
    }
  };
  const lines = (statement: Statement): string[] => {
    switch (statement.kind) {
      case 'set':
        return [`${nameOf(statement.target)} = ${text(statement.value)}`];
      case 'store':
        return [`store(${text(statement.address)} +${statement.offset}, ${text(statement.value)})`];
      case 'loop':
        return [
          `loop ${nameOf(statement.index)} from ${text(statement.begin)} to ${text(statement.end)}`,
          ...statement.body.flatMap(lines).map((line) => `  ${line}`),
        ];
      case 'if':
        return [
          `if ${text(statement.condition)}`,
          ...statement.whenTrue.flatMap(lines).map((line) => `  ${line}`),
        ];
      case 'call':
        return [`${statement.name}(${statement.args.map(text).join(', ')})`];
      default:
        return statement satisfies never;
    }
  };
  return group
    .map(({ name, params, body }) =>
      [
        `${name}(${params.map(nameOf).join(', ')})`,
        ...body.flatMap(lines).map((line) => `  ${line}`),
      ].join('\n'),
    )
    .join('\n');
}

/** `main(from, to, count)`, of which the first two are addresses. */
function widen(
  body: (from: Local, to: Local, count: Local) => readonly Statement[],
  others: FunctionGroup = [],
): string {
  const [from, to, count] = [local('i32'), local('i32'), local('i32')];
  const main = { name: 'main', params: [from, to, count], body: body(from, to, count) };
  return print(widenAddresses([...others, main], [from, to]));
}

describe('addresses become i64', () => {
  test('by what is added to parameters, and by assignments', () => {
    const [index, pointer] = [local('i32'), local('i32')];
    const text = widen((from, to, count) => [
      set(pointer, plus(from, -8)),
      ...loop({ index, end: count }, [
        store('i32', { address: plus(to, times(index, 12)), offset: 4 }, load('i32', pointer, 16)),
        increment(pointer, plus(count, 4)),
      ]),
    ]);
    expect(text).toMatchInlineSnapshot(`
      "main(f64#0, f64#1, i32#2)
        i64#3 = i64.trunc_sat_f64_u(f64#0)
        i64#4 = i64.trunc_sat_f64_u(f64#1)
        i64#5 = i64.add(i64#3, i64 -8)
        loop i32#6 from i32 0 to i32#2
          store(i64.add(i64#4, i64.extend_i32_s(i32.mul(i32#6, i32 12))) +4, load(i64#5 +16))
          i64#5 = i64.add(i64#5, i64.extend_i32_s(i32.add(i32#2, i32 4)))"
    `);
  });

  test('in choices, comparisons and differences', () => {
    const [pointer, end] = [local('i32'), local('i32')];
    const text = widen((from, to, count) => [
      set(end, plus(from, times(lesser(count, 9), 4))),
      set(pointer, select(apply('i32.lt_u', from, end), from, to)),
      store('i32', { address: to }, apply('i32.sub', end, pointer)),
      ...when(apply('i32.eqz', apply('i32.sub', count, i32(1))), [
        store('i32', { address: apply('i32.sub', end, count) }, count),
      ]),
      ...when(end, [store('i32', { address: end }, count)]),
    ]);
    expect(text).toMatchInlineSnapshot(`
      "main(f64#0, f64#1, i32#2)
        i64#3 = i64.trunc_sat_f64_u(f64#0)
        i64#4 = i64.trunc_sat_f64_u(f64#1)
        i64#5 = i64.add(i64#3, i64.extend_i32_s(i32.shl((i32.lt_s(i32#2, i32 9) ? i32#2 : i32 9), i32 2)))
        i64#6 = (i64.lt_u(i64#3, i64#5) ? i64#3 : i64#4)
        store(i64#4 +0, i32.wrap_i64(i64.sub(i64#5, i64#6)))
        if i32.eqz(i32.add(i32#2, i32 -1))
          store(i64.sub(i64#5, i64.extend_i32_s(i32#2)) +0, i32#2)
        if i64.ne(i64#5, i64 0)
          store(i64#5 +0, i32#2)"
    `);
  });

  test('in functions that are called, whatever their order; those that are not go', () => {
    const [to, value, other, unused] = [local('i32'), local('i32'), local('i32'), local('i32')];
    const others: FunctionGroup = [
      { name: 'put', params: [to, value], body: [store('i32', { address: to }, value)] },
      { name: 'never', params: [unused], body: [increment(unused, 4)] },
      { name: 'outer', params: [other], body: [call('put', [plus(other, 4), i32(7)])] },
    ];
    const text = widen(
      (from, _, count) => [call('outer', [from]), call('put', [i32(0), count])],
      others,
    );
    expect(text).toMatchInlineSnapshot(`
      "put(i64#0, i32#1)
        store(i64#0 +0, i32#1)
      outer(i64#2)
        put(i64.add(i64#2, i64 4), i32 7)
      main(f64#3, f64#4, i32#5)
        i64#6 = i64.trunc_sat_f64_u(f64#3)
        i64#7 = i64.trunc_sat_f64_u(f64#4)
        outer(i64#6)
        put(i64 0, i32#5)"
    `);
  });
});

describe('an internal error says', () => {
  test.each<[string, (from: Local, to: Local, count: Local) => readonly Statement[], string]>([
    [
      'that an address is used as a number',
      (from, to) => [store('i32', { address: to }, times(from, 3))],
      'internal: main uses an address as a number',
    ],
    [
      'that an address is kept in memory',
      (from, to) => [store('i32', { address: to }, from)],
      'internal: main uses an address as a number',
    ],
    [
      'that a loop counts by an address',
      (from, to, count) => loop({ index: local('i32'), begin: from, end: count }, [set(to, from)]),
      'internal: main uses an address as a number',
    ],
    [
      'that memory is read at a sum of numbers',
      (_, to, count) => [store('i32', { address: to }, load('i32', plus(count, times(count, 4))))],
      'internal: main takes i32.add for an address',
    ],
    [
      'that memory is read at what memory holds',
      (from, to) => [store('i32', { address: to }, load('i32', load('i32', from)))],
      'internal: main takes a load i32 for an address',
    ],
    [
      'that two addresses are added',
      (from, to) => [store('i32', { address: plus(from, to) }, i32(1))],
      'internal: main uses an address as a number',
    ],
    [
      'that an address is set to a number',
      (from, _, count) => [set(from, count), store('i32', { address: from }, i32(1))],
      'internal: main takes a local i32 for an address',
    ],
  ])('%s', (_, body, message) => {
    expect(() => widen(body)).toThrow(message);
  });
});
