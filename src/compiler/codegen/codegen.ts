import type { Assembled } from '../../bytecode/build/draft.ts';
import type { FunctionSignature, NamedResult, ValueType } from '../../bytecode/executable.ts';
import { ProgramBuilder } from '../../bytecode/build/program-builder.ts';
import { UsageError } from '../../core/errors.ts';
import { BlockTable } from '../ir/walk/block.ts';
import { FunctionGenerator } from './codegen-function.ts';
import { formatSpan, type FunctionExpr, type Module } from '../ir/expr.ts';
import type { Type } from '../ir/type.ts';
import { ModuleContext } from './module-context.ts';
import { isExtern, programTypes } from './program-types.ts';
import type { TypeInference } from '../inference/type-inference.ts';

/**
 * Bytecode of a module in A-normal form whose operator calls are all inside primitive functions, but
 * for views, arithmetic on ints and the machine's own. No function is inside another but those. `sourceMap: false`
 * leaves out where instructions come from.
 */
export function generateCode(
  module: Module,
  types: TypeInference,
  { sourceMap = true }: { readonly sourceMap?: boolean | undefined } = {},
): Assembled {
  requireEntry(module);
  const builder = new ProgramBuilder();
  const context = new ModuleContext(builder, module, types);
  for (const [name, fn] of module.functions) {
    const blocks = new BlockTable(fn.body);
    const signature = isEntry(name, fn) ? signatureOf(fn, types) : undefined;
    const source = { name: context.functionName(name), fn, blocks, signature, isMapped: sourceMap };
    new FunctionGenerator(context, source).generate();
  }
  const full = programTypes(module, { types, names: (name) => context.functionName(name) });
  if (full !== undefined) builder.types(full);
  for (const [key, value] of Object.entries(module.metadata)) builder.metadata(key, value);
  return builder.assemble();
}

/**
 * Returns true if callers from outside may call the function. It has a signature then, and no other
 * function has. An `extern def` is no entry: callers have the function that it calls themselves.
 */
function isEntry(name: string, fn: FunctionExpr): boolean {
  return isPublic(fn) && !isExtern(name, fn);
}

function isPublic({ attributes }: FunctionExpr): boolean {
  return attributes.captured === undefined && attributes.private !== true;
}

function requireEntry({ functions }: Module): void {
  const all = [...functions.values()];
  if (all.length === 0 || all.some(isPublic)) return;
  throw new UsageError({
    where: formatSpan(all[0]?.span, 'the module'),
    got: 'only private functions',
    expected: 'one that sessions may call, such as @main',
  });
}

function signatureOf(fn: FunctionExpr, types: TypeInference): FunctionSignature {
  const result = fn.resultType ?? types.of(fn.body);
  const fields = result.kind === 'tuple' ? result.fields : [result];
  const names = fn.attributes.resultNames ?? [];
  return {
    params: fn.params.map((param) => valueType(types.of(param))),
    results: fields.map(
      (type, i): NamedResult => ({
        name: names[i] ?? (fields.length === 1 ? 'result' : `result${i}`),
        type: valueType(type),
      }),
    ),
  };
}

function valueType(type: Type): ValueType {
  if (type.kind === 'tensor') return type;
  const isNumber = type.kind === 'scalar' && (type.scalar === 'int' || type.scalar === 'float');
  return { kind: isNumber ? type.scalar : 'any' };
}
