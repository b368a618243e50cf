import type { BytecodeFunction, ExecutableData } from '../bytecode/executable.ts';
import type { FunctionInfo } from './protocol.ts';

/** Name of the result of a function without a signature. */
export const UNNAMED_RESULT = 'result';

/** The functions of an executable as a page sees them. */
export function describeFunctions(executable: ExecutableData): FunctionInfo[] {
  return executable.functions.map(describeFunction);
}

export function describeFunction({ name, paramNames, signature }: BytecodeFunction): FunctionInfo {
  const any = { kind: 'any' } as const;
  return {
    name,
    params: paramNames.map((param, index) => ({
      name: param,
      type: signature?.params[index] ?? any,
    })),
    results: signature?.results ?? [{ name: UNNAMED_RESULT, type: any }],
  };
}
