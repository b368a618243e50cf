import type { BytecodeFunction, ExecutableData, ValueType } from '../bytecode/executable.ts';
import { formatDim } from '../core/dim.ts';
import type { FunctionInfo, ValueInfo } from './protocol.ts';

/** Name of the result of a function without a signature. */
const UNNAMED_RESULT = 'result';

/** The functions of an executable as a page sees them. */
export function describeFunctions(executable: ExecutableData): FunctionInfo[] {
  return executable.functions.map(describeFunction);
}

function describeFunction({ name, paramNames, signature }: BytecodeFunction): FunctionInfo {
  const params = paramNames.map((param, index) => describeValue(param, signature?.params[index]));
  const results = signature?.results.map((result) => describeValue(result.name, result.type));
  return { name, params, results: results ?? [describeValue(UNNAMED_RESULT, undefined)] };
}

function describeValue(name: string, type: ValueType | undefined): ValueInfo {
  if (type?.kind !== 'tensor') return { name, dtype: type?.kind ?? 'any', shape: [] };
  const shape = type.shape.map((dim) => (typeof dim === 'number' ? dim : formatDim(dim)));
  return { name, dtype: type.dtype, shape };
}
