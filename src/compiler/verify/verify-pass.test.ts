import { expect, test } from 'vitest';
import { CompileLimitError } from '../../core/errors.ts';
import { CORE_OPERATORS } from '../../ops/tables/core-operators.ts';
import { compile } from '../compile.ts';
import { CompileBudget } from '../ir/compile-budget.ts';
import { call, func, int, letIn, moduleOf, tuple, variable, variableOf } from '../ir/build.ts';
import type { Module } from '../ir/expr.ts';
import { inferModule } from '../inference/infer-module.ts';
import { parseModule } from '../ir/text/parse.ts';
import { PassVerifier } from './verify-pass.ts';

const TEXT = `
  type Shape { Square(Tensor[(), float32]), Empty }
  def @main(%x: Tensor[(n,), float32], %s: Option[Shape]) {
    %f = fn (%y) { relu(add(%y, %x)) };
    match (%s) {
      Some(Square(%a)) => %f(mul(%x, %a)),
      _ => { let %z = relu(exp(%x)); add(%f(%z), %z) },
    }
  }`;

/** The modules after each pass, by its name; a pass that runs twice has the last. */
function modules(): ReadonlyMap<string, Module> {
  const found = new Map<string, Module>();
  compile(parseModule(TEXT), { dump: (pass, module) => found.set(pass, module) });
  return found;
}

test.each([
  ['infer-types', 'bind-dims', 'every variable, result and call has its types'],
  ['fuse', 'place-devices', 'operators on tensors are called in primitive functions'],
  ['to-anf', 'fuse', 'operands are atoms'],
  ['lower-match', 'to-anf', 'a pattern has one constructor'],
  ['allocate-adt-tags', 'lower-match', 'every constructor has a tag'],
  ['lambda-lift', 'tail-calls', 'functions inside others are primitive'],
  [
    'plan-memory',
    'lambda-lift',
    'kernels whose result has a known size are called with a destination',
  ],
  ['lower-shapes', 'plan-memory', 'sizes come from the shape heap'],
])('after %s a module of %s is wrong', (pass, before, says) => {
  const found = modules();
  const [module, right] = [found.get(before), found.get(pass)];
  if (module === undefined || right === undefined) throw new Error('no such pass');
  const verifier = new PassVerifier(CORE_OPERATORS);
  expect(() => verifier.verify(pass, right)).not.toThrow();
  expect(() => verifier.verify(pass, module)).toThrow(`internal: what ${pass} has made is wrong: `);
  expect(() => verifier.verify(pass, module)).toThrow(`${says}.`);
});

test('a let as the value of another, a variable outside its scope, and a type that is wrong are found', () => {
  const x = variable('x', 'float32', [2]);
  const a = variableOf('a', x.type);
  const verify = (module: Module): void =>
    new PassVerifier(CORE_OPERATORS).verify('to-anf', module);
  const body = letIn(a, letIn(variableOf('b', x.type), x, x), a);
  expect(() => verify(moduleOf({ main: func([x], body) }))).toThrow(
    'no let is the value of another.',
  );
  expect(() => verify(moduleOf({ main: func([x], a) }))).toThrow('got %a, which nothing binds');
  expect(() => verify(moduleOf({ main: func([x], call('add', [x, tuple([int(1)])])) }))).toThrow(
    'internal: what to-anf has made is wrong: ',
  );
});

test('a place that a pass loses is found, unless the pass is of the user', () => {
  const source = parseModule('def @main(%x: Tensor[(2,), float32]) { neg(exp(%x)) }');
  const x = variable('x', 'float32', [2]);
  const made = moduleOf({ main: func([x], call('neg', [x])) });
  const verifier = new PassVerifier(CORE_OPERATORS, source);
  expect(() => verifier.verify('simplify', made)).toThrow(
    'internal: what simplify has made is wrong: @main has lost the place of call of neg.',
  );
  // Nothing can be lost where nothing was known.
  new PassVerifier(CORE_OPERATORS, made).verify('simplify', made);
  verifier.verify('my-own', made);
  verifier.verify('simplify', made);
});

test('a size that a pass loses is found, unless the program never had it', () => {
  const closure = (captured: string): string => `
    def @main(%x: Tensor[(n,), float32]) -> int {
      let %y: Tensor[((n + 1),), float32] = pad(%x, pads=[0, 1]);
      @main.fn(${captured})
    }`;
  const measured = 'dim(%y, axis=0)';
  const lost = `${closure('%y')}
    def @main.fn(%y: Tensor[((n + 1),), float32], captured=1) -> int { ${measured} }`;
  const kept = `${closure('%y, %x')}
    def @main.fn(%y: Tensor[((n + 1),), float32], %x: Tensor[(n,), float32], captured=2) -> int { ${measured} }`;
  const [wrong, right] = [lost, kept].map((text) => inferModule(parseModule(text)));
  if (wrong === undefined || right === undefined) throw new Error('no module');
  const verifier = new PassVerifier(CORE_OPERATORS);
  verifier.verify('to-anf', right);
  verifier.verify('lambda-lift', right);
  expect(() => verifier.verify('lambda-lift', wrong)).toThrow(
    /internal: what lambda-lift has made is wrong: @main.fn, .*: no value tells the size n\.$/,
  );
  const other = new PassVerifier(CORE_OPERATORS);
  other.verify('to-anf', wrong);
  other.verify('lambda-lift', wrong);
});

test('compiling verifies every pass if asked to', () => {
  const text = 'def @main(%x: Tensor[(2,), float32]) { neg(%x) }';
  expect(compile(parseModule(text), { verify: true }).functions).toHaveLength(1);
  // Only the source itself may be wrong: then the error is that of inference.
  const wrong = 'def @main(%x: Tensor[(2,), float32]) { add(%x, #1) }';
  expect(() => compile(parseModule(wrong), { verify: true })).not.toThrow('internal');
});

test('a limit that is reached meanwhile is told as such', () => {
  const lines = Array.from({ length: 3000 }, (_, i) => `%${i + 1} = relu(%${i});`);
  const text = `def @main(%x: Tensor[(n,), float32]) { %0 = neg(%x); ${lines.join(' ')} %3000 }`;
  const module = parseModule(text);
  const budget = new CompileBudget({ milliseconds: 0.001 });
  const verifying = () =>
    budget.run(() => new PassVerifier(CORE_OPERATORS).verify('infer-types', module));
  expect(verifying).toThrow(CompileLimitError);
  expect(verifying).not.toThrow('internal');
});
