import { describe, expect, test } from 'vitest';
import { HostTensor } from '../core/host-tensor.ts';
import { createHostDevice } from '../device/host/host-device.ts';
import type { HostInput } from '../runtime/host-function.ts';
import { AdtValue, TensorValue, type Value } from '../runtime/value.ts';
import { VirtualMachine } from '../runtime/virtual-machine.ts';
import { generateCode } from './codegen.ts';
import {
  call,
  callFunction,
  constructorOf,
  constructorPattern,
  construct,
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
  tuplePattern,
  variable,
  variableOf,
  wildcard,
} from './ir/build.ts';
import type { Expr, FunctionExpr, Module, VarExpr } from './ir/expr.ts';
import { INT_TYPE, tensorType, type Type, type TypeDefinition } from './ir/type.ts';
import { TypeInference } from './type-inference.ts';

const LIST: TypeDefinition = {
  name: 'List',
  params: ['A'],
  constructors: [
    { name: 'Nil', fields: [] },
    {
      name: 'Cons',
      fields: [
        { kind: 'type-var', name: 'A' },
        { kind: 'adt', name: 'List', args: [{ kind: 'type-var', name: 'A' }] },
      ],
    },
  ],
};
const ANY: Type = { kind: 'type-var', name: 'A' };
const F32 = tensorType({ dtype: 'float32', shape: [] });

const intVar = (name: string): VarExpr => variableOf(name, INT_TYPE);
const anyVar = (name: string): VarExpr => variableOf(name, ANY);
const tensorVar = (name: string): VarExpr => variable(name, 'float32', []);

function fn(params: readonly VarExpr[], resultType: Type, body: Expr): FunctionExpr {
  return { ...func(params, body), resultType };
}

/** A kernel call of one operator on scalars. */
function kernel(op: string, args: readonly Expr[]): Expr {
  const params = args.map((_, i) => tensorVar(`p${i}`));
  return callFunction(func(params, call(op, params), { primitive: op }), args);
}

async function load(functions: Record<string, FunctionExpr>) {
  const module: Module = moduleOf(functions, {}, [LIST]);
  const device = createHostDevice();
  const executable = generateCode(module, new TypeInference());
  const vm = await VirtualMachine.create(executable, { devices: [device] });
  const plain = (value: Value): unknown => {
    if (value instanceof TensorValue) return Number(vm.readSync(value)?.elements[0]);
    if (value instanceof AdtValue) return [value.tag, ...value.fields.map(plain)];
    return value;
  };
  /** The result as numbers and lists; everything must be freed when it is released. */
  const run = async (name: string, ...args: HostInput[]): Promise<unknown> => {
    const result = await vm.get(name)(...args);
    const shown = plain(result);
    vm.release(result);
    expect(vm.memory().liveBytes).toBe(constantBytes);
    return shown;
  };
  const constantBytes = vm.memory().liveBytes;
  return { run, vm, device, executable };
}

const number = (value: number): HostTensor => HostTensor.from('float32', [], [value]);

