import { describe, expect, test } from 'vitest';
import { Executable, ExecBuilder, HostTensor } from '../bytecode/index.ts';
import { verifyExecutable } from '../bytecode/verify/verify.ts';
import {
  allPasses,
  compile,
  evaluateModule,
  fieldsOf,
  moduleOf,
  moduleToJson,
  parseModule,
} from './index.ts';
import {
  constant,
  func,
  hashModule,
  inferModule,
  mapFunctions,
  pipeline,
  postOrder,
  printExpr,
  rewrite,
  TypeInference,
} from './index.ts';
import { hashExpr } from './ir/walk/structural-equal.ts';
import { parseRules } from './rewriting/parse-rules.ts';
import { printModule, rewriteModule, rewriteRules, runPasses, variable } from './index.ts';
import { chosen, logarithmic, parseExpr, uniform } from './index.ts';
import { match, optimizerStep, tuplePattern, verifyModule, wildcard } from './index.ts';

const untyped = (value: unknown): never => value as never;
const module = parseModule('def @main(%x: Tensor[(3,), float32]) { relu(%x) }');
const noModule =
  'got "x", expected a module. importOnnx makes one of a model, parseModule of a text.';
const x = new HostTensor('float32', [3], new Float32Array(3));

/** A function of an executable that is being written. */
const body = () => new ExecBuilder().function('main', ['x']);

