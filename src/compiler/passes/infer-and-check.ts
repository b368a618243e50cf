import { formatSpan, type FunctionExpr } from '../ir/expr.ts';
import type { Type } from '../ir/type.ts';
import { plainSymbols } from '../inference/declarations.ts';
import { TypeDiagnostics } from '../inference/type-diagnostics.ts';
import { inferTypes } from './infer-types.ts';
import type { Pass } from './pass.ts';

/**
 * The pass `infer-types` for programs that somebody wrote: `bounds` and `results` of global functions have to speak of
 * what these have. Throws TypeCheckError.
 */
export const inferAndCheck: Pass = {
  name: inferTypes.name,
  run(module, context) {
    const typed = inferTypes.run(module, context);
    const diagnostics = new TypeDiagnostics(context.texts);
    for (const [name, fn] of typed.functions) checkFacts(name, fn, diagnostics);
    diagnostics.throwIfAny();
    return typed;
  },
};

function checkFacts(
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