describe('branches', () => {
  const c = intVar('c');
  const d = intVar('d');
  const x = tensorVar('x');
  const y = tensorVar('y');

  test('a tuple returned through an if, as the result and in the middle', async () => {
    const t = variableOf('t', { kind: 'tuple', fields: [F32, F32] });
    const a = tensorVar('a');
    const branch = ifElse(c, tuple([x, y]), letIn(a, kernel('add', [x, y]), tuple([a, x])));
    const first = tensorVar('first');
    const { run, executable } = await load({
      result: fn([c, x, y], t.type ?? ANY, branch),
      middle: fn(
        [c, x, y],
        F32,
        letIn(t, branch, letIn(first, projection(t, 0), kernel('mul', [first, x]))),
      ),
    });
    expect(await run('result', 1, number(2), number(3))).toEqual([0, 2, 3]);
    expect(await run('result', 0, number(2), number(3))).toEqual([0, 5, 2]);
    expect(await run('middle', 1, number(2), number(3))).toBe(4);
    expect(await run('middle', 0, number(2), number(3))).toBe(10);
    expect(executable.toText()).toMatchInlineSnapshot(`
      "weft 1.0

      func result(c: int, x: Tensor[(), float32], y: Tensor[(), float32]) -> (result0: Tensor[(), float32], result1: Tensor[(), float32]) {
         0: %3 = call vm.builtin.alloc_shape_heap(0)
         1: call vm.builtin.check_tensor_info(%1, 0, c[0], c[1])
         2: call vm.builtin.match_shape(%1, %3, 0, c[1])
         3: call vm.builtin.check_tensor_info(%2, 0, c[0], c[2])
         4: call vm.builtin.match_shape(%2, %3, 0, c[2])
         5: %3 = call vm.builtin.kill()
         6: if %0 else 9
         7: %4 = call vm.builtin.make_tuple(%1, %2)
         8: ret %4
         9: %5 = call vm.builtin.alloc_storage(4, 0)
        10: %6 = call vm.builtin.alloc_tensor(%5, 0, c[3], c[0])
        11: %5 = call vm.builtin.kill()
        12: call add(%1, %2, %6)
        13: %2 = call vm.builtin.kill()
        14: %7 = call vm.builtin.make_tuple(%6, %1)
        15: ret %7
      }

      func middle(c: int, x: Tensor[(), float32], y: Tensor[(), float32]) -> (result: Tensor[(), float32]) {
         0: %3 = call vm.builtin.alloc_shape_heap(0)
         1: call vm.builtin.check_tensor_info(%1, 0, c[0], c[1])
         2: call vm.builtin.match_shape(%1, %3, 0, c[1])
         3: call vm.builtin.check_tensor_info(%2, 0, c[0], c[2])
         4: call vm.builtin.match_shape(%2, %3, 0, c[2])
         5: %3 = call vm.builtin.kill()
         6: if %0 else 10
         7: %4 = call vm.builtin.make_tuple(%1, %2)
         8: %2 = call vm.builtin.kill()
         9: goto 17
        10: %5 = call vm.builtin.alloc_storage(4, 0)
        11: %6 = call vm.builtin.alloc_tensor(%5, 0, c[3], c[0])
        12: %5 = call vm.builtin.kill()
        13: call add(%1, %2, %6)
        14: %2 = call vm.builtin.kill()
        15: %4 = call vm.builtin.make_tuple(%6, %1)
        16: %6 = call vm.builtin.kill()
        17: %7 = call vm.builtin.tuple_get(%4, 0)
        18: %4 = call vm.builtin.kill()
        19: %8 = call vm.builtin.alloc_storage(4, 0)
        20: %9 = call vm.builtin.alloc_tensor(%8, 0, c[3], c[0])
        21: %8 = call vm.builtin.kill()
        22: call mul(%7, %1, %9)
        23: ret %9
      }

      references {
        f[0] = packed vm.builtin.alloc_shape_heap
        f[1] = packed vm.builtin.check_tensor_info
        f[2] = packed vm.builtin.match_shape
        f[3] = packed vm.builtin.kill
        f[4] = packed vm.builtin.make_tuple
        f[5] = packed vm.builtin.alloc_storage
        f[6] = packed vm.builtin.alloc_tensor
        f[7] = primitive add
        f[8] = packed vm.builtin.tuple_get
        f[9] = primitive mul
      }

      constants {
        c[0] = dtype float32
        c[1] = string "input \\"x\\""
        c[2] = string "input \\"y\\""
        c[3] = shape ()
      }

      primitive add(%0: Tensor[(), float32], %1: Tensor[(), float32]) -> (%2: Tensor[(), float32]) {
        %2 = add(%0, %1)
      }

      primitive mul(%0: Tensor[(), float32], %1: Tensor[(), float32]) -> (%2: Tensor[(), float32]) {
        %2 = mul(%0, %1)
      }
      "
    `);
  });

  test('values used in one branch, in both, and after them', async () => {
    const [once, both, after, joined] = ['once', 'both', 'after', 'joined'].map(tensorVar) as [
      VarExpr,
      VarExpr,
      VarExpr,
      VarExpr,
    ];
    const z = tensorVar('z');
    const main = fn(
      [c, x],
      F32,
      letIn(
        once,
        kernel('exp', [x]),
        letIn(
          both,
          kernel('neg', [x]),
          letIn(
            after,
            kernel('abs', [x]),
            letIn(
              joined,
              ifElse(
                c,
                letIn(z, kernel('mul', [both, after]), kernel('add', [z, once])),
                kernel('sub', [both, after]),
              ),
              kernel('add', [joined, after]),
            ),
          ),
        ),
      ),
    );
    const { run } = await load({ main });
    expect(await run('main', 1, number(-2))).toBeCloseTo(4 + Math.exp(-2) + 2);
    expect(await run('main', 0, number(-2))).toBe(2 - 2 + 2);
  });

  test('two nested ifs on tensors, joined in one register', async () => {
    const [p, q] = [variable('p', 'bool', []), variable('q', 'bool', [])];
    const joined = tensorVar('joined');
    const main = fn(
      [p, q, x],
      F32,
      letIn(
        joined,
        ifElse(p, ifElse(q, x, kernel('neg', [x])), ifElse(q, scalar(7), kernel('exp', [x]))),
        kernel('add', [joined, x]),
      ),
    );
    const { run } = await load({ main });
    const bool = (value: number): HostTensor => HostTensor.from('bool', [], [value]);
    expect(await run('main', bool(1), bool(1), number(3))).toBe(6);
    expect(await run('main', bool(1), bool(0), number(3))).toBe(0);
    expect(await run('main', bool(0), bool(1), number(3))).toBe(10);
    expect(await run('main', bool(0), bool(0), number(0))).toBe(1);
  });

  test('a value that nothing reads and a parameter under another name', async () => {
    const [unused, alias] = [tensorVar('unused'), tensorVar('alias')];
    const body = letIn(
      unused,
      kernel('exp', [x]),
      letIn(alias, x, ifElse(c, kernel('neg', [alias]), alias)),
    );
    const { run } = await load({ main: fn([c, x], F32, body) });
    expect(await run('main', 1, number(3))).toBe(-3);
    expect(await run('main', 0, number(3))).toBe(3);
  });

  test('10,000 ifs inside each other', async () => {
    let body: Expr = int(-1);
    for (let i = 0; i < 10_000; i++) {
      const isHere = intVar(`is${i}`);
      body = letIn(isHere, call('int_eq', [d, int(i)]), ifElse(isHere, int(i), body));
    }
    const { run } = await load({ main: fn([d], INT_TYPE, body) });
    expect(await run('main', 0)).toBe(0);
    expect(await run('main', 9_999)).toBe(9_999);
    expect(await run('main', 10_000)).toBe(-1);
  });
});

