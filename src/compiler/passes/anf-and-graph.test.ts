import { describe, expect, test } from 'vitest';
import { seededRandom } from '../../core/random.ts';
import { isAtom } from '../ir/walk/atoms.ts';
import {
  call,
  func,
  ifElse,
  int,
  letIn,
  moduleOf,
  projection,
  tuple,
  variable,
  variableOf,
} from '../ir/build.ts';
import type { Expr, FunctionExpr, Module, Pattern, VarExpr } from '../ir/expr.ts';
import { parseModule } from '../ir/text/parse.ts';
import { printModule } from '../ir/text/print.ts';
import { randomModule } from '../testing/random-module.ts';
import { computeScopes, type Scope, type Scopes } from '../ir/walk/scopes.ts';
import { equalModules } from '../ir/walk/structural-equal.ts';
import { childrenOf, postOrder } from '../ir/walk/visit.ts';
import { TypeInference } from '../inference/type-inference.ts';
import type { Pass } from './pass.ts';
import { toAnf } from './to-anf.ts';
import { toGraph } from './to-graph.ts';

const run = (pass: Pass, module: Module): Module =>
  pass.run(module, { types: new TypeInference() });
const x = variable('x', 'float32', [4]);
const main = (body: Expr): Module => moduleOf({ main: func([x], body) });
const bodyOf = (module: Module): Expr => module.functions.get('main')?.body ?? int(0);

/** A value of the evaluator below: made here, or known only by a number that stands for it. */
type Value =
  | { readonly kind: 'opaque'; readonly id: number }
  | { readonly kind: 'tuple'; readonly fields: readonly Value[] }
  | { readonly kind: 'adt'; readonly name: string; readonly fields: readonly Value[] }
  | { readonly kind: 'closure'; readonly fn: FunctionExpr; readonly frame: Frame };

interface Frame {
  readonly scope: Scope;
  readonly values: Map<Expr, Value>;
  readonly parent: Frame | undefined;
}

/**
 * Evaluates a function as the language says: everything in a scope when control comes there, once.
 * Operators and global functions are not computed, only counted; branches go by their operands.
 */
class Evaluator {
  readonly counts = new Map<string, number>();
  readonly #scopes: Scopes;
  readonly #ids: Map<string, number>;

  constructor(fn: FunctionExpr, ids: Map<string, number>) {
    this.#scopes = computeScopes(fn);
    this.#ids = ids;
  }

  run(fn: FunctionExpr): Value {
    const frame: Frame = { scope: this.#scopes.top, values: new Map(), parent: undefined };
    for (const [i, param] of fn.params.entries())
      frame.values.set(param, this.#opaque(`param ${i}`));
    return this.#block(frame);
  }

  #opaque(key: string): Value {
    const id = this.#ids.get(key) ?? this.#ids.size;
    this.#ids.set(key, id);
    return { kind: 'opaque', id };
  }

  /** The result of a scope whose variables stand in the frame. */
  #block(frame: Frame): Value {
    for (const expr of this.#scopes.order) {
      if (this.#scopes.of(expr) === frame.scope && !frame.values.has(expr) && expr.kind !== 'var') {
        if (expr.kind !== 'let') {
          frame.values.set(expr, this.#evaluate(expr, frame));
          for (const bound of this.#scopes.order) {
            if (bound.kind === 'let' && bound.value === expr) this.#bindLet(bound, frame);
          }
        } else frame.values.set(expr, this.#value(expr.body, frame));
      }
    }
    return this.#value(frame.scope.root, frame);
  }

  #bindLet(bound: Expr, frame: Frame): void {
    if (bound.kind !== 'let') return;
    frame.values.set(bound.variable, this.#value(bound.value, frame));
  }

  #value(expr: Expr, frame: Frame): Value {
    for (let f: Frame | undefined = frame; f !== undefined; f = f.parent) {
      const value = f.values.get(expr);
      if (value !== undefined) return value;
    }
    if (expr.kind === 'let') return this.#value(expr.body, frame);
    if (expr.kind === 'var') {
      const bound = this.#scopes.order.find((e) => e.kind === 'let' && e.variable === expr);
      if (bound?.kind === 'let') return this.#value(bound.value, frame);
    }
    throw new Error(`a ${expr.kind} has no value here`);
  }

  #evaluate(expr: Expr, frame: Frame): Value {
    const value = (child: Expr): Value => this.#value(child, frame);
    switch (expr.kind) {
      case 'constant':
        return this.#opaque(`constant ${expr.value.dtype} ${expr.value.elements.join()}`);
      case 'int':
        return this.#opaque(`int ${expr.value}`);
      case 'operator':
      case 'constructor':
      case 'global':
        return this.#opaque(`${expr.kind} ${expr.name}`);
      case 'function':
        return { kind: 'closure', fn: expr, frame };
      case 'tuple':
        return { kind: 'tuple', fields: expr.fields.map(value) };
      case 'projection':
        return this.#field(value(expr.tuple), expr.index);
      case 'call':
        return this.#call(expr.callee, expr.args.map(value), frame);
      case 'if': {
        const [then, otherwise] = this.#scopes.inside(expr);
        const taken = this.#isTrue(value(expr.condition)) ? then : otherwise;
        return this.#enter(taken, frame, new Map());
      }
      case 'match': {
        const matched = value(expr.value);
        for (const [i, { pattern }] of expr.clauses.entries()) {
          const bound = new Map<Expr, Value>();
          if (!this.#fits(pattern, matched, bound)) continue;
          return this.#enter(this.#scopes.inside(expr)[i], frame, bound);
        }
        return this.#opaque('no clause');
      }
      default:
        throw new Error(expr.kind);
    }
  }

  #enter(scope: Scope | undefined, parent: Frame, values: Map<Expr, Value>): Value {
    if (scope === undefined) throw new Error('no scope');
    return this.#block({ scope, values, parent });
  }

