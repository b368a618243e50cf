import { formatSpan, type FunctionExpr } from '../ir/expr.ts';
import type { Type } from '../ir/type.ts';
import { plainSymbols } from './declarations.ts';
import type { TypeDiagnostics } from './type-diagnostics.ts';

/** Checks that `bounds` and `results` of a global function whose types are known speak of what it has. */
export function checkFunctionFacts(
  name: string,
  { params, resultType, attributes, span }: FunctionExpr,
  diagnostics: TypeDiagnostics,
): void {
  const { bounds = {}, resultNames = [] } = attributes;
  const where = formatSpan(span, `@${name}`);
  const types = params.flatMap(({ type }): Type[] => (type?.kind === 'tensor' ? [type] : []));
  const symbols = plainSymbols(types);
  for (const symbol of Object.keys(bounds)) {
    if (symbols.has(symbol)) continue;
    diagnostics.complain(span, {
      where: `${where}, bounds`,
      got: `the symbol ${symbol}`,
      expected: 'one that is a dimension of a parameter that is a tensor',
    });
  }
  const count = resultType?.kind === 'tuple' ? resultType.fields.length : 1;
  if (resultNames.length <= count) return;
  diagnostics.complain(span, {
    where: `${where}, results`,
    got: `${resultNames.length} names`,
    expected: count === 1 ? 'one, of the result' : `${count}, one for each field of the tuple`,
  });
}
