import { describe, expect, test } from 'vitest';
import { WeftError } from '../../core/errors.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { seededRandom } from '../../core/random.ts';
import { compile } from '../compile.ts';
import {
  call,
  callFunction,
  constant,
  constructorPattern,
  func,
  global,
  ifElse,
  int,
  letIn,
  match,
  moduleOf,
  projection,
  scalar,
  tuple,
  variable,
  variableOf,
  wildcard,
} from '../ir/build.ts';
import type { Expr, FunctionExpr, Module } from '../ir/expr.ts';
import { randomModule } from '../testing/random-module.ts';
import { INT_TYPE, type TypeDefinition } from '../ir/type.ts';
import { eliminateCommonSubexpressions } from '../passes/eliminate-common-subexpressions.ts';
import { inferTypes } from '../passes/infer-types.ts';
import { toAnf } from '../passes/to-anf.ts';
import { toGraph } from '../passes/to-graph.ts';
import { TypeInference } from '../inference/type-inference.ts';
import { verifyModule } from './verify-module.ts';

const x = variable('x', 'float32', [4]);
const relu = call('relu', [x]);
const LIST: TypeDefinition = {
  name: 'List',
  params: ['A'],
  constructors: [
    {
      name: 'Cons',
      fields: [
        { kind: 'type-var', name: 'A' },
        { kind: 'adt', name: 'List', args: [{ kind: 'type-var', name: 'A' }] },
      ],
    },
    { name: 'Nil', fields: [] },
  ],
};

const main = (body: Expr): Module => moduleOf({ main: func([x], body) }, {}, [LIST]);

function complaint(module: Module): string {
  try {
    verifyModule(module);
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(WeftError);
    return String(thrown);
  }
  return 'none';
}

describe('rules', () => {
  const y = variable('y', 'float32', [4]);
  const shared = call('neg', [y]);

  test.each<[string, Module]>([
    ['a variable that nothing binds', main(call('relu', [y]))],
    ['a variable outside its let', main(tuple([letIn(y, relu, y), y]))],
    ['a shared node that leaves its let', main(tuple([letIn(y, relu, shared), shared]))],
    ['a variable in the value of its own let', main(letIn(y, call('relu', [y]), y))],
    ['a variable outside its function', main(tuple([func([y], y), shared]))],
    ['a variable of the other branch', main(ifElse(int(1), letIn(y, relu, y), y))],
    [
      'a variable of another clause',
      main(
        match(callFunction({ kind: 'constructor', name: 'Nil' }, []), [
          [constructorPattern('Cons', [y, wildcard()]), y],
          [wildcard(), y],
        ]),
      ),
    ],
    ['a variable that is bound twice', main(letIn(y, relu, letIn(y, relu, y)))],
    ['an operator that there is not', main(call('frobnicate', [x]))],
    ['an operator as a value', main(tuple([{ kind: 'operator', name: 'relu' }]))],
    ['too many operands', main(call('relu', [x, x]))],
    ['too few operands of a scalar operator', main(call('int_add', [int(1)]))],
    ['an unknown attribute', main(call('relu', [x], { slope: 1 }))],
    ['an attribute of another type', main(call('softmax', [x], { axis: 'last' }))],
    ['a missing attribute', main(call('dim', [x]))],
    ['a function that there is not', main(callFunction(global('other'), [x]))],
    ['arguments of a global function', main(callFunction(global('main'), []))],
    ['arguments of a function', main(callFunction(func([], int(1)), [x]))],
    [
      'a constructor that there is not',
      main(callFunction({ kind: 'constructor', name: 'Leaf' }, [])),
    ],
    ['fields of a constructor', main(callFunction({ kind: 'constructor', name: 'Cons' }, [x]))],
    ['fields of a pattern', main(match(x, [[constructorPattern('Nil', [wildcard()]), x]]))],
    ['a match without clauses', main(match(x, []))],
    [
      'attributes for a function',
      main({ ...callFunction(global('main'), [x]), attributes: { a: 1 } }),
    ],
    ['an integer beyond 2^53', main(int(2 ** 60))],
    ['a negative field', main(projection(tuple([x]), -1))],
    [
      'a type that there is not',
      main(letIn(variableOf('t', { kind: 'adt', name: 'Tree', args: [] }), x, x)),
    ],
    [
      'arguments of a type',
      main(letIn(variableOf('t', { kind: 'adt', name: 'List', args: [] }), x, x)),
    ],
    [
      'a type parameter out of scope',
      main(letIn(variableOf('t', { kind: 'type-var', name: 'A' }), x, x)),
    ],
    [
      'a primitive function with a captured variable',
      main(callFunction(func([], relu, { primitive: 'relu' }), [])),
    ],
    ['an if on a vector', main(ifElse(x, x, x))],
    ['branches of different types', main(ifElse(int(1), x, int(2)))],
    ['a let of another type', main(letIn(variableOf('t', INT_TYPE), x, x))],
    [
      'operands that do not broadcast',
      main(call('add', [x, constant(HostTensor.zeros('float32', [3]))])),
    ],
  ])('%s', (_, module) => {
    expect(complaint(module)).toMatchSnapshot();
  });

  test('constructors with one name, and a type under another', () => {
    const twice = { ...LIST, name: 'Other' };
    expect(complaint(moduleOf({}, {}, [LIST, twice]))).toMatchSnapshot();
    const renamed = { ...moduleOf({}), types: new Map([['Tree', LIST]]) };
    expect(complaint(renamed)).toMatchSnapshot();
  });

  test('everything that is wrong is told at once, with its place', () => {
    const bad = call(
      'frobnicate',
      [call('relu', [x, x], {}, { source: 'Relu_1' })],
      {},
      {
        source: 'model.ir',
        line: 3,
        column: 5,
      },
    );
    const other: FunctionExpr = func([], callFunction(global('nowhere'), []));
    expect(complaint(moduleOf({ main: func([x], bad), other }))).toMatchInlineSnapshot(`
      "TypeCheckError: model.ir:3:5: got operator frobnicate, expected an operator that Weft has.

      node "Relu_1": got 2 operands of relu, expected 1.

      function @other: got @nowhere, expected a function that the module defines."
    `);
  });
});

describe('what passes make is verified', () => {
  const passes = [
    inferTypes,
    toGraph,
    toAnf,
    inferTypes,
    eliminateCommonSubexpressions,
    toGraph,
    toAnf,
  ];

  test('random modules', () => {
    for (let seed = 0; seed < 100; seed++) {
      let module = randomModule({ random: seededRandom(seed), size: 20 });
      verifyModule(module);
      const context = { types: new TypeInference(module) };
      for (const pass of passes) {
        module = pass.run(module, context);
        expect(() => verifyModule(module), `seed ${seed}, ${pass.name}`).not.toThrow();
      }
    }
  });

  test('the pipeline', () => {
    const y = call('softmax', [call('add', [call('mul', [x, scalar(2)]), relu])], { axis: 0 });
    const seen: string[] = [];
    compile(main(tuple([y, call('reshape', [y], { shape: [2, 2] })])), {
      dump: (pass, module) => {
        seen.push(pass);
        verifyModule(module);
      },
    });
    expect(seen.length).toBeGreaterThan(5);
  });
});

test('10,000 nested lets, closures and shared nodes', () => {
  let body: Expr = x;
  for (let i = 0; i < 10_000; i++) body = call('add', [body, body]);
  for (let i = 0; i < 5000; i++) {
    const y = variableOf('y');
    body = letIn(y, x, callFunction(func([], call('add', [body, y])), []));
  }
  expect(() => verifyModule(main(body), { types: false })).not.toThrow();
});
