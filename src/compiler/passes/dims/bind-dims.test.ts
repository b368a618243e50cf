import { describe, expect, test } from 'vitest';
import { call, callFunction, func, letIn, moduleOf, variable, variableOf } from '../../ir/build.ts';
import type { FunctionExpr } from '../../ir/expr.ts';
import { printModule } from '../../ir/text/print.ts';
import { tensorType } from '../../ir/type.ts';
import { TypeInference } from '../../inference/type-inference.ts';
import { bindDims, type DimBindings } from './bind-dims.ts';

function bind(main: FunctionExpr, dims: DimBindings): string {
  return printModule(bindDims(dims).run(moduleOf({ main }), { types: new TypeInference() }));
}

describe('bind-dims', () => {
  const n = variable('data', 'float32', [{ op: 'mul', left: 'n', right: 2 }, 3]);
  const main = func([n], call('relu', [n]));

  test('replaces symbols and what is computed from them', () => {
    expect(bind(main, { n: 4 })).toMatchInlineSnapshot(`
      "def @main(%data: Tensor[(8, 3), float32]) {
        relu(%data)
      }
      "
    `);
  });

  test('leaves other symbols, and names unknown dimensions', () => {
    const module = moduleOf({ main });
    expect(bindDims({ m: 4 }).run(module, { types: new TypeInference() })).toBe(module);
    const unknown = variable('data', 'float32', ['?', 3, '?']);
    expect(bind(func([unknown], call('relu', [unknown])), { 'data.2': 5 })).toMatchInlineSnapshot(`
      "def @main(%data: Tensor[(data.0, 3, 5), float32]) {
        relu(%data)
      }
      "
    `);
  });

  test('reaches closures, patterns, results and attributes', () => {
    const inner = variable('inner', 'float32', ['n']);
    const unused = variable('unused', 'float32', ['n']);
    const closure = func([inner, unused], call('reshape', [inner], { shape: ['n', 1] }));
    const bound = variableOf('f');
    const outer = variable('outer', 'float32', ['n']);
    const body = letIn(bound, closure, callFunction(bound, [outer, outer]));
    const resultType = tensorType({ dtype: 'float32', shape: ['n', 1] });
    expect(bind({ ...func([outer], body), resultType }, { n: 2 })).toMatchInlineSnapshot(`
      "def @main(%outer: Tensor[(2,), float32]) -> Tensor[(2, 1), float32] {
        let %f = fn (%inner: Tensor[(2,), float32], %unused: Tensor[(2,), float32]) {
          reshape(%inner, shape=[2, 1])
        };
        %f(%outer, %outer)
      }
      "
    `);
  });
});