describe('calls', () => {
  const n = intVar('n');
  const x = tensorVar('x');
  const isZero = intVar('is_zero');
  const less = intVar('less');

  test('even and odd in constant frames, a million deep', async () => {
    const step = (other: string, atZero: number): FunctionExpr =>
      fn(
        [n],
        INT_TYPE,
        letIn(
          isZero,
          call('int_eq', [n, int(0)]),
          ifElse(
            isZero,
            int(atZero),
            letIn(less, call('int_sub', [n, int(1)]), callFunction(global(other), [less])),
          ),
        ),
      );
    const { run } = await load({ even: step('odd', 1), odd: step('even', 0) });
    expect(await run('even', 1_000_000)).toBe(1);
    expect(await run('odd', 1_000_000)).toBe(0);
  });

  test('a loop over tensors in flat memory', async () => {
    const next = tensorVar('next');
    const loop = fn(
      [n, x],
      F32,
      letIn(
        isZero,
        call('int_eq', [n, int(0)]),
        ifElse(
          isZero,
          x,
          letIn(
            next,
            kernel('add', [x, scalar(1)]),
            letIn(less, call('int_sub', [n, int(1)]), callFunction(global('loop'), [less, next])),
          ),
        ),
      ),
    );
    const { run, vm } = await load({ loop });
    const before = vm.memory().peakBytes;
    expect(await run('loop', 10_000, number(0.5))).toBe(10_000.5);
    expect(vm.memory().peakBytes - before).toBeLessThanOrEqual(3 * 256);
  });

  test('a recursion that is no tail call', async () => {
    const rest = intVar('rest');
    const fact = fn(
      [n],
      INT_TYPE,
      letIn(
        isZero,
        call('int_eq', [n, int(0)]),
        ifElse(
          isZero,
          int(1),
          letIn(
            less,
            call('int_sub', [n, int(1)]),
            letIn(rest, callFunction(global('fact'), [less]), call('int_mul', [n, rest])),
          ),
        ),
      ),
    );
    const { run } = await load({ fact });
    expect(await run('fact', 10)).toBe(3_628_800);
  });
});

