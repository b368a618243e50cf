import { extern } from './build.ts';
import type { FunctionExpr, VarExpr } from './expr.ts';
import type { Token } from './lexer.ts';
import { type ExprContext, parseBinder, spanAt } from './parse-binder.ts';
import { parseType, parseTypeParams } from './parse-type.ts';
import { sub, type Task } from './task.ts';

/** `@"my.fn"(%x: T) -> R` after `extern def`: a function that calls JavaScript by its name. */
export function* parseExtern(context: ExprContext, start: Token): Task<FunctionExpr> {
  const { cursor } = context;
  context.typeParams.enter();
  try {
    const typeParams = parseTypeParams(context);
    const params: VarExpr[] = [];
    yield* sub(
      cursor.listTask('(', ')', function* () {
        const token = cursor.peek();
        const param = yield* sub(parseBinder(context));
        if (param.type === undefined) {
          throw cursor.unexpected('a parameter with its type, such as %x: int', { token });
        }
        params.push(param);
      }),
    );
    cursor.expect('->');
    const resultType = yield* sub(parseType(context));
    cursor.accept(';');
    const fn = extern(start.text, params, resultType);
    const span = spanAt(context, start);
    const body = { ...fn.body, span };
    return { ...fn, body, ...(typeParams.length > 0 && { typeParams }), span };
  } finally {
    context.typeParams.exit();
  }
}
