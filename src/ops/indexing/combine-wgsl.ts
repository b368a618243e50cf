import type { DType } from '../../core/dtype.ts';
import { renderScalar } from '../formula/render-scalar.ts';
import type { RenderOptions } from '../formula/render-wgsl.ts';
import { combination, contextOf } from './scatter-reduction.ts';

/** Declarations of `fn combine`. Where only the last update counts nothing calls it. */
export function combineWgsl(dtype: DType, reduction: string): string {
  const formula = combination(reduction);
  const functions = new Map<string, string>();
  const lines: string[] = [];
  const options: RenderOptions = {
    operands: ['a', 'b'],
    width: 1,
    bind: (text) => {
      const name = `bound${lines.length}`;
      lines.push(`let ${name} = ${text};`);
      return name;
    },
    declare: (name, text) => functions.set(name, text),
  };
  const result = formula === undefined ? 'b' : renderScalar({ formula }, contextOf(dtype), options);
  const body = [...lines, `return ${result};`].join(' ');
  const combine = `fn combine(a: Element, b: Element) -> Element { ${body} }`;
  return [...functions.values(), combine, ''].join('\n');
}