describe('closures', () => {
  const x = tensorVar('x');
  const y = tensorVar('y');

  test('capture values after their arguments, and globals and constructors are values', async () => {
    const logged = tensorVar('logged');
    const closure = anyVar('closure');
    const f = anyVar('f');
    const once = tensorVar('once');
    const applyTwice = fn([f, x], F32, letIn(once, callFunction(f, [x]), callFunction(f, [once])));
    const main = fn(
      [x, y],
      F32,
      letIn(
        logged,
        kernel('log', [x]),
        letIn(
          closure,
          func([y], kernel('add', [y, logged])),
          callFunction(global('apply_twice'), [closure, x]),
        ),
      ),
    );
    const negate = fn([x], F32, kernel('neg', [x]));
    const viaGlobal = fn([x], F32, callFunction(global('apply_twice'), [global('negate'), x]));
    const cons = anyVar('cons');
    const nil = anyVar('nil');
    const viaConstructor = fn(
      [x],
      ANY,
      letIn(
        cons,
        ifElse(int(1), constructorOf('Cons'), constructorOf('Cons')),
        letIn(nil, construct('Nil', []), callFunction(cons, [x, nil])),
      ),
    );
    const { run } = await load({
      apply_twice: applyTwice,
      negate,
      main,
      via_global: viaGlobal,
      via_constructor: viaConstructor,
    });
    expect(await run('main', number(Math.E), number(0))).toBeCloseTo(Math.E + 2);
    expect(await run('via_global', number(5))).toBe(5);
    expect(await run('via_constructor', number(5))).toEqual([1, 5, [0]]);
  });
});