  #call(callee: Expr, args: readonly Value[], frame: Frame): Value {
    if (callee.kind === 'constructor') return { kind: 'adt', name: callee.name, fields: args };
    if (callee.kind !== 'operator') {
      const fn = this.#value(callee, frame);
      if (fn.kind === 'closure') {
        const bound = new Map<Expr, Value>(
          fn.fn.params.flatMap((param, i) => {
            const arg = args[i];
            return arg === undefined ? [] : [[param, arg] as const];
          }),
        );
        return this.#enter(this.#scopes.inside(fn.fn)[0], fn.frame, bound);
      }
    }
    const name = callee.kind === 'operator' || callee.kind === 'global' ? callee.name : 'call';
    this.counts.set(name, (this.counts.get(name) ?? 0) + 1);
    return this.#opaque(`${name}(${args.map((arg) => this.key(arg)).join()})`);
  }

  /** The value as data, but for closures, which are told by their results. */
  key(value: Value): string {
    switch (value.kind) {
      case 'opaque':
        return `#${value.id}`;
      case 'closure':
        return 'closure';
      default:
        return `${value.kind}(${value.fields.map((field) => this.key(field)).join()})`;
    }
  }

  #field(value: Value, index: number): Value {
    if (value.kind === 'tuple' || value.kind === 'adt') {
      const field = value.fields[index];
      if (field !== undefined) return field;
    }
    return this.#opaque(`${this.key(value)}.${index}`);
  }

  #isTrue(value: Value): boolean {
    return value.kind === 'opaque' && value.id % 2 === 0;
  }

  #fits(pattern: Pattern, value: Value, bound: Map<Expr, Value>): boolean {
    if (pattern.kind === 'wildcard') return true;
    if (pattern.kind === 'var-pattern') {
      bound.set(pattern.variable, value);
      return true;
    }
    if (pattern.kind === 'constructor-pattern') {
      const { constructor: name } = pattern;
      const isOther =
        value.kind === 'adt'
          ? value.name !== name
          : !this.#isTrue(this.#opaque(`${this.key(value)} is ${name}`));
      if (isOther) return false;
    }
    if (pattern.kind === 'int-pattern' || pattern.kind === 'float-pattern') {
      return this.#isTrue(this.#opaque(`${this.key(value)} = ${pattern.value}`));
    }
    return pattern.fields.every((field, i) => this.#fits(field, this.#field(value, i), bound));
  }
}

/** Results and how often each operator was computed, of every function. */
function traceOf(module: Module, ids: Map<string, number>): string[] {
  return [...module.functions].map(([name, fn]) => {
    const evaluator = new Evaluator(fn, ids);
    const result = evaluator.key(evaluator.run(fn));
    const counts = [...evaluator.counts].sort(([a], [b]) => (a < b ? -1 : 1));
    return `${name}: ${result} ${counts.map(([op, count]) => `${op}=${count}`).join(' ')}`;
  });
}

const seeds = Array.from({ length: 150 }, (_, seed) => seed);
const random = (seed: number): Module => randomModule({ random: seededRandom(seed), size: 25 });

