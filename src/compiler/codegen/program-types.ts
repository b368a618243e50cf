import type {
  DataType,
  FullType,
  NamedFunctionType,
  ProgramTypes,
} from '../../bytecode/executable.ts';
import { UsageError } from '../../core/errors.ts';
import { type CallExpr, formatSpan, type FunctionExpr, type Module } from '../ir/expr.ts';
import { operatorName } from '../ir/operators/operator-name.ts';
import { CALL_PACKED } from '../ir/operators/scalar-operators.ts';
import { formatType, opaqueNameOf, sameType, type Type } from '../ir/type.ts';
import { postOrder } from '../ir/walk/visit.ts';
import type { TypeInference } from '../inference/type-inference.ts';

/** The calls of JavaScript by the name that they call, the first of each. */
export function packedCalls(module: Module, types: TypeInference): ReadonlyMap<string, CallExpr> {
  const calls = new Map<string, CallExpr>();
  for (const fn of module.functions.values()) {
    for (const expr of postOrder(fn.body)) {
      if (expr.kind !== 'call' || operatorName(expr) !== CALL_PACKED) continue;
      const { name } = expr.attributes;
      if (typeof name !== 'string') continue;
      const first = calls.get(name);
      if (first === undefined) calls.set(name, expr);
      else requireSameType(name, [first, expr], types);
    }
  }
  return calls;
}

function requireSameType(
  name: string,
  [first, other]: readonly [CallExpr, CallExpr],
  types: TypeInference,
): void {
  const [expected, got] = [types.of(first), types.of(other)];
  if (sameType(expected, got)) return;
  throw new UsageError({
    where: formatSpan(other.span, name),
    got: `a result ${formatType(got)} of ${name}`,
    expected: `${formatType(expected)}, as at ${formatSpan(first.span, 'another call')}`,
    remedy: 'Give the function one type, or another name.',
  });
}

/** Returns true for a global function that stands for the JavaScript function of the same name. */
export function isExtern(name: string, { body }: FunctionExpr): boolean {
  return postOrder(body).some(
    (expr) =>
      expr.kind === 'call' &&
      operatorName(expr) === CALL_PACKED &&
      expr.attributes['name'] === name,
  );
}

/** Types that signatures do not tell; undefined where they tell all. */
export function programTypes(
  module: Module,
  { types, names }: { types: TypeInference; names: (name: string) => string },
): ProgramTypes | undefined {
  const functions: NamedFunctionType[] = [];
  for (const [name, fn] of module.functions) {
    const { captured, private: isPrivate } = fn.attributes;
    if (captured !== undefined || isPrivate === true || isExtern(name, fn)) continue;
    const params = fn.params.map((param) => fullType(types.of(param)));
    const result = fullType(fn.resultType ?? types.of(fn.body));
    const flat = result.kind === 'tuple' ? result.fields : [result];
    if ([...params, ...flat].some(isCompound))
      functions.push({ name: names(name), params, result });
  }
  const packed = Array.from(packedCalls(module, types), ([name, expr]): NamedFunctionType => {
    const params = expr.args.map((arg) => fullType(types.of(arg)));
    return { name, params, result: fullType(types.of(expr)) };
  });
  if (functions.length === 0 && packed.length === 0) return undefined;
  return { dataTypes: dataTypesIn(module, [...functions, ...packed]), functions, packed };
}

/** Returns true for types that signatures have no word for. */
function isCompound({ kind }: FullType): boolean {
  switch (kind) {
    case 'tuple':
    case 'adt':
    case 'function':
    case 'shape':
    case 'opaque':
      return true;
    case 'tensor':
    case 'int':
    case 'float':
    case 'any':
    case 'type-param':
      return false;
    default:
      return kind satisfies never;
  }
}

function fullType(type: Type): FullType {
  switch (type.kind) {
    case 'tensor':
      return { kind: 'tensor', dtype: type.dtype, shape: type.shape };
    case 'tuple':
      return { kind: 'tuple', fields: type.fields.map(fullType) };
    case 'function':
      return {
        kind: 'function',
        params: type.params.map(fullType),
        result: fullType(type.result),
      };
    case 'adt':
      return { kind: 'adt', name: type.name, args: type.args.map(fullType) };
    case 'type-var':
      return { kind: 'type-param', name: type.name };
    default: {
      const name = opaqueNameOf(type);
      if (name !== undefined) return { kind: 'opaque', name };
      const { scalar } = type;
      const isKnown = scalar === 'int' || scalar === 'float' || scalar === 'shape';
      return { kind: isKnown ? scalar : 'any' };
    }
  }
}

/** The definitions of data types that types mention, in the order of the module. */
function dataTypesIn(module: Module, roots: readonly NamedFunctionType[]): DataType[] {
  const found = new Map<string, DataType>();
  const stack = roots.flatMap(({ params, result }) => [...params, result]);
  for (let type = stack.pop(); type !== undefined; type = stack.pop()) {
    if (type.kind === 'tuple') stack.push(...type.fields);
    else if (type.kind === 'function') stack.push(...type.params, type.result);
    if (type.kind !== 'adt') continue;
    stack.push(...type.args);
    const definition = module.types.get(type.name);
    if (definition === undefined || found.has(type.name)) continue;
    const { name, params } = definition;
    const constructors = definition.constructors.map(({ name: constructor, tag = 0, fields }) => ({
      name: constructor,
      tag,
      fields: fields.map(fullType),
    }));
    found.set(name, { name, params, constructors });
    for (const { fields } of constructors) stack.push(...fields);
  }
  return [...module.types.keys()].flatMap((name) => found.get(name) ?? []);
}
