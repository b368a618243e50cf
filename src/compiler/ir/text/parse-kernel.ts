import { forEachSymbol } from '../../../core/dims/dim-symbols.ts';
import type { Attributes, AttributeValue } from '../../../core/contracts/primitive-function.ts';
import { WGSL_KERNEL } from '../../../ops/program/wgsl-kernel.ts';
import { call, func, global } from '../build.ts';
import type { Expr, FunctionExpr, VarExpr } from '../expr.ts';
import type { Token } from './lexer.ts';
import { type ExprContext, parseBinder, spanAt } from './parse-binder.ts';
import { parseAttribute } from './parse-literal.ts';
import { parseType } from './parse-type.ts';
import { sub, type Task } from '../task.ts';

const NAMES = ['wgsl', 'grid', 'workgroup', 'params', 'sizes', 'host'];

/**
 * `@name(%x: T) -> T { wgsl = """…""", grid = [n, 1, 1], workgroup = [64, 1, 1], host = @f }` is a
 * function that calls the kernel. Without `params` the kernel is told every dimension that the types
 * of parameters name.
 */
export function* parseKernel(context: ExprContext, start: Token): Task<FunctionExpr> {
  const { cursor } = context;
  const params: VarExpr[] = [];
  yield* sub(
    cursor.listTask('(', ')', function* () {
      params.push(yield* sub(parseBinder(context)));
    }),
  );
  cursor.expect('->');
  const token = cursor.peek();
  const resultType = yield* sub(parseType(context));
  if (resultType.kind !== 'tensor') {
    throw cursor.unexpected('the type of a tensor, which the kernel gives', { token });
  }
  const entries = parseEntries(context);
  const code = entries.attributes.get('wgsl');
  if (code === undefined) throw cursor.unexpected('wgsl="…" in the kernel', { token: start });
  const symbols = symbolsOf(params);
  const attributes: Attributes = {
    params: symbols,
    sizes: symbols,
    ...Object.fromEntries(entries.attributes),
    name: start.text,
    code,
    shape: resultType.shape,
    dtype: resultType.dtype,
    ...(entries.host === undefined ? {} : { alternative: true }),
  };
  const { wgsl: _, ...own } = attributes;
  const span = spanAt(context, start);
  const alternative: Expr[] =
    entries.host === undefined
      ? []
      : [{ kind: 'call', callee: global(entries.host), args: params, attributes: {}, span }];
  const body = call(WGSL_KERNEL, [...params, ...alternative], own, span);
  return { ...func(params, body), resultType, span };
}

interface KernelEntries {
  readonly attributes: ReadonlyMap<string, AttributeValue>;
  readonly host: string | undefined;
}

function parseEntries(context: ExprContext): KernelEntries {
  const { cursor, diagnostics } = context;
  const attributes = new Map<string, AttributeValue>();
  let host: string | undefined;
  cursor.list('{', '}', () => {
    const token = cursor.takeName(`one of ${NAMES.join(', ')}`);
    if (!NAMES.includes(token.text)) {
      throw cursor.unexpected(`one of ${NAMES.join(', ')}`, { token });
    }
    cursor.expect('=');
    if (attributes.has(token.text) || (token.text === 'host' && host !== undefined)) {
      diagnostics.report(token, { got: `a second ${token.text}`, expected: 'each once' });
    }
    if (token.text !== 'host') {
      attributes.set(token.text, parseAttribute(cursor));
      return;
    }
    const name = cursor.take('global', 'a function such as @main');
    context.referTo('global', name);
    host = name.text;
  });
  return { attributes, host };
}

/** The dimensions that types name, in order. */
function symbolsOf(params: readonly VarExpr[]): string[] {
  const symbols = new Set<string>();
  for (const { type } of params) {
    for (const dim of type?.kind === 'tensor' ? type.shape : []) {
      forEachSymbol(dim, (symbol) => symbols.add(symbol));
    }
  }
  return [...symbols];
}