describe('random modules', () => {
  test('to-anf computes the same, as often', () => {
    for (const seed of seeds) {
      const ids = new Map<string, number>();
      const module = random(seed);
      expect(traceOf(run(toAnf, module), ids), `seed ${seed}`).toEqual(traceOf(module, ids));
    }
  });

  test('to-graph computes the same as often, once dead code is gone', () => {
    for (const seed of seeds) {
      const ids = new Map<string, number>();
      const graph = run(toGraph, random(seed));
      const results = (module: Module): unknown => traceOf(module, ids).map((t) => t.split(' ', 2));
      expect(results(graph), `seed ${seed}`).toEqual(results(random(seed)));
      const anf = run(toAnf, graph);
      expect(traceOf(run(toGraph, anf), ids), `seed ${seed}`).toEqual(traceOf(graph, ids));
    }
  });

  test('every operand is an atom after to-anf, and a second time nothing changes', () => {
    for (const seed of seeds) {
      const module = run(toAnf, random(seed));
      for (const fn of module.functions.values()) {
        for (const expr of postOrder(fn)) {
          const operands =
            expr.kind === 'let'
              ? []
              : childrenOf(expr).filter((child, i) =>
                  expr.kind === 'function'
                    ? false
                    : expr.kind === 'if' || expr.kind === 'match'
                      ? i === 0
                      : child,
                );
          expect(operands.every(isAtom)).toBe(true);
          if (expr.kind === 'let')
            expect(isAtom(expr.value) || expr.value.kind === 'let').toBe(false);
        }
      }
      expect(run(toAnf, module)).toBe(module);
    }
  });

  test('graph form survives the way there and back', () => {
    for (const seed of seeds) {
      const graph = run(toGraph, run(toAnf, random(seed)));
      const again = run(toGraph, run(toAnf, graph));
      expect(equalModules(again, graph), `seed ${seed}`).toBe(true);
      expect(run(toGraph, graph)).toBe(graph);
    }
  });
});

test('10,000 shared nodes and 10,000 lets go to and fro', () => {
  let body: Expr = x;
  for (let i = 0; i < 10_000; i++) body = call('add', [body, body]);
  const module = main(body);
  const anf = run(toAnf, module);
  expect(postOrder(bodyOf(anf)).filter(({ kind }) => kind === 'let')).toHaveLength(9_999);
  expect(equalModules(run(toGraph, anf), module)).toBe(true);
});

test('what is closed over a logarithm says where it is computed', () => {
  const y = variable('y', 'float32', [4]);
  const log = call('log', [x]);
  const l = variableOf('l');
  const inGraph = main(func([y], call('add', [log, y])));
  const withLet = main(letIn(l, log, func([y], call('add', [l, y]))));
  expect(bodyOf(run(toAnf, inGraph))).toMatchObject({ kind: 'function', body: { kind: 'let' } });
  expect(bodyOf(run(toAnf, withLet))).toMatchObject({ kind: 'let', body: { kind: 'function' } });
  expect(run(toGraph, withLet)).toBe(withLet);
  expect(equalModules(run(toGraph, run(toAnf, inGraph)), inGraph)).toBe(true);
});

test('what both branches use, or one and what comes after, is computed before', () => {
  const relu = call('relu', [x]);
  const both = bodyOf(run(toAnf, main(ifElse(int(1), call('neg', [relu]), relu))));
  expect(both).toMatchObject({
    kind: 'let',
    value: { callee: { name: 'relu' } },
    body: { kind: 'if', elseBranch: { kind: 'var' } },
  });
  const after = bodyOf(run(toAnf, main(tuple([ifElse(int(1), relu, x), relu]))));
  expect(after).toMatchObject({
    kind: 'let',
    value: { callee: { name: 'relu' } },
    body: { kind: 'let', value: { kind: 'if', thenBranch: { kind: 'var' } } },
  });
});

test('a let of an atom, or of what has a name, leaves no trace', () => {
  const [a, b] = [variableOf('a'), variableOf('b')];
  const relu = call('relu', [x]);
  const module = main(letIn(a, relu, letIn(b, a, call('add', [b, relu]))));
  expect(bodyOf(run(toAnf, module))).toMatchObject({
    kind: 'let',
    variable: a,
    value: relu,
    body: { kind: 'call', args: [a, a] },
  });
  expect(equalModules(run(toGraph, module), main(call('add', [relu, relu])))).toBe(true);
});

