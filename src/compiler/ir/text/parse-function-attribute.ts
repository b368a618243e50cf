import type { FunctionAttributes, SymbolBounds } from '../expr.ts';
import type { ExprContext } from './parse-binder.ts';
import { parseStrings } from './parse-literal.ts';
import { parseInteger } from './parse-type.ts';
import { describeToken } from './token-cursor.ts';

const NAMES = ['primitive', 'device', 'in_place', 'results', 'bounds', 'captured'] as const;

/** `primitive="name"`, `device="host"`, `in_place=0`, `results=["name"]`, `bounds={n: (1, 8)}`, `captured=1` */
export function parseFunctionAttribute(context: ExprContext): FunctionAttributes {
  const { cursor } = context;
  const token = cursor.peek();
  const name = NAMES.find((known) => cursor.accept(known));
  if (name === undefined) {
    const expected =
      'a parameter such as %x, primitive=, device=, in_place=, results=, bounds= or captured=';
    throw cursor.unexpected(expected, { token });
  }
  cursor.expect('=');
  if (name === 'device') return parseDevice(context);
  if (name === 'results') return { resultNames: parseStrings(cursor) };
  if (name === 'in_place') return { inPlace: parseSize(context) };
  if (name === 'captured') return { captured: parseSize(context) };
  if (name === 'bounds') return { bounds: parseBounds(context) };
  return { primitive: cursor.take('string', 'the name of the kernel').text };
}

function parseDevice({ cursor, diagnostics }: ExprContext): FunctionAttributes {
  const token = cursor.take('string', 'a device');
  if (token.text !== 'host') {
    diagnostics.report(token, { got: describeToken(token), expected: '"host"' });
  }
  return { device: 'host' };
}

function parseBounds(context: ExprContext): SymbolBounds {
  const { cursor } = context;
  return Object.fromEntries(
    cursor.list('{', '}', () => {
      const symbol = cursor.takeName('a symbol').text;
      cursor.expect(':');
      cursor.expect('(');
      const min = parseSize(context);
      cursor.expect(',');
      const max = parseSize(context, min);
      cursor.expect(')');
      return [symbol, [min, max] as const];
    }),
  );
}

/** A number that is out of range is reported, so that reading goes on after it. */
function parseSize({ cursor, diagnostics }: ExprContext, least = 0): number {
  const token = cursor.peek();
  const size = parseInteger(cursor, 'a size');
  if (size < least) {
    diagnostics.report(token, { got: String(size), expected: `a size from ${least} up` });
  }
  return size;
}
