import { apply, type Expression } from '../../../wasm/expression.ts';
import { mapChildren } from '../../../wasm/map-expression.ts';
import type { Statement, WasmFunction } from '../../../wasm/statement.ts';
import { MEMORY64, type Memory64 } from '../memory/memory64.ts';
import { MOST_PAGES } from '../memory/address-space.ts';

/** For engines without Memory64: the same code, whose addresses have 64 bits up to where memory is accessed. */
export const NARROWED_MEMORY64: Memory64 = {
  ...MEMORY64,
  limits: {},
  create: () => new WebAssembly.Memory({ initial: 1, maximum: MOST_PAGES }),
  grow(memory, pages) {
    memory.grow(pages);
  },
  widen(plan) {
    const { functions, body, packs, ...widened } = MEMORY64.widen(plan);
    return {
      ...widened,
      functions: functions.map(narrowFunction),
      body: body.map(narrowStatement),
      packs: packs.map((pack) => ({ ...pack, functions: pack.functions.map(narrowFunction) })),
    };
  },
};

const narrowFunction = (fn: WasmFunction): WasmFunction => ({
  ...fn,
  body: fn.body.map(narrowStatement),
});

function narrowStatement(statement: Statement): Statement {
  switch (statement.kind) {
    case 'set':
      return { ...statement, value: narrow(statement.value) };
    case 'store': {
      const address = apply('i32.wrap_i64', narrow(statement.address));
      return { ...statement, address, value: narrow(statement.value) };
    }
    case 'loop': {
      const [begin, end] = [narrow(statement.begin), narrow(statement.end)];
      return { ...statement, begin, end, body: statement.body.map(narrowStatement) };
    }
    case 'if':
      return {
        ...statement,
        condition: narrow(statement.condition),
        whenTrue: statement.whenTrue.map(narrowStatement),
        whenFalse: statement.whenFalse.map(narrowStatement),
      };
    case 'call':
      return { ...statement, args: statement.args.map(narrow) };
    default:
      return statement satisfies never;
  }
}

function narrow(expression: Expression): Expression {
  const inner = mapChildren(expression, narrow);
  if (inner.kind !== 'load') return inner;
  return { ...inner, address: apply('i32.wrap_i64', inner.address) };
}
