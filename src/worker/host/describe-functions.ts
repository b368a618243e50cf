import type {
  BytecodeFunction,
  ExecutableData,
  FullType,
  NamedFunctionType,
  ValueType,
} from '../../bytecode/executable.ts';
import { formatFullType } from '../../bytecode/text/format-full-type.ts';
import { formatDim } from '../../core/dims/dim.ts';
import type { FunctionInfo, ValueInfo } from '../protocol/loaded-session.ts';

/** Name of the result of a function without a signature. */
const UNNAMED_RESULT = 'result';

/**
 * The functions of an executable that a page may call: those with a signature. Private functions and closures have
 * none. In a program without signatures, one that was written as bytecode, all are.
 */
export function describeFunctions({ functions, types }: ExecutableData): FunctionInfo[] {
  const full = new Map(types?.functions.map((type) => [type.name, type]));
  const typed = functions.filter(({ signature }) => signature !== undefined);
  const entries = typed.length > 0 ? typed : functions;
  return entries.map((fn) => describeFunction(fn, full.get(fn.name)));
}

function describeFunction(
  { name, paramNames, signature }: BytecodeFunction,
  full: NamedFunctionType | undefined,
): FunctionInfo {
  const params = paramNames.map((param, index) =>
    describeValue(param, signature?.params[index], full?.params[index]),
  );
  const fields = full?.result.kind === 'tuple' ? full.result.fields : [full?.result];
  const results = signature?.results.map((result, index) =>
    describeValue(result.name, result.type, fields[index]),
  );
  return { name, params, results: results ?? [describeValue(UNNAMED_RESULT, undefined)] };
}

function describeValue(name: string, type: ValueType | undefined, full?: FullType): ValueInfo {
  if (type?.kind !== 'tensor') {
    const info = { name, dtype: type?.kind ?? 'any', shape: [] } as const;
    const isKnown = info.dtype === 'any' && full !== undefined && full.kind !== 'any';
    return isKnown ? { ...info, type: formatFullType(full) } : info;
  }
  const shape = type.shape.map((dim) => (typeof dim === 'number' ? dim : formatDim(dim)));
  return { name, dtype: type.dtype, shape };
}