describe('what is not meant is refused', () => {
  test.each<[string, () => unknown, string]>([
    ['printModule', () => printModule(untyped('x')), `printModule: ${noModule}`],
    [
      'options of printModule',
      () => printModule(module, untyped({ width: 3 })),
      'printModule: got an unknown option "width", expected only data, onLine.',
    ],
    ['printExpr', () => printExpr(untyped(5)), 'printExpr: got what is 5, expected an expression.'],
    ['inferModule', () => inferModule(untyped('x')), `inferModule: ${noModule}`],
    [
      'options of inferModule',
      () => inferModule(module, untyped({ operator: 1 })),
      'inferModule: got an unknown option "operator", expected only texts, onWarning, operators, widensBranches. Did you mean operators?',
    ],
    ['TypeInference', () => new TypeInference(untyped({})), 'TypeInference: got {}, expected a'],
    ['mapFunctions', () => mapFunctions(untyped('x'), (fn) => fn), `mapFunctions: ${noModule}`],
    [
      'a module for an expression',
      () => postOrder(untyped({ functions: new Map() })),
      'childrenOf: got what is {"functions":"a Map"}, expected an expression, such as module.functions.get(name).',
    ],
    ['nothing for an expression', () => postOrder(untyped(undefined)), 'got what is undefined'],
    [
      'sizes of intervals',
      () => uniform(untyped({ min: 1, max: 8, stp: 2 })),
      'uniform: got an unknown option "stp", expected only min, max, open, step. Did you mean step?',
    ],
    ['no sizes', () => logarithmic(untyped(null)), 'logarithmic: got null, expected an object'],
    ['sizes of chosen', () => chosen(() => 0, untyped({ step: 8 })), 'expected only min, max.'],
    [
      'options of parseExpr',
      () => parseExpr('1f', untyped({ scope: {} })),
      'parseExpr: got scope {}, expected a Map of expressions.',
    ],
    [
      'a pattern',
      () => tuplePattern(untyped([null])),
      'pattern: got fields [null], expected a list, each an object.',
    ],
    [
      'options of ExecBuilder',
      () => new ExecBuilder(untyped({ exakt: true })),
      'ExecBuilder: got an unknown option "exakt", expected only exact. Did you mean exact?',
    ],
    ['rewrite', () => rewrite(untyped(3), (expr) => expr), 'childrenOf: got what is 3, expected'],
    [
      'hashExpr',
      () => hashExpr(untyped(3)),
      'a comparison: got what is 3, expected an expression.',
    ],
    [
      'a kind of node',
      () => fieldsOf('call'),
      'FIELD_TABLE: got key call, expected that of a node, such as expr.call.',
    ],
    [
      'the dtype of a splat',
      () => HostTensor.splat(untyped('f32'), [1], 1),
      'HostTensor: got dtype "f32", expected one of float32,',
    ],
    [
      'bytes for a program',
      () => new Executable(untyped(new Uint8Array(4)), new Uint8Array(4)),
      'new Executable: got what is a Uint8Array, expected a program, which Executable.fromBytes makes of bytes.',
    ],
    ['verifyModule', () => verifyModule(untyped('x')), `verifyModule: ${noModule}`],
    [
      'options of verifyModule',
      () => verifyModule(module, untyped({ type: false })),
      'got an unknown option "type", expected only types, texts, operators, widensBranches. Did you mean types?',
    ],
    ['moduleToJson', () => moduleToJson(untyped('x')), `moduleToJson: ${noModule}`],
    ['hashModule', () => hashModule(untyped('x')), noModule],
    ['rewriteModule', () => rewriteModule(untyped('x'), [], untyped({})), noModule],
    [
      'rules in text',
      () => rewriteModule(module, untyped(['add(%x, 0) => %x']), untyped({})),
      'expected a list, each as parseRules makes it.',
    ],
    ['rewriteRules', () => rewriteRules('mine', untyped(3)), 'got rules that are 3, expected'],
    [
      'options of parseRules',
      () => parseRules('add(%x, 0) => %x', untyped({ name: 'r' })),
      'parseRules: got an unknown option "name", expected only file, operators.',
    ],
    ['runPasses', () => runPasses(untyped('x'), []), `runPasses: ${noModule}`],
    [
      'names of passes',
      () => runPasses(module, untyped(['simplify'])),
      'runPasses: got passes that are ["simplify"], expected a list, each { name, run }.',
    ],
    [
      'options of allPasses',
      () => allPasses(untyped({ dim: { n: 1 } })),
      'allPasses: got an unknown option "dim", expected only dims, dispatch, memoryBudget. Did you mean dims?',
    ],
    ['pipeline', () => pipeline(untyped('fuse')), 'pipeline: got "fuse", expected an object with'],
    [
      'an instrument',
      () => compile(module, { instruments: untyped([() => 1]) }),
      'expected a list, each with beforePass or afterPass.',
    ],
    [
      'texts',
      () => compile(module, { texts: untyped({}) }),
      'compile: got texts {}, expected a Map of texts by their names.',
    ],
    [
      'arguments of evaluateModule',
      () => evaluateModule(module, 'main', []),
      'evaluateModule: got arguments that are [], expected a list of 1.',
    ],
    [
      'a dtype',
      () => variable('x', untyped('float33'), [2]),
      'variable: got dtype "float33", expected one of float32,',
    ],
    ['clauses', () => match(constant(x), untyped([wildcard()])), 'match: got clauses [{"kind'],
    [
      'fields of a pattern',
      () => tuplePattern(untyped(3)),
      'pattern: got fields 3, expected a list',
    ],
    [
      'a module of what is no function',
      () => moduleOf(untyped({ main: constant(x) })),
      'expected functions by their names.',
    ],
    ['what replaces', () => rewrite(constant(x), untyped(3)), 'rewrite: got the second argument 3'],
    [
      'operands of an optimizer',
      () => optimizerStep('sgd', untyped(undefined)),
      'optimizerStep: got operands undefined, expected an object.',
    ],
    ['a constant', () => constant(untyped(3)), 'constant: got what is 3, expected a HostTensor.'],
    [
      'a parameter',
      () => compile(moduleOf({ main: func(untyped([5]), constant(x)) })),
      'got 5 as a part of a function',
    ],
    [
      'HostTensor',
      () => new HostTensor(untyped('f32'), [1], new Float32Array(1)),
      'HostTensor: got dtype "f32", expected one of float32,',
    ],
    [
      'its arguments in another order',
      () => new HostTensor('float32', untyped(new Float32Array(1)), untyped([1])),
      'expected a list of sizes from 0 up.',
    ],
    [
      'its elements',
      () => HostTensor.from('int64', [1], [1.5]),
      'HostTensor: got the element 1.5, expected an integer.',
    ],
    ['Executable', () => Executable.fromBytes(untyped('x')), 'expected a Uint8Array.'],
    ['its text', () => Executable.fromText(untyped(5)), 'got the text 5, expected a string.'],
    ['verifyExecutable', () => verifyExecutable(untyped([])), 'got what is [], expected'],
    ['names', () => new ExecBuilder().function('f', untyped('x')), 'expected a list of names.'],
    [
      'an operand',
      () => body().ret(untyped('x')),
      'function main: got the operand "x", expected a',
    ],
    ['arguments', () => body().call('f', untyped(1)), 'got arguments that are 1, expected a list.'],
    ['a callee', () => body().call(untyped(undefined)), 'got a call of undefined, expected'],
    ['a label', () => body().goto(untyped(undefined)), 'got what is no label of it, expected'],
    ['a tensor', () => new ExecBuilder().tensor(untyped([1])), 'expected a HostTensor.'],
  ])('%s', (_, misuse, message) => {
    expect(misuse).toThrow(
      expect.objectContaining({
        name: 'UsageError',
        message: expect.stringContaining(message) as string,
      }),
    );
  });
});