test('a value whose dimensions two lets name has both names, each where it is used', () => {
  const sizes = call('nonzero', [x]);
  const [a, b] = [variable('a', 'int64', [1, 'n']), variable('b', 'int64', [1, 'm'])];
  const twice = letIn(a, sizes, letIn(b, sizes, tuple([call('neg', [a]), call('abs', [b])])));
  expect(printModule(run(toAnf, main(twice)))).toMatchInlineSnapshot(`
    "def @main(%x: Tensor[(4,), float32]) {
      let %b: Tensor[(1, m), int64] = nonzero(%x);
      let %a: Tensor[(1, n), int64] = %b;
      let %v0: Tensor[(1, n), int64] = neg(%a);
      let %v1: Tensor[(1, m), int64] = abs(%b);
      (%v0, %v1)
    }
    "
  `);
  const inTuple = ({ name, type }: VarExpr): VarExpr =>
    variableOf(name, { kind: 'tuple', fields: type === undefined ? [] : [type] });
  const [p, q] = [inTuple(a), inTuple(b)];
  const pair = call('f', [x]);
  const fields = tuple([projection(p, 0), projection(q, 0)]);
  expect(
    printModule(run(toAnf, main(letIn(p, pair, letIn(q, pair, fields))))),
  ).toMatchInlineSnapshot(`
    "def @main(%x: Tensor[(4,), float32]) {
      let %b: (Tensor[(1, m), int64],) = f(%x);
      let %a: (Tensor[(1, n), int64],) = %b;
      let %v0: Tensor[(1, n), int64] = %a.0;
      let %v1: Tensor[(1, m), int64] = %b.0;
      (%v0, %v1)
    }
    "
  `);
});

describe('text in, text out', () => {
  const pass = (by: Pass, text: string): string => printModule(run(by, parseModule(text)));

  const GRAPH = `
    def @main(%x: Tensor[(4,), float32], %c: int) -> Tensor[(4,), float32] {
      %0 = log(%x);
      %1 = if (%c) {
        %2 = neg(%x);
        add(%0, mul(%2, %2))
      } else {
        %3 = fn (%y: Tensor[(4,), float32]) -> Tensor[(4,), float32] { add(exp(%x), %y) };
        %3(%3(%x))
      };
      sub(%1, %0)
    }`;

  test('to-anf', () => {
    expect(pass(toAnf, GRAPH)).toMatchInlineSnapshot(`
      "def @main(%x: Tensor[(4,), float32], %c: int) -> Tensor[(4,), float32] {
        let %v0: Tensor[(4,), float32] = log(%x);
        let %v6: Tensor[(4,), float32] = if (%c) {
          let %v1: Tensor[(4,), float32] = neg(%x);
          let %v2: Tensor[(4,), float32] = mul(%v1, %v1);
          add(%v0, %v2)
        } else {
          let %v4: fn (Tensor[(4,), float32]) -> Tensor[(4,), float32] = fn (%y: Tensor[(4,), float32]) -> Tensor[(4,), float32] {
            let %v3: Tensor[(4,), float32] = exp(%x);
            add(%v3, %y)
          };
          let %v5: Tensor[(4,), float32] = %v4(%x);
          %v4(%v5)
        };
        sub(%v6, %v0)
      }
      "
    `);
  });

  test('to-graph takes it back', () => {
    const graph = parseModule(GRAPH);
    expect(printModule(run(toGraph, run(toAnf, graph)))).toBe(printModule(graph));
  });

  test('to-graph keeps the let that makes a difference', () => {
    expect(
      pass(
        toGraph,
        `def @main(%x: Tensor[(4,), float32]) {
          let %unused = exp(%x);
          let %log = log(%x);
          let %twice = add(%log, %log);
          let %once = neg(%x);
          fn (%y: Tensor[(4,), float32]) { mul(%once, add(%y, %twice)) }
        }`,
      ),
    ).toMatchInlineSnapshot(`
      "def @main(%x: Tensor[(4,), float32]) {
        %0 = log(%x);
        let %twice = add(%0, %0);
        let %once = neg(%x);
        fn (%y: Tensor[(4,), float32]) {
          %1 = add(%y, %twice);
          mul(%once, %1)
        }
      }
      "
    `);
  });

  test('clauses', () => {
    expect(
      pass(
        toAnf,
        `type List[A] { Cons(A, List[A]), Nil }
        def @last(%list: List[int], %default: int) -> int {
          match (%list) {
            Cons(%head, Nil) => int_add(%head, int_mul(%default, #2)),
            Cons(_, %tail) => @last(%tail, int_mul(%default, #2)),
            Nil => %default,
          }
        }`,
      ),
    ).toMatchInlineSnapshot(`
      "type List[A] { Cons(A, List[A]), Nil }

      def @last(%list: List[int], %default: int) -> int {
        match (%list) {
          Cons(%head, Nil) => {
            let %v0 = int_mul(%default, #2);
            int_add(%head, %v0)
          },
          Cons(_, %tail) => {
            let %v1 = int_mul(%default, #2);
            @last(%tail, %v1)
          },
          Nil => %default,
        }
      }
      "
    `);
  });
});