describe('data types', () => {
  const list = anyVar('list');
  const nil = constructorPattern('Nil');

  test('a list is reversed by a tail call and folded', async () => {
    const [head, tail, acc, more] = ['head', 'tail', 'acc', 'more'].map(anyVar) as [
      VarExpr,
      VarExpr,
      VarExpr,
      VarExpr,
    ];
    const reverse = fn(
      [list, acc],
      ANY,
      match(list, [
        [
          constructorPattern('Cons', [head, tail]),
          letIn(
            more,
            construct('Cons', [head, acc]),
            callFunction(global('reverse'), [tail, more]),
          ),
        ],
        [nil, acc],
      ]),
    );
    const n = intVar('n');
    const [isZero, less, empty] = [intVar('is_zero'), intVar('less'), anyVar('empty')];
    const build = fn(
      [n, acc],
      ANY,
      letIn(
        isZero,
        call('int_eq', [n, int(0)]),
        ifElse(
          isZero,
          acc,
          letIn(
            more,
            construct('Cons', [n, acc]),
            letIn(less, call('int_sub', [n, int(1)]), callFunction(global('build'), [less, more])),
          ),
        ),
      ),
    );
    const built = anyVar('built');
    const main = fn(
      [n],
      ANY,
      letIn(
        empty,
        construct('Nil', []),
        letIn(
          built,
          callFunction(global('build'), [n, empty]),
          callFunction(global('reverse'), [built, empty]),
        ),
      ),
    );
    const { run } = await load({ main, build, reverse });
    expect(await run('main', 3)).toEqual([1, 3, [1, 2, [1, 1, [0]]]]);
  });

  test('nested patterns: each place is looked at once', async () => {
    const [a, b, rest] = [intVar('a'), intVar('b'), anyVar('rest')];
    const sum = intVar('sum');
    const main = fn(
      [list],
      ANY,
      match(list, [
        [constructorPattern('Cons', [a, nil]), a],
        [
          constructorPattern('Cons', [a, constructorPattern('Cons', [b, nil])]),
          letIn(sum, call('int_add', [a, b]), sum),
        ],
        [constructorPattern('Cons', [wildcard(), rest]), rest],
        [wildcard(), int(-1)],
      ]),
    );
    const { run, executable, vm } = await load({ main });
    const cons = (value: number, tail: AdtValue): AdtValue => new AdtValue(1, [value, tail]);
    const empty = (): AdtValue => new AdtValue(0, []);
    expect(await run('main', empty())).toBe(-1);
    expect(await run('main', cons(4, empty()))).toBe(4);
    expect(await run('main', cons(4, cons(5, empty())))).toBe(9);
    expect(await run('main', cons(4, cons(5, cons(6, empty()))))).toEqual([1, 5, [1, 6, [0]]]);
    vm.dispose();
    expect(executable.toText().split('\n\n')[1]).toMatchInlineSnapshot(`
      "func main(list: any) -> (result: any) {
         0: %1 = call vm.builtin.get_tag(%0)
         1: %2 = call vm.builtin.int_eq(%1, 1)
         2: if %2 else 22
         3: %3 = call vm.builtin.get_field(%0, 1)
         4: %4 = call vm.builtin.get_tag(%3)
         5: %5 = call vm.builtin.int_eq(%4, 0)
         6: if %5 else 10
         7: %6 = call vm.builtin.get_field(%0, 0)
         8: %3 = call vm.builtin.kill()
         9: ret %6
        10: %7 = call vm.builtin.get_field(%3, 1)
        11: %8 = call vm.builtin.get_tag(%7)
        12: %9 = call vm.builtin.int_eq(%8, 0)
        13: if %9 else 20
        14: %6 = call vm.builtin.get_field(%0, 0)
        15: %10 = call vm.builtin.get_field(%3, 0)
        16: %3 = call vm.builtin.kill()
        17: %7 = call vm.builtin.kill()
        18: %11 = call vm.builtin.int_add(%6, %10)
        19: ret %11
        20: %7 = call vm.builtin.kill()
        21: ret %3
        22: ret -1
      }"
    `);
  });

  test('a tuple of lists, a clause that two ways lead to, and the middle of a function', async () => {
    const other = anyVar('other');
    const [a, b] = [intVar('a'), intVar('b')];
    const pair = anyVar('pair');
    const found = intVar('found');
    const cons = (x: VarExpr) => constructorPattern('Cons', [x, wildcard()]);
    const main = fn(
      [list, other],
      INT_TYPE,
      letIn(
        pair,
        tuple([list, other]),
        letIn(
          found,
          match(pair, [
            [tuplePattern([cons(a), cons(b)]), call('int_add', [a, b])],
            [tuplePattern([nil, nil]), int(0)],
            [wildcard(), int(100)],
          ]),
          call('int_add', [found, int(1)]),
        ),
      ),
    );
    const { run } = await load({ main });
    const empty = (): AdtValue => new AdtValue(0, []);
    const one = (): AdtValue => new AdtValue(1, [20, empty()]);
    expect(await run('main', one(), one())).toBe(41);
    expect(await run('main', empty(), empty())).toBe(1);
    expect(await run('main', one(), empty())).toBe(101);
    expect(await run('main', empty(), one())).toBe(101);
  });

  test('the value that is matched, by a second name', async () => {
    const [whole, tail] = [anyVar('whole'), anyVar('tail')];
    const main = fn(
      [list],
      ANY,
      match(list, [
        [constructorPattern('Cons', [wildcard(), tail]), tail],
        [whole, construct('Cons', [int(1), whole])],
      ]),
    );
    const { run } = await load({ main });
    expect(await run('main', new AdtValue(0, []))).toEqual([1, 1, [0]]);
  });

  test('a value that no clause fits', async () => {
    const incomplete = match(
      list,
      [[constructorPattern('Cons', [wildcard(), wildcard()]), int(1)]],
      {
        complete: false,
      },
    );
    const { run } = await load({
      main: fn([list], INT_TYPE, {
        ...incomplete,
        span: { source: 'list.ir', line: 3, column: 5 },
      }),
    });
    await expect(run('main', new AdtValue(0, []))).rejects.toThrow(
      'list.ir:3:5: no clause fits the value',
    );
  });
});
